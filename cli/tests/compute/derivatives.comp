#version 450
#extension GL_NV_compute_shader_derivatives : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_quad : require

layout(local_size_x = 6, local_size_y = 4, local_size_z = 2) in;
#ifdef QUADS
layout(derivative_group_quadsNV) in;
#else
layout(derivative_group_linearNV) in;
#endif

layout(constant_id = 0) const uint what = 0;

layout(binding = 0) buffer Found { uint found[48][9]; };
layout(binding = 1) buffer Shared { uint word; float slope; };

void main() {
    uint index = gl_LocalInvocationIndex;
    if (what == 1) {
        // Two of them race.
        if (index == 28 || index == 32) word = index;
    } else if (what == 2) {
        if (gl_LocalInvocationID.x == 1) slope = dFdx(float(index));
    } else {
        // The index is squared so that no two neighbours differ by the same.
        float value = float(index * index);
        found[index] = uint[](
            floatBitsToUint(dFdxFine(value)), floatBitsToUint(dFdyFine(value)),
            floatBitsToUint(dFdxCoarse(value)), floatBitsToUint(dFdyCoarse(value)),
            floatBitsToUint(fwidthFine(value)), subgroupQuadSwapHorizontal(index),
            subgroupQuadSwapVertical(index), subgroupQuadBroadcast(index, 3),
            gl_SubgroupID * 32 + gl_SubgroupInvocationID);
    }
}
