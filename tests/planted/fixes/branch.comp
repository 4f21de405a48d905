// The last step of a reduction is left to one subgroup, in a branch where no barrier of the workgroup can stand.
//# buffer values 64 u32 iota
//# buffer results 1 u32 zero
//# bind 0 values
//# bind 1 results
//# subgroup 32
//# dispatch 1
//
//# case fixed
//# final results[0] 66
//
//# case no-subgroup-barrier NO_BARRIER
//# expect race-unordered 2 3 missing happens-before fix insert-barrier
//# says put `subgroupBarrier();` between
#version 450
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Results { uint results[]; };
shared uint sums[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    sums[me] = values[me];
    barrier();
    if (me < 32u) {
        uint own = sums[me] + sums[me + 32u];
        sums[me] = own; // @2
#ifndef NO_BARRIER
        subgroupBarrier();
#endif
        uint other = sums[me ^ 1u]; // @3
        if (me == 0u) {
            results[0] = own + other;
        }
    }
}
