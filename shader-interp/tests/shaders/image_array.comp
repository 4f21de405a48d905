#version 450
#extension GL_EXT_nonuniform_qualifier : require
// Image atomics through an index that differs between lanes: what each lane of the upper half gets goes to `o`.
layout(local_size_x = 32) in;
layout(binding = 0) buffer Out { uint o[32][4]; };
layout(binding = 1, r32ui) uniform uimage2D counters[3];

void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 16)
        return;
    uint k = i % 3;
    o[i][0] = imageAtomicAdd(counters[nonuniformEXT(k)], ivec2(0), i);
    o[i][1] = imageAtomicCompSwap(counters[nonuniformEXT(k)], ivec2(1, 0), 1000 + k, i);
    o[i][2] = imageAtomicExchange(counters[nonuniformEXT(k)], ivec2(2, 0), i);
    o[i][3] = imageAtomicMax(counters[nonuniformEXT(k)], ivec2(3, k), i);
}
