// Half of the workgroup does not reach the barrier.
//# buffer results 64 u32
//# bind 0 results
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# final results 1 0 3 2
//# case bug
//# expect barrier-divergence 1 -
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint table[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    table[me] = me;
#ifdef FIXED
    barrier();
    if (me < 32u)
        results[me] = table[me ^ 1u];
#else
    if (me < 32u) {
        barrier(); // @1
        results[me] = table[me ^ 1u];
    }
#endif
}
