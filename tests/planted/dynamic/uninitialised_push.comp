// Push constants that the command buffer did not set. Copies of the rest are no bugs; uses of it are.
//# buffer results 4 f32
//# bind 0 results
//# case fixed
//# push 0 1 7 8 9 10 1 2
//# dispatch 1
//# final results 20 21 22 23
//# case unused UNUSED
//# note what is not set decides nothing
//# push 0 1
//# dispatch 1
//# final results 3 4 5 6
//# case copied COPIED
//# note a whole block is copied, and what is not set is not used
//# push 0 1
//# dispatch 1
//# final results 3 4 5 6
//# case nothing
//# dispatch 1
//# expect uninitialised-read 3
//# allow uninitialised-read 1
//# allow uninitialised-read 2
//# says in the push constants: mode, bytes 0 to 3
//# says no vkCmdPushConstants comes before the dispatch in its command buffer
//# case element
//# push 5 1 7 8 9
//# dispatch 1
//# expect uninitialised-read 1
//# says in the push constants: weights[3], bytes 20 to 23
//# says vkCmdPushConstants set bytes 0 to 19 before the dispatch in its command buffer
//# case component
//# push 0 1 7 8 9 10
//# dispatch 1
//# expect uninitialised-read 2
//# says in the push constants: last.x, bytes 24 to 27
#version 450

layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { float results[]; };
layout(push_constant, std430) uniform Arguments {
    uint mode;
    int step;
    uint weights[4];
    uvec2 last;
};

void main() {
    uint me = gl_LocalInvocationIndex;
    float sum = float(me);
#if defined(UNUSED) || defined(COPIED)
    uint chosen = weights[3];
    uvec2 both = last;
    if (mode == 1u)
        sum += float(chosen + both.x);
    sum += float(step) + 2.0;
#ifdef COPIED
    uint copy[4] = weights;
    copy[me] = 0u;
    sum += float(copy[me]);
#endif
#else
    if (mode == 0u) // @3
        sum += float(step) + float(last.x + last.y); // @2
    sum += float(weights[2 + (step & 1)]) + 6.0; // @1
#endif
    results[me] = sum;
}
