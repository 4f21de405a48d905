// A subgroup passes values through shared memory; subgroupBarrier() orders a subgroup, not the two of a workgroup.
//# buffer results 64 u32
//# bind 0 results
//# subgroup 32
//# dispatch 1
//# case fixed PARTNER=1
//# final results 1 0 3 2
//# case across PARTNER=32
//# expect race-unordered 1 2
//# allow uninitialised-read 2
//# case no-barrier PARTNER=1 NO_BARRIER
//# expect race-unordered 1 2
//# allow uninitialised-read 2
#version 450
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint table[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    table[me] = me; // @1
#ifndef NO_BARRIER
    subgroupBarrier();
#endif
    results[me] = table[me ^ PARTNER]; // @2
}
