// A tile that is filled, used and filled again by each iteration: it takes a barrier on the way from the writes to the reads, and one on
// the way back.
//# buffer values 256 u32 iota
//# buffer results 64 u32 zero
//# bind 0 values
//# bind 1 results
//# dispatch 1
//
//# case fixed
//
//# case none-at-the-end NO_END
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# says at the end of the loop around loop.comp:34 and loop.comp:38
//
//# case none-between NO_BETWEEN
//# allow uninitialised-read 2
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# says between loop.comp:34 and loop.comp:38
//
//# case none NO_BETWEEN NO_END
//# allow uninitialised-read 2
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# says at the end of the loop around loop.comp:34 and loop.comp:38, and also between them if invocations meet there in one iteration
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Results { uint results[]; };
shared uint tile[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    uint sum = 0u;
    for (uint t = 0u; t < 4u; t++) {
        tile[me] = values[t * 64u + me]; // @1
#ifndef NO_BETWEEN
        barrier();
#endif
        sum += tile[63u - me]; // @2
#ifndef NO_END
        barrier();
#endif
    }
    results[me] = sum;
}
