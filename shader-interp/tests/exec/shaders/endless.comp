#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
void main() { while (true) o[0]++; }
