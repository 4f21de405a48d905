// Invocations past the end of the input return before a barrier that the others wait at.
//# buffer values 50 u32 1
//# buffer result 1 u32
//# bind 0 values
//# bind 1 result
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# final result 50
//# case bug
//# expect barrier-divergence 1 -
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint result; };

shared uint partial[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    partial[me] = 0u;
    if (me < values.length())
        partial[me] = values[me];
#ifndef FIXED
    else
        return;
#endif
    barrier(); // @1
    if (me == 0u) {
        uint sum = 0u;
        for (uint i = 0u; i < 50u; i++)
            sum += partial[i];
        result = sum;
    }
}
