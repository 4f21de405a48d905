// A variable that half of the invocations of a subgroup never set, and whose value other invocations get.
//# buffer results 32 u32
//# bind 0 results
//# subgroup 32
//# dispatch 1
//# case shuffle SHUFFLE WHO=true
//# expect uninitialised-read 1
//# case shuffle-fixed SHUFFLE WHO=odd
//# note Those that get a value that was set use it.
//# final results 0 1 0 3
//# case sum SUM
//# expect uninitialised-read 2
//# case sum-fixed SUM SET
//# final results 480 480
//# case sum-of-some SUM_OF_SOME
//# note Who does not take part has no value.
//# final results 240 0 240
//# case first FIRST SET_BY=odd
//# expect uninitialised-read 4
//# case first-fixed FIRST SET_BY=(!odd)
//# final results 0 0 0
//# case scan SCAN WHO=true
//# expect uninitialised-read 5
//# case scan-fixed SCAN WHO=(me<2u)
//# note The exclusive scan of invocations 0 and 1 takes in no value that was not set.
//# final results 0 0 0
//# case vote VOTE
//# note Votes count as defined.
//# final results _
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

#ifndef SET_BY
#define SET_BY (!odd)
#endif

void main() {
    uint me = gl_LocalInvocationIndex;
    bool odd = (me & 1u) != 0u;
    uint value;
#ifdef SET
    value = 0u;
    if (!odd)
        value = 2u * me;
#else
    if (SET_BY)
        value = me;
#endif
#if defined(SHUFFLE)
    uint other = subgroupShuffleXor(value, 1u); // @1
    if (WHO)
        results[me] = other + 1u;
#elif defined(SUM)
    results[me] = subgroupAdd(value); // @2
#elif defined(SUM_OF_SOME)
    if (!odd)
        results[me] = subgroupAdd(value); // @3
#elif defined(FIRST)
    results[me] = subgroupBroadcastFirst(value); // @4
#elif defined(SCAN)
    uint before = subgroupExclusiveAdd(value); // @5
    if (WHO)
        results[me] = before;
#else
    results[me] = subgroupAny(value == 7u) ? 1u : 0u;
#endif
}
