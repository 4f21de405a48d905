// Image operations of every kind: each invocation writes what it saw to `seen`, nine words each.
// Build: glslangValidator -V --target-env vulkan1.3 images.comp -o images.spv
#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require

layout(local_size_x = 32) in;

layout(set = 0, binding = 0) buffer Seen { uint seen[][9]; };
layout(set = 0, binding = 1, rgba8) uniform image2D colors;
layout(set = 0, binding = 2, r32ui) uniform uimage2DArray counters;
layout(set = 0, binding = 3) uniform sampler2D filtered;
layout(set = 0, binding = 4) uniform itexture3D volume;
layout(set = 0, binding = 5) uniform texture2D plain;
layout(set = 0, binding = 6) uniform sampler samplers[2];
layout(set = 0, binding = 7, r16f) uniform imageBuffer line[2];
layout(set = 0, binding = 8) uniform sampler2D levels;

void main() {
    uint i = gl_GlobalInvocationID.x;
    ivec2 at = ivec2(i % 8, i / 8);

    vec4 color = imageLoad(colors, at);
    imageStore(colors, at, color.bgra);
    seen[i][0] = packUnorm4x8(color);

    // Four invocations share a texel; one in eight is out of bounds.
    seen[i][1] = imageAtomicAdd(counters, ivec3(i % 8 / 2, i / 16, i / 28), i);
    seen[i][2] = uint(imageSize(counters).x * 100 + imageSize(counters).y * 10 + imageSize(counters).z);

    seen[i][3] = floatBitsToUint(textureLod(filtered, (vec2(at) + 0.75) / vec2(8, 4), 0.0).x);
    seen[i][4] = uint(texelFetch(volume, ivec3(i % 4, i / 4 % 4, i / 16), 0).x);
    seen[i][5] = floatBitsToUint(textureLod(sampler2D(plain, samplers[nonuniformEXT(i % 2)]), vec2(at) / vec2(8, 4), 0.0).y);
    seen[i][6] = uint(dot(textureGather(filtered, (vec2(at) + 0.5) / vec2(8, 4)), vec4(1, 10, 100, 1000)));

    imageStore(line[nonuniformEXT(i & 1)], int(i / 2), vec4(float(i) + 0.5));
    seen[i][7] = uint(2.0 * imageLoad(line[nonuniformEXT(i & 1)], int(i / 2)).x) + 1000 * uint(imageSize(line[1]));

    // One texel of level i % 4.
    seen[i][8] = floatBitsToUint(textureGrad(levels, vec2(0.5), vec2(0.25 * float(1 << (i % 4)), 0), vec2(0, 0.1)).x);
}
