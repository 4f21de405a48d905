// The last invocations read past the end of the buffer.
//# buffer values 60 u32 iota
//# buffer results 64 u32
//# bind 0 values
//# bind 1 results
//# dispatch 1
//# case fixed FIXED
//# final results[59] 59 0 0
//# case bug
//# expect out-of-bounds 1
//# says set 0, binding 0
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef FIXED
    results[me] = me < values.length() ? values[me] : 0u;
#else
    results[me] = values[me]; // @1
#endif
}
