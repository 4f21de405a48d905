#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_vote : require
// Four results for each invocation, the same whatever the subgroup's size.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) buffer Output { uint results[]; };

shared uint total;

void main() {
    uint me = gl_LocalInvocationIndex;
    uint value = values[me];
    if (me == 0)
        total = 0;
    barrier();
    uint sum = subgroupAdd(value);
    if (subgroupElect())
        atomicAdd(total, sum);
    barrier();
    uint below = subgroupExclusiveAdd(1u);
    uvec4 odd = subgroupBallot((value & 1u) == 1u);
    results[me * 4] = total;
    results[me * 4 + 1] = below == gl_SubgroupInvocationID ? 1u : 0u;
    results[me * 4 + 2] = subgroupInverseBallot(odd) ? 1u : 0u;
    results[me * 4 + 3] = subgroupShuffle(value, gl_SubgroupInvocationID ^ (gl_SubgroupSize > 1 ? 1u : 0u)) + (subgroupAll(true) ? 0u : 7u);
}
