// Updates of one location that are not atomic, as they are spelled: a barrier within one would lose the update of one of two invocations.
//# buffer values 64 u32 3 1 2 0
//# buffer results 4 u32 zero
//# bind 0 values
//# bind 1 results
//# dispatch 1
//
//# case fixed FIXED
//# final results[0] 64
//
//# case add UPDATE=counts[values[me]]+=1u
//# expect race-unordered 1 1 missing happens-before fix atomic-update
//# says one atomic instruction: atomicAdd
//
//# case add-again UPDATE=counts[values[me]]=counts[values[me]]+1u
//# expect race-unordered 1 1 missing happens-before fix atomic-update
//# says one atomic instruction: atomicAdd
//
//# case maximum UPDATE=counts[0]=max(counts[0],me)
//# expect race-unordered 1 1 missing happens-before fix atomic-update
//# says one atomic instruction: atomicMax
//
//# case maximum-if UPDATE=if(me>counts[0])counts[0]=me
//# expect race-unordered 1 1 missing happens-before fix atomic-update
//# says one atomic instruction: atomicMax
//
//# case product UPDATE=counts[0]*=3u
//# expect race-unordered 1 1 missing happens-before fix atomic-update
//# says atomicCompSwap in a loop that tries again
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Results { uint results[]; };
shared uint counts[4];

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me < 4u)
        counts[me] = 0u;
    barrier();
#ifdef FIXED
    atomicAdd(counts[values[me]], 1u);
#else
    UPDATE; // @1
#endif
    barrier();
    if (me == 0u)
        results[0] = counts[0] + counts[1] + counts[2] + counts[3];
}
