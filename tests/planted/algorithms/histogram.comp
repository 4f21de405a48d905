// A histogram in shared memory.
//# buffer values 64 u32 3 1 3 3 2 0 0 0
//# buffer bins 8 u32
//# bind 0 values
//# bind 1 bins
//# subgroup 32
//# dispatch 1
//# case fixed
//# final bins 24 8 8 24
//# case no-atomic NO_ATOMIC
//# expect race-unordered 1 2
//# expect race-unordered 2 2
//# case no-barrier-after-clear NO_CLEAR_BARRIER
//# expect race-unordered 3 4
//# allow uninitialised-read 4
//# case no-barrier-before-read NO_READ_BARRIER
//# expect race-unordered 4 5
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) buffer Output { uint bins[]; };

shared uint histogram[8];

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me < 8u)
        histogram[me] = 0u; // @3
#ifndef NO_CLEAR_BARRIER
    barrier();
#endif
    uint bin = values[me] & 7u;
#ifdef NO_ATOMIC
    uint count = histogram[bin]; // @1
    histogram[bin] = count + 1u; // @2
#else
    atomicAdd(histogram[bin], 1u); // @4
#endif
#ifndef NO_READ_BARRIER
    barrier();
#endif
    if (me < 8u)
        bins[me] = histogram[me]; // @5
}
