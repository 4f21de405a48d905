// A barrier of the subgroup is a fix where one subgroup alone takes the branch. In a branch that invocations of both take,
// it would order some pairs of the two lines and not the others, even if the pair that is seen first is of one subgroup.
//# buffer values 64 u32 iota
//# buffer results 64 u32 zero
//# bind 0 values
//# bind 1 results
//# subgroup 32
//# dispatch 1
//
//# case fixed TAKEN=(own&1u)==0u PARTNER=(me+2u)%64u
//# final results 3
//
//# case both NO_BARRIER TAKEN=(own&1u)==0u PARTNER=(me+2u)%64u
//# expect race-unordered 1 2 missing happens-before
//# case one-more NO_BARRIER TAKEN=me<=32u PARTNER=me^1u
//# expect race-unordered 1 2 missing happens-before
//
//# case first-invocations NO_BARRIER TAKEN=me<32u&&own<60u PARTNER=me^1u
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# says put `subgroupBarrier();` between
//# case last-subgroup NO_BARRIER TAKEN=gl_SubgroupID==1u PARTNER=me^1u
//# expect race-unordered 1 2 missing happens-before fix insert-barrier
//# says put `subgroupBarrier();` between
#version 450
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Results { uint results[]; };
shared uint table[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    uint own = values[me];
    table[me] = 0u;
    barrier();
    if (TAKEN) {
        table[me] = own + 1u; // @1
#ifndef NO_BARRIER
    }
    barrier();
    if (TAKEN) {
#endif
        results[me] = table[PARTNER]; // @2
    }
}
