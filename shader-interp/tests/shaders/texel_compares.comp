#version 450
// Comparisons with a reference value, gathers with offsets of their own, and samples, of one level, in a loop.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; };
layout(set = 0, binding = 1) writeonly buffer Seen { uvec4 seen[]; };
layout(set = 1, binding = 0) uniform sampler2DShadow plane;
layout(set = 1, binding = 1) uniform sampler2D colors;
layout(set = 1, binding = 2) uniform sampler1DShadow line;
layout(set = 1, binding = 3) uniform sampler2DArrayShadow planes;

void main() {
    const ivec2 offsets[4] = {ivec2(1, -2), ivec2(0, 3), ivec2(-4, 0), ivec2(5, 1)};
    uint i = gl_LocalInvocationIndex;
    uint at = 16 * i;
    for (uint k = 0; k < 8; k++, at += 16 * 32) {
        vec4 place = places[32 * k + i];
        if ((i + 5 * k) % 7 == 6) {
            continue;
        }
        seen[at].x = floatBitsToUint(textureLod(plane, place.xyz, 0));
        seen[at].y = floatBitsToUint(texture(line, place.yxz));
        seen[at].z = floatBitsToUint(textureLodOffset(plane, place.yxw, 0, ivec2(2, -1)));
        seen[at + 1] = floatBitsToUint(textureGather(plane, place.xy, place.z));
        seen[at + 2] = floatBitsToUint(textureGather(planes, place.xyw, place.z));
        seen[at + 3] = floatBitsToUint(textureGatherOffsets(colors, place.xy, offsets, 1));
        seen[at + 4] = floatBitsToUint(texture(colors, place.yx));
    }
}
