// A number is taken from a counter by two loads, one for the result and one for the sum: an exchange would not do.
//# buffer numbers 64 u32 zero
//# buffer counter 1 u32 zero
//# bind 0 numbers
//# bind 1 counter
//# subgroup 32
//# dispatch 1
//
//# case fixed ATOMIC
//# final counter[0] 64
//
//# case two-loads
//# expect race-private 2 3 missing non-private fix atomic-update
//# expect race-private 3 2 missing non-private fix atomic-update
//# expect race-private 3 3 missing non-private fix atomic-update
//# says make the load at fetch_and_add.comp:26 and the store at fetch_and_add.comp:27 one atomic instruction: atomicAdd
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Numbers { uint numbers[]; };
layout(set = 0, binding = 1, std430) buffer Counter { uint next; };

void main() {
#ifdef ATOMIC
    uint own = atomicAdd(next, 1u);
#else
    uint own = next; // @2
    next = next + 1u; // @3
#endif
    numbers[gl_LocalInvocationIndex] = own;
}
