// A write past the range of a descriptor: the buffer goes on, but the descriptor does not.
//# buffer values 64 u32
//# bind 0 values 0 128
//# dispatch 1
//# case fixed FIXED
//# final values[30] 30 31 0
//# case bug
//# expect out-of-bounds 1
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef FIXED
    if (me >= values.length())
        return;
#endif
    values[me] = me; // @1
}
