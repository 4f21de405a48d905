#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// Every kind of access through an index that differs between lanes: what each lane of the upper half gets goes to `o`.
layout(local_size_x = 32) in;
layout(binding = 0) buffer Out { uint o[32][8]; };
layout(binding = 1) buffer Counters {
    uint count;
    uint owner;
    uint64_t wide;
    uint64_t wide_owner;
    uint stored[];
} counters[3];

void main() {
    uint i = gl_LocalInvocationIndex;
    if (i < 16)
        return;
    uint k = i % 3;
    o[i][0] = atomicAdd(counters[nonuniformEXT(k)].count, i);
    o[i][1] = atomicCompSwap(counters[nonuniformEXT(k)].owner, 1000 + k, i);
    uint64_t was = atomicAdd(counters[nonuniformEXT(k)].wide, uint64_t(i) << 32 | 1);
    o[i][2] = uint(was);
    o[i][3] = uint(was >> 32);
    was = atomicCompSwap(counters[nonuniformEXT(k)].wide_owner, uint64_t(k) << 40 | 5, uint64_t(i));
    o[i][4] = uint(was);
    o[i][5] = uint(was >> 32);
    counters[nonuniformEXT(k)].stored[i] = i * i;
    o[i][6] = counters[nonuniformEXT(k)].stored[i / 3 - k];
    o[i][7] = counters[nonuniformEXT(k)].stored.length();
}
