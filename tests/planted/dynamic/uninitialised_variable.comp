// A variable that one branch forgets to set.
//# buffer results 32 u32
//# bind 0 results
//# dispatch 1
//# case fixed FIXED
//# final results 7 1 7 1
//# case bug
//# expect uninitialised-read 1
#version 450

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint value;
    if ((gl_LocalInvocationIndex & 1u) != 0u)
        value = 1u;
#ifdef FIXED
    else
        value = 7u;
#endif
    results[gl_LocalInvocationIndex] = value; // @1
}
