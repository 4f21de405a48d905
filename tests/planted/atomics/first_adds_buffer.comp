// Who clears a counter in a coherent buffer is also the first who adds to it: that atomic does not stand for
// the clearing, neither in its own workgroup nor behind a barrier of it in another.
//# buffer counter 1 u32
//# bind 0 counter
//# subgroup 32
//# dispatch 2
//# case fixed
//# final counter 4
//# case no-barrier NO_BARRIER
//# expect race-unordered 1 2
//# case two-workgroups CLEARED_HERE
//# expect race-unordered 1 2
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) coherent buffer Counter { uint counter; };

void main() {
#ifdef CLEARED_HERE
    if (gl_GlobalInvocationID.x == 0u)
        counter = 0u; // @1
    memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
#endif
#ifdef NO_BARRIER
    if (gl_GlobalInvocationID.x == 0u)
        counter = 0u; // @1
#endif
    if (gl_LocalInvocationIndex % 32u == 0u)
        atomicAdd(counter, 1u); // @2
}
