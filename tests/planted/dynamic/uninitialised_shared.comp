// Only half of the shared array is written before all of it is read.
//# buffer results 64 u32
//# bind 0 results
//# dispatch 1
//# case fixed FIXED
//# final results 63 62 61
//# case bug
//# expect uninitialised-read 1
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint table[64];

void main() {
    uint me = gl_LocalInvocationIndex;
#ifndef FIXED
    if (me < 32u)
#endif
        table[me] = me;
    barrier();
    results[me] = table[63u - me]; // @1
}
