#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
// Inclusive sums of 1,024 values in each workgroup: within subgroups, then over them.
layout(local_size_x = 1024) in;
layout(set = 0, binding = 0) writeonly buffer Result { uint result[]; };
layout(set = 0, binding = 1) readonly buffer Input { uint values[]; };
shared uint sums[1024];

void main() {
    uint own = gl_GlobalInvocationID.x;
    uint sum = subgroupInclusiveAdd(values[own] & 0xffffu);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u) sums[gl_SubgroupID] = sum;
    barrier();
    uint before = 0u;
    for (uint k = gl_SubgroupInvocationID; k < gl_SubgroupID; k += gl_SubgroupSize) before += sums[k];
    result[own] = sum + subgroupAdd(before);
}
