#version 450

// Reads a uniform buffer: through the constant cache of a machine that has one.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform Constants {
    uvec4 table[4];
};
layout(set = 0, binding = 1) buffer Result {
    uint result;
};

void main() {
    uint value = table[1].y;
    result = value;
}
