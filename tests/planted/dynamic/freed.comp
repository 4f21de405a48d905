// The host frees a buffer that a submission still uses.
//# buffer values 64 u32 iota
//# bind 0 values
//# case fixed
//# dispatch 1
//# submit wait go
//# host-signal go
//# fence
//# free values
//# case bug
//# dispatch 1
//# submit wait go
//# free values
//# host-signal go
//# expect freed-in-use
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };

void main() {
    values[gl_LocalInvocationIndex] += 1u;
}
