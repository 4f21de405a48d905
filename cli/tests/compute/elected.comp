#version 450
#extension GL_KHR_memory_scope_semantics : enable
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_arithmetic : enable
// One lane of each subgroup fills a tile, in a long loop; the others of its subgroup wait for it, read the
// tile, and add up how many they are.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1) writeonly buffer Output { uint result[]; };
shared uint tile[512];

void main() {
    if (subgroupElect()) {
        for (uint i = 0; i < 4096; ++i) {
            tile[gl_SubgroupID * 64u + (i & 63u)] = values[i & 63u] + i;
        }
    }
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    uint i = gl_LocalInvocationIndex;
    result[i] = tile[gl_SubgroupID * 64u + i] + 10000u * (subgroupAdd(1u) - gl_SubgroupSize);
}
