// The two halves of a workgroup wait at different barriers.
//# buffer results 64 u32
//# bind 0 results
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# final results 1 0 3 2
//# case bug
//# expect barrier-divergence 1 2
//# says invocations 32 to 63 (32 of the workgroup) wait at another barrier
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint table[64];

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef FIXED
    table[me] = me;
    barrier();
#else
    if (me < 32u) {
        table[me] = me;
        barrier(); // @1
    } else {
        table[me] = me;
        barrier(); // @2
    }
#endif
    results[me] = table[me ^ 1u];
}
