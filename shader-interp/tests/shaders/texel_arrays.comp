#version 450
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_shader_image_load_formatted : require
// Samples, fetches, reads, writes and atomics of images among arrays, of which all invocations choose the same
// or each its own, in a loop.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Places { vec4 places[]; };
layout(set = 0, binding = 1) writeonly buffer Seen { uvec4 seen[]; };
layout(set = 1, binding = 0) uniform sampler2D sampled[5];
layout(set = 1, binding = 1) uniform texture2D planes[4];
layout(set = 2, binding = 0) uniform sampler samplers[2];
layout(set = 3, binding = 0) uniform image2D pictures[3];
layout(set = 4, binding = 0, r32ui) uniform uimage2D counters[3];

void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = 16 * i;
    for (uint k = 0; k < 8; k++, at += 16 * 32) {
        vec4 place = places[32 * k + i];
        uint own = uint(abs(place.w) * 977.0);
        ivec2 texel = ivec2(place.xy * 12.0);
        seen[at] = floatBitsToUint(textureLod(sampled[k % 5], place.xy, 0));
        seen[at + 1] = floatBitsToUint(textureLod(sampled[nonuniformEXT(own % 5)], place.xy, 0));
        seen[at + 2] = floatBitsToUint(texelFetch(sampled[nonuniformEXT(own % 3)], texel, 0));
        seen[at + 3] =
            floatBitsToUint(textureLod(sampler2D(planes[nonuniformEXT(own % 4)], samplers[1]), place.yx, 0));
        seen[at + 4] = floatBitsToUint(
            textureLod(sampler2D(planes[2], samplers[nonuniformEXT(own % 2)]), place.yx, 0));
        seen[at + 5] = floatBitsToUint(
            textureLod(sampler2D(planes[nonuniformEXT(own % 2)], samplers[nonuniformEXT(own % 2)]), place.yx, 0));
        seen[at + 10] = floatBitsToUint(textureLod(
            sampler2D(planes[nonuniformEXT(own % 4)], samplers[nonuniformEXT(own / 4 % 2)]), place.xy, 0));
        seen[at + 6] = floatBitsToUint(textureGather(sampled[nonuniformEXT(own % 4)], place.xy, 1));
        seen[at + 7] = uvec4(textureSize(sampled[nonuniformEXT(own % 5)], 0), imageSize(pictures[k % 3]));
        if ((i + k) % 5 != 0) {
            seen[at + 8] = floatBitsToUint(imageLoad(pictures[nonuniformEXT(own % 3)], texel));
            // One invocation for each texel: what they store does not depend on their order.
            imageStore(pictures[nonuniformEXT((own + k) % 3)], ivec2(32 * k + i, 20), place);
            imageAtomicAdd(counters[nonuniformEXT(own % 3)], texel, own);
        }
        seen[at + 9] = uvec4(imageAtomicExchange(counters[k % 3], ivec2(i, 20 + k), own));
    }
}
