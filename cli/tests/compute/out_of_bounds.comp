#version 450
// Reads and writes far beyond a buffer of 16.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint i = gl_LocalInvocationIndex;
    results[i] = values[i + 1000000u] + 5u;
    values[i * 70000u + 16u] = 99u;
}
