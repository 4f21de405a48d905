// Values rotate through shared memory in a loop; nothing keeps a write from overtaking the reads of the round before.
//# buffer results 64 u32
//# bind 0 results
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# final results 3 4 5
//# case bug
//# expect race-unordered 1 2
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Output { uint results[]; };

shared uint ring[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    ring[me] = me;
    barrier();
    for (int turn = 0; turn < 3; turn++) {
        uint next = ring[(me + 1u) & 63u]; // @1
#ifdef FIXED
        barrier();
#endif
        ring[me] = next; // @2
        barrier();
    }
    results[me] = ring[me];
}
