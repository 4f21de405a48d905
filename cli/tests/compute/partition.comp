// Partitions of a subgroup: masks, sums, and what came before.
#version 450
#extension GL_NV_shader_subgroup_partitioned : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require

layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) buffer Output { uint results[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec4 same = subgroupPartitionNV(vec2(i % 2u, 0.5));
    uvec4 all = subgroupBallot(true);
    results[6u * i] = same.x;
    results[6u * i + 1u] = subgroupPartitionedAddNV(i, same);
    results[6u * i + 2u] = subgroupPartitionedInclusiveAddNV(i, same);
    results[6u * i + 3u] = uint(subgroupPartitionedExclusiveMaxNV(-int(i), same) + 100);
    results[6u * i + 4u] = uint(subgroupPartitionedAddNV(float(i) * 0.5, same) * 2.0);
    results[6u * i + 5u] = 7u;
    if (i % 4u > 1u)
        results[6u * i + 5u] = subgroupPartitionedOrNV(i, all);
}
