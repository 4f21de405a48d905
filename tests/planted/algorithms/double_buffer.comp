// Two halves of shared memory in turn: what is written in a round is read in the next one. With one barrier in a round the halves must
// differ.
//# buffer results 64 u32
//# bind 0 results
//# subgroup 32
//# dispatch 1
//# case fixed HALVES=2
//# final results 4 5 6
//# case one-half HALVES=1
//# expect race-unordered 1 2
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint ring[2][64];

void main() {
    uint me = gl_LocalInvocationIndex;
    uint value = me;
    for (uint turn = 0u; turn < 4u; turn++) {
        ring[turn % HALVES][me] = value; // @1
        barrier();
        value = ring[turn % HALVES][(me + 1u) & 63u]; // @2
    }
    results[me] = value;
}
