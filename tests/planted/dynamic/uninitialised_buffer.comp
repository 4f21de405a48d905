// A buffer whose memory nobody has written is read.
//# buffer values 64 u32 undefined
//# buffer results 64 u32
//# bind 0 values
//# bind 1 results
//# case fixed
//# fill values 7
//# barrier clear/transfer-write -> compute/shader-read
//# dispatch 1
//# final results 7 7 7
//# case bug
//# dispatch 1
//# expect uninitialised-read 1
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    results[me] = values[me]; // @1
}
