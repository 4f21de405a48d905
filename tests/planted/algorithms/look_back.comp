// A scan over workgroups in one dispatch: each publishes its aggregate, then its prefix, and looks back at those before it.
//# buffer values 256 u32 1
//# buffer state 12 u32
//# buffer results 256 u32
//# bind 0 values
//# bind 1 state
//# bind 2 results
//# dispatch 4
//# case fixed
//# final results 1 2 3
//# final results[252] 253 254 255 256
//# case plain-glsl-no-barrier NO_BARRIER
//# note Whether an aggregate is read before its prefix is there depends on the schedule.
//# allow race-unordered 1 2
//# expect race-unordered 3 4
//# case not-coherent COHERENT=
//# allow race-private 1 2
//# expect race-private 3 4
#version 450

#ifndef COHERENT
#define COHERENT coherent
#endif
#ifdef NO_BARRIER
#define FENCE
#else
#define FENCE memoryBarrierBuffer()
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) COHERENT buffer State { uint flags[4]; uint aggregates[4]; uint prefixes[4]; };
layout(set = 0, binding = 2, std430) writeonly buffer Output { uint results[]; };

shared uint sums[64];
shared uint before;

void main() {
    uint me = gl_LocalInvocationIndex;
    uint group = gl_WorkGroupID.x;
    sums[me] = values[gl_GlobalInvocationID.x];
    barrier();
    for (uint step = 1u; step < 64u; step <<= 1u) {
        uint sum = sums[me] + (me >= step ? sums[me - step] : 0u);
        barrier();
        sums[me] = sum;
        barrier();
    }
    if (me == 63u) {
        uint aggregate = sums[63];
        uint prefix = 0u;
        if (group > 0u) {
            aggregates[group] = aggregate; // @1
            FENCE;
            atomicExchange(flags[group], 1u);
            for (uint back = group; back > 0u;) {
                uint flag = atomicAdd(flags[back - 1u], 0u);
                FENCE;
                if (flag == 2u) {
                    prefix += prefixes[back - 1u]; // @4
                    break;
                } else if (flag == 1u) {
                    prefix += aggregates[back - 1u]; // @2
                    back--;
                }
            }
        }
        before = prefix;
        prefixes[group] = prefix + aggregate; // @3
        FENCE;
        atomicExchange(flags[group], 2u);
    }
    barrier();
    results[gl_GlobalInvocationID.x] = before + sums[me];
}
