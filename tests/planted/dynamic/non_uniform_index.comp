// Invocations of a subgroup select different buffers of an array, and do not say so.
//# buffer left 4 u32 5
//# buffer right 4 u32 7
//# buffer results 64 u32
//# bind 0.0 left
//# bind 0.1 right
//# bind 1 results
//# subgroup 32
//# notes
//# dispatch 1
//# case fixed FIXED
//# final results 5 7 5 7
//# case uniform UNIFORM
//# final results 7 7 7 7
//# case branches BRANCHES
//# final results 5 7 5 7
//# case subgroups SUBGROUPS
//# note What is equal in each subgroup needs no decoration, whatever other subgroups have.
//# final results 5 5 5 5
//# final results[32] 7 7 7 7
//# case bug
//# expect non-uniform-index 1
#version 450
#extension GL_EXT_nonuniform_qualifier : require

#ifdef SUBGROUPS
layout(local_size_x = 64) in;
#else
layout(local_size_x = 32) in;
#endif
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[4]; } inputs[2];
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    uint which = me & 1u;
#ifdef UNIFORM
    which = gl_WorkGroupID.x + 1u;
#endif
#ifdef SUBGROUPS
    which = me / 32u;
#endif
#if defined(FIXED)
    uint value = inputs[nonuniformEXT(which)].values[0];
#elif defined(BRANCHES)
    uint value = 0u;
    for (uint k = 0u; k < 2u; k++) {
        if (which == k)
            value = inputs[which].values[0];
    }
#else
    uint value = inputs[which].values[0]; // @1
#endif
    results[me] = value;
}
