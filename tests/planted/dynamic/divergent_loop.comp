// A barrier in a loop whose length differs between the invocations of a workgroup.
//# buffer counts 64 u32 2 2 3 3
//# bind 0 counts
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# case bug
//# expect barrier-divergence 1 -
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Counts { uint counts[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef FIXED
    uint count = 3u;
#else
    uint count = counts[me];
#endif
    uint sum = 0u;
    for (uint i = 0u; i < count; i++) {
        sum += i;
        barrier(); // @1
    }
    counts[me] = sum;
}
