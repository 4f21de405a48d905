// A tree reduction whose last steps trust the lock-step of a subgroup.
//# buffer values 64 u32 iota
//# buffer result 1 u32
//# bind 0 values
//# bind 1 result
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# final result 2016
//# case bug
//# expect race-unordered 1 2
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint total; };

shared uint partial[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    partial[me] = values[me];
    barrier();
    for (uint step = 32u; step > 0u; step >>= 1u) {
        if (me < step) {
            uint other = partial[me + step]; // @2
            partial[me] += other; // @1
        }
#ifndef FIXED
        if (step > 16u)
#endif
            barrier();
    }
    if (me == 0u)
        total = partial[0];
}
