// Elements with a member that nothing sets are sorted in workgroup memory: they are copied from one place to
// another, by stores in a branch or of a selection. Only who uses a copy has read the member.
//# buffer keys 64 u32
//# buffer results 192 u32
//# bind 0 keys
//# bind 1 results
//# dispatch 1
//# case selected
//# final results[60] 60 61 62 63 0
//# case branched BRANCHED
//# final results[60] 60 61 62 63 0
//# case stored STORED
//# expect uninitialised-read 1
//# expect uninitialised-read 2
//# case used USED
//# expect uninitialised-read 1
//# expect uninitialised-read 2
//# case used-in-branch USED BRANCHED
//# expect uninitialised-read 1
//# expect uninitialised-read 2
//# case exchanged EXCHANGED
//# expect uninitialised-read 1
//# expect uninitialised-read 2
//# case paired PAIRED
//# expect uninitialised-read 3
#version 450

struct Item {
    uint key;
    uint value;
    uint unset;
};

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Keys { uint keys[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Items { Item items[]; };

shared Item sorted[64];
shared uint firsts[64];
shared uint seconds[64];
shared uvec2 pairs[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    sorted[me].key = me ^ keys[me] ^ 21u;
    sorted[me].value = me;
    barrier();
    for (uint size = 2u; size <= 64u; size <<= 1)
        for (uint by = size >> 1; by > 0u; by >>= 1) {
            uint other = me ^ by;
            if (other > me) {
                Item a = sorted[me]; // @1
                Item b = sorted[other]; // @2
                bool swap = (a.key > b.key) == ((me & size) == 0u);
#ifdef BRANCHED
                if (swap) {
                    sorted[me] = b;
                    sorted[other] = a;
                }
#else
                sorted[me] = swap ? b : a;
                sorted[other] = swap ? a : b;
#endif
            }
            barrier();
        }
#ifdef STORED
    items[me] = sorted[me];
#else
    results[me] = sorted[me].key;
#endif
#ifdef USED
    results[64u + me] = sorted[me].unset;
#endif
#ifdef EXCHANGED
    results[64u + me] = atomicAdd(sorted[me].unset, 1u);
#endif
#ifdef PAIRED
    uint first = firsts[me];
    uint second = seconds[me]; // @3
    pairs[me] = uvec2(first, second);
    barrier();
    results[64u + me] = pairs[me].y;
#endif
}
