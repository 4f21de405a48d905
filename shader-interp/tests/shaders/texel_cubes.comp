#version 450
// Samples and gathers of cubes, at level 0 and at levels that each invocation chooses, in a loop.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; };
layout(set = 0, binding = 1) writeonly buffer Seen { uvec4 seen[]; };
layout(set = 1, binding = 0) uniform samplerCube cube;
layout(set = 1, binding = 1) uniform samplerCubeArray cubes;
layout(set = 1, binding = 2) uniform samplerCube small;
layout(set = 1, binding = 3) uniform samplerCubeArrayShadow depths;

void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = 16 * i;
    for (uint k = 0; k < 8; k++, at += 16 * 32) {
        vec4 place = places[32 * k + i];
        vec4 other = places[(32 * k + i + 77) % 256];
        float lod = k % 4 == 3 ? places[32 * k].w : 3 * place.w;
        // Directions near edges and corners, too.
        vec3 direction = place.xyz - 0.5;
        vec3 corner = sign(other.xyz - 0.5) + 0.1 * direction;
        seen[at] = floatBitsToUint(textureLod(cube, direction, 0));
        seen[at + 1] = floatBitsToUint(textureLod(cube, corner, 0));
        seen[at + 2] = floatBitsToUint(textureLod(cube, other.xyz - 0.5, lod));
        seen[at + 3] = floatBitsToUint(textureLod(cube, corner, lod));
        seen[at + 4] = floatBitsToUint(textureLod(cubes, vec4(direction, 2 * other.w), 0));
        seen[at + 5] = floatBitsToUint(textureLod(cubes, vec4(corner, other.w), lod));
        seen[at + 6] = floatBitsToUint(textureLod(small, direction, 0));
        seen[at + 7] = floatBitsToUint(textureLod(small, corner.zyx, lod));
        seen[at + 8] = floatBitsToUint(textureGather(cube, direction, 1));
        seen[at + 9] = floatBitsToUint(textureGather(cube, corner));
        seen[at + 10] = floatBitsToUint(textureGather(cubes, vec4(corner, other.w), 2));
        seen[at + 11] = floatBitsToUint(vec4(texture(depths, vec4(direction, other.w), place.w)));
        seen[at + 12] = floatBitsToUint(vec4(texture(depths, vec4(corner, lod), place.w)));
        seen[at + 14] = floatBitsToUint(textureGrad(cube, direction, other.xyz / 8, place.wxy / 8));
        seen[at + 15] = floatBitsToUint(textureGrad(cubes, vec4(corner, other.w), direction, other.zyx / 4));
        seen[at + 13] = floatBitsToUint(textureGather(depths, vec4(corner, other.w), place.w));
    }
}
