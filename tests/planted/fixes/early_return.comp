// The barrier between the two lines is missing, and an early return stands before them. The first pair that races may be
// of one subgroup, which subgroupBarrier() would order; others of the same two lines are of two.
//# buffer values 65 u32 64
//# bind 0 values
//# subgroup 32
//# dispatch 1
//
//# case fixed PARTNER=63u-me
//# final values 64 322 318
//
//# case returned EARLY NO_BARRIER PARTNER=63u-me
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# allow uninitialised-read 2
//# says put `barrier();` between early_return.comp:44 and early_return.comp:48, and turn the early return before it into a condition
//
//# case neighbours EARLY NO_BARRIER PARTNER=(me+1u)%64u
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# allow uninitialised-read 2
//# says put `barrier();` between early_return.comp:44 and early_return.comp:48, and turn the early return before it into a condition
//
//# case at-the-end EARLY NO_END PARTNER=(me+1u)%64u
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# says put `barrier();` at the end of the loop around early_return.comp:44 and early_return.comp:48, and turn the early return before it
//
//# case one-subgroup ONE EARLY NO_BARRIER PARTNER=me^1u
//# note A workgroup of one subgroup needs no barrier that the invocations that returned come to.
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# says put `subgroupBarrier();` between early_return.comp:44 and early_return.comp:48
#version 450
#ifdef ONE
layout(local_size_x = 32) in;
#else
layout(local_size_x = 64) in;
#endif
layout(set = 0, binding = 0, std430) buffer Values { uint count; uint values[]; };
shared uint table[64];

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef EARLY
    if (me >= count) return;
#endif
    for (uint k = 0u; k < 4u; k++) {
        table[me] = me + k; // @1
#ifndef NO_BARRIER
        barrier();
#endif
        values[me] += table[PARTNER]; // @2
#ifndef NO_END
        barrier();
#endif
    }
}
