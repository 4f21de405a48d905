// An inclusive scan by doubling (Hillis and Steele). In place it needs two barriers in a step; with two halves one is enough.
//# buffer values 64 u32 1
//# buffer results 64 u32
//# bind 0 values
//# bind 1 results
//# subgroup 32
//# dispatch 1
//# case fixed
//# final results 1 2 3 4
//# case one-barrier ONE_BARRIER
//# expect race-unordered 1 2
//# case double-buffered DOUBLE
//# final results 1 2 3 4
//# case double-buffered-no-barrier DOUBLE NO_BARRIER
//# expect race-unordered 1 2
//# allow uninitialised-read 1
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

shared uint sums[2][64];

void main() {
    uint me = gl_LocalInvocationIndex;
    uint from = 0u;
    sums[0][me] = values[me];
    barrier();
    for (uint step = 1u; step < 64u; step <<= 1u) {
        uint sum = sums[from][me];
        if (me >= step)
            sum += sums[from][me - step]; // @1
#ifdef DOUBLE
        from ^= 1u;
#elif !defined(ONE_BARRIER)
        barrier();
#endif
        sums[from][me] = sum; // @2
#ifndef NO_BARRIER
        barrier();
#endif
    }
    results[me] = sums[from][me];
}
