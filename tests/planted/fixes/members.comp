// Structures of two types are loaded and stored as wholes, which takes several accesses: the barrier that is missing
// stands where one of a single number would, not between calls of functions.
//# buffer values 128 u32 iota
//# buffer results 2 u32 zero
//# bind 0 values
//# bind 1 results
//# subgroup 32
//# dispatch 1
//
//# case fixed
//# final results[0] 0
//
//# case none NO_BARRIER
//# expect race-unordered 2 3 missing happens-before fix insert-barrier
//# says at the end of the loop
#version 450
layout(local_size_x = 64) in;
struct Entry {
    float key;
    uint index;
};
layout(set = 0, binding = 0, std430) readonly buffer Values { Entry values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Results { Entry results[]; };
shared Entry least[64];

Entry lesser(Entry a, Entry b) {
    if (a.key < b.key) {
        return a;
    }
    return b;
}

void main() {
    uint me = gl_LocalInvocationIndex;
    least[me] = values[me];
    barrier();
    for (uint reach = 32u; reach > 0u; reach >>= 1) {
        if (me < reach) {
            Entry own = least[me];
            Entry other = least[me + reach]; // @2
            least[me] = lesser(own, other); // @3
        }
#ifndef NO_BARRIER
        barrier();
#endif
    }
    if (me == 0u) {
        results[0] = least[0];
    }
}
