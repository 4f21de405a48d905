#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
void main() {
    while (o[0] == 0) barrier();
}
