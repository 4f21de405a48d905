// Arrays so large that their copies are thousands of accesses: checking them does not make the shader too large.
//# buffer data 16 u32 iota
//# bind 0 data
//# dispatch 1
//# case fixed
//# final data 18 1 2
#version 450

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Data { uint data[]; };

void main() {
    uint first[12000];
    for (uint k = 0u; k < 12000u; k++)
        first[k] = data[k & 15u] + k;
    uint second[12000] = first;
    uint third[12000] = second;
    data[0] = third[data[9]];
}
