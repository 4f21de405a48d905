// A bitonic sort of 64 values in shared memory.
//# buffer values 64 u32 9 3 7 1 8 2 6 4
//# bind 0 values
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# final values 1 1 1 1 1 1 1 1 2 2
//# case bug
//# expect race-unordered 1 2
#version 450

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Data { uint values[]; };

shared uint keys[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    keys[me] = values[me];
    keys[me + 32u] = values[me + 32u];
    barrier();
    for (uint size = 2u; size <= 64u; size <<= 1u) {
        for (uint stride = size >> 1u; stride > 0u; stride >>= 1u) {
            uint i = 2u * me - (me & (stride - 1u));
            uint j = i + stride;
            uint x = keys[i]; // @1 @2
            uint y = keys[j]; // @1 @2
            if ((x > y) == ((i & size) == 0u)) {
                keys[i] = y; // @1 @2
                keys[j] = x; // @1 @2
            }
#ifdef FIXED
            barrier();
#endif
        }
    }
#ifndef FIXED
    barrier();
#endif
    values[me] = keys[me];
    values[me + 32u] = keys[me + 32u];
}
