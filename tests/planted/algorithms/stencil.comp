// A blur of a buffer in place: every invocation writes what its neighbours read. Out of place nothing races.
//# buffer values 256 u32 iota
//# buffer results 256 u32
//# bind 0 values
//# bind 1 results
//# dispatch 4
//# case fixed FIXED
//# final results[1] 1 2 3
//# case bug
//# expect race-private 1 2
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_GlobalInvocationID.x;
    uint left = me == 0u ? 0u : values[me - 1u]; // @1
    uint right = me == 255u ? 255u : values[me + 1u]; // @1
    uint mean = (left + right) / 2u;
#ifdef FIXED
    results[me] = mean;
#else
    values[me] = mean; // @2
#endif
}
