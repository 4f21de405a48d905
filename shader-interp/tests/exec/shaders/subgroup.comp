#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
// Eight words for each invocation; lanes divisible by 3 sit out.
layout(local_size_x = 40) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
void main() {
    uint l = gl_SubgroupInvocationID, at = gl_LocalInvocationIndex * 8u;
    if (l % 3u == 0u) return;
    o[at] = subgroupAdd(l);
    o[at + 1u] = subgroupExclusiveAdd(1u);
    o[at + 2u] = subgroupElect() ? 1u : 0u;
    o[at + 3u] = subgroupBallot((l & 1u) == 1u).x;
    o[at + 4u] = subgroupShuffleXor(l, 3u);
    o[at + 5u] = subgroupBroadcastFirst(l + 100u);
    o[at + 6u] = subgroupClusteredMax(l, 4u);
    o[at + 7u] = (subgroupAll(l % 3u != 0u) ? 1u : 0u) + (subgroupAny(l == 2u) ? 2u : 0u) + gl_SubgroupSize * 4u;
}
