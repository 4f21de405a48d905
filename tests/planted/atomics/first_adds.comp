// Who clears a counter is also the first who adds to it: that atomic does not stand for the clearing.
//# buffer total 1 u32
//# bind 0 total
//# subgroup 32
//# dispatch 1
//# case fixed
//# final total 64
//# case no-barrier NO_BARRIER
//# expect race-unordered 1 2
//# allow uninitialised-read 2
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Total { uint total; };

shared uint counter;

void main() {
    if (gl_LocalInvocationIndex == 0u)
        counter = 0u; // @1
#ifndef NO_BARRIER
    barrier();
#endif
    atomicAdd(counter, 1u); // @2
    barrier();
    if (gl_LocalInvocationIndex == 0u)
        total = counter;
}
