#version 450
// Samples and gathers of images of all shapes but cubes at one level, and their sizes, in a loop.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; };
layout(set = 0, binding = 1) writeonly buffer Seen { uvec4 seen[]; };
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
        if ((i + 5 * k) % 7 == 6) {
            seen[at] = uvec4(textureSize(plane, 0), textureSize(planes, 0).zx);
            seen[at + 1] = uvec4(textureSize(space, 0), textureSize(lines, 0).y);
            continue;
        }
        seen[at] = floatBitsToUint(textureLod(line, place.x, 0));
        seen[at + 1] = floatBitsToUint(textureLod(lines, place.xz, 0));
        seen[at + 2] = floatBitsToUint(texture(plane, place.xy));
        seen[at + 3] = floatBitsToUint(textureLod(planes, place.xyw, 0));
        seen[at + 4] = floatBitsToUint(textureLod(space, place.xyz, 0));
        seen[at + 5] = floatBitsToUint(textureLodOffset(plane, place.yx, 0, ivec2(-2, 3)));
        seen[at + 6] = floatBitsToUint(textureLodOffset(space, place.yxz, 0, ivec3(1, -1, 2)));
        seen[at + 7] = floatBitsToUint(textureGather(plane, place.xy));
        seen[at + 8] = floatBitsToUint(textureGather(plane, place.xy, 2));
        seen[at + 9] = floatBitsToUint(textureGatherOffset(planes, place.yxw, ivec2(3, 0), 1));
        seen[at + 10] = floatBitsToUint(vec4(textureLod(plane, place.zw, 0).y));
    }
}
