// Shifts of which some amounts are the width of the operand or more.
//# buffer results 64 u32
//# bind 0 results
//# subgroup 32
//# notes
//# dispatch 1
//# case fixed FIXED
//# final results 1 2 4 8
//# final results[32] 0
//# case left LEFT
//# expect shift-out-of-range 1
//# says invocation 32
//# case right RIGHT
//# expect shift-out-of-range 2
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef FIXED
    uint result = 0u;
    if (me < 32u)
        result = 1u << me;
#endif
#ifdef LEFT
    uint result = 1u << me; // @1
#endif
#ifdef RIGHT
    uint result = 0x80000000u >> me; // @2
#endif
    results[me] = result;
}
