// One arm of a switch returns early: another arm lacks a barrier and nothing else, as all invocations take the same one. In the
// arm that returns, and behind the switch, some may be missing.
//# buffer values 64 u32 0
//# bind 0 values
//# push 0
//# subgroup 32
//
//# case fixed
//# dispatch 1 push 3
//# final values 126 124
//
//# case arm NO_BARRIER
//# dispatch 1 push 3
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# allow uninitialised-read 2
//# says put `barrier();` between switch_arms.comp:48 and switch_arms.comp:52
//
//# case behind NO_END
//# dispatch 1 push 3
//# expect race-unordered 3 4 missing happens-before fix insert-barrier
//# allow uninitialised-read 4
//# says put `barrier();` between switch_arms.comp:56 and switch_arms.comp:60, and turn the early return before it into a condition
//
//# case returned NO_END
//# dispatch 1 push 1
//# expect race-unordered 3 4 missing happens-before fix insert-barrier
//# expect race-unordered 5 6 missing happens-before fix insert-barrier
//# allow uninitialised-read 4
//# allow uninitialised-read 6
//# says put `barrier();` between switch_arms.comp:42 and switch_arms.comp:43, and turn the early return before it into a condition
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };
layout(push_constant) uniform Push { uint mode; };
shared uint table[64], other[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    switch (mode) {
    case 1u:
        if (me >= 60u) return;
        table[me] = me; // @5
        values[me] += table[59u - me]; // @6
        break;
    case 2u:
        break;
    case 3u:
        table[me] = me; // @1
#ifndef NO_BARRIER
        barrier();
#endif
        values[me] += table[63u - me]; // @2
        break;
    }

    other[me] = me; // @3
#ifndef NO_END
    barrier();
#endif
    values[me] += other[63u - me]; // @4
}
