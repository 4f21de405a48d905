// A shared accumulator that nobody sets to zero.
//# buffer result 1 u32
//# bind 0 result
//# dispatch 1
//# case fixed FIXED
//# final result 64
//# case bug
//# expect uninitialised-read 1
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint result; };

shared uint sum;

void main() {
#ifdef FIXED
    if (gl_LocalInvocationIndex == 0u)
        sum = 0u;
    barrier();
#endif
    atomicAdd(sum, 1u); // @1
    barrier();
    if (gl_LocalInvocationIndex == 0u)
        result = sum;
}
