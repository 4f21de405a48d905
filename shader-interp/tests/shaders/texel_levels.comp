#version 450
#extension GL_ARB_sparse_texture_clamp : require
#extension GL_NV_compute_shader_derivatives : require
// Samples of levels that each invocation chooses, by a LOD and by derivatives, in a loop.
layout(local_size_x = 32) in;
layout(derivative_group_linearNV) in;
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; };
layout(set = 0, binding = 1) buffer Seen { uvec4 seen[]; };
layout(set = 1, binding = 0) uniform sampler1D line;
layout(set = 1, binding = 1) uniform sampler1DArray lines;
layout(set = 1, binding = 2) uniform sampler2D plane;
layout(set = 1, binding = 3) uniform sampler2DArray planes;
layout(set = 1, binding = 4) uniform sampler3D space;

void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = 16 * i;
    for (uint k = 0; k < 8; k++, at += 16 * 32) {
        vec4 place = places[32 * k + i];
        vec4 along = places[(32 * k + i + 77) % 256] / 16;
        // Levels of all sizes, the same in most lanes now and then, and what is no level.
        float lod = k % 4 == 3 ? places[32 * k].w : 3 * place.w;
        seen[at] = floatBitsToUint(textureLod(line, place.x, lod));
        seen[at + 1] = floatBitsToUint(textureLod(lines, place.xz, lod));
        seen[at + 2] = floatBitsToUint(textureLod(plane, place.xy, lod));
        seen[at + 3] = floatBitsToUint(textureLod(planes, place.xyz, lod));
        seen[at + 4] = floatBitsToUint(textureLod(space, place.xyz, lod));
        seen[at + 5] = floatBitsToUint(textureLodOffset(plane, place.yx, lod, ivec2(-2, 3)));
        seen[at + 6] = floatBitsToUint(textureLod(plane, place.xy, 1.25));
        seen[at + 7] = floatBitsToUint(textureGrad(line, place.y, along.x, along.y));
        seen[at + 8] = floatBitsToUint(textureGrad(plane, place.yx, along.xy, along.zw));
        seen[at + 9] = floatBitsToUint(textureGradOffset(planes, place.yzx, along.xz, along.yw, ivec2(1, -1)));
        seen[at + 10] = floatBitsToUint(textureGrad(space, place.xyz, along.xyz, along.wzy));
        vec4 clamped;
        clamped = textureGradClampARB(plane, place.xy, along.xy, along.zw, lod);
        seen[at + 11] = floatBitsToUint(clamped);
        seen[at + 12] = floatBitsToUint(vec4(textureLod(plane, place.zw, lod).y));
        seen[at + 13] = floatBitsToUint(texture(plane, place.xy / 8, lod));
        ivec3 texel = ivec3(place.xyz * 9);
        int level = int(lod);
        seen[at + 15] = floatBitsToUint(texelFetch(plane, texel.xy, level) + texelFetch(lines, texel.xy, level));
        seen[at + 15] ^= floatBitsToUint(texelFetch(planes, texel, level) + texelFetch(space, texel, level));
        seen[at + 14] = floatBitsToUint(texture(space, place.xyz));
    }
}
