// A first dispatch writes all but the last elements of a new buffer; a second one reads all of them.
//# buffer values 64 u32 undefined
//# buffer results 64 u32
//# bind 0 values
//# bind 1 results
//# push 0 0
//# case fixed
//# dispatch 1 push 0 64
//# barrier compute/shader-write -> compute/shader-read
//# dispatch 1 push 1
//# final results 1 2 3
//# case bug
//# dispatch 1 push 0 60
//# barrier compute/shader-write -> compute/shader-read
//# dispatch 1 push 1
//# expect uninitialised-read 1
#version 450

layout(local_size_x = 64) in;
layout(push_constant) uniform Arguments { uint pass; uint count; };
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    if (pass == 0u) {
        if (me < count)
            values[me] = me + 1u;
    } else {
        results[me] = values[me]; // @1
    }
}
