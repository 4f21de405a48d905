// A race between turns of a loop that is written out in check mode: the fix is one of the loop.
//# buffer results 64 u32
//# bind 0 results
//# dispatch 1
//# case bug
//# expect race-unordered 1 2
//# says at the end of the loop
//# case fixed FIXED
//# final results[0] 252 252
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint values[64];

void main() {
    uint me = gl_LocalInvocationIndex, sum = 0u, given[4];
    for (uint i = 0u; i < 4u; i++) given[i] = me;
    values[me] = 0u;
    barrier();
    for (uint i = 0u; i < 4u; i++) {
        values[me] = given[i]; // @1
#ifdef FIXED
        barrier();
#endif
        sum += values[63u - me]; // @2
#ifdef FIXED
        barrier();
#endif
    }
    results[me] = sum + 4u * me;
}
