#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
// Sums, greatest values and counts over workgroups of 256, by subgroups of whatever size.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) writeonly buffer Result { uvec4 result[]; };
layout(set = 0, binding = 1) readonly buffer Words { uint words[]; };
shared uvec4 parts[256];

void main() {
    uvec4 own = uvec4(0);
    for (uint k = 0; k < 16; ++k) {
        uint word = words[(gl_WorkGroupID.x * 16 + k) * 256 + gl_LocalInvocationIndex];
        // Neighbours change places, which changes no sum.
        word = subgroupShuffleXor(word, 1);
        own.x += subgroupAdd(word);
        own.y = max(own.y, subgroupMax(word));
        own.z += subgroupBallotBitCount(subgroupBallot((word & 5) == 1));
    }
    if (subgroupElect()) {
        parts[gl_SubgroupID] = own;
    }
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        uvec4 all = uvec4(0);
        for (uint k = 0; k < gl_NumSubgroups; ++k) {
            all.x += parts[k].x;
            all.y = max(all.y, parts[k].y);
            all.z += parts[k].z;
        }
        result[gl_WorkGroupID.x] = all;
    }
}
