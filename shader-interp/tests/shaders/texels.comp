#version 450
#extension GL_EXT_shader_image_load_formatted : require
// Reads and writes texels of images of any format, in a loop, some of them out of bounds and by some lanes.
// TYPE, IMAGE and FETCHED name the components: floats, signed or unsigned integers.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) uniform readonly IMAGE from;
layout(set = 0, binding = 1) uniform writeonly IMAGE to;
layout(set = 0, binding = 2) uniform FETCHED fetched;
layout(set = 0, binding = 3) readonly buffer Places { ivec2 places[]; };
layout(set = 0, binding = 4) readonly buffer Values { TYPE values[]; };
layout(set = 0, binding = 5) writeonly buffer Seen { TYPE seen[]; };

void main() {
    uint i = gl_LocalInvocationIndex;
    uint first = 32 * 8 * gl_WorkGroupID.x + i;
    for (uint k = 0; k < 8; k++) {
        uint at = first + 32 * k;
        ivec2 place = places[at];
        TYPE texel = imageLoad(from, place);
        seen[2 * at] = texel;
        if ((i + 5 * k) % 7 < 6) {
            texel.xy = texelFetch(fetched, place, 0).zx;
            imageStore(to, ivec2(at % 64, at / 64), values[at]);
        }
        seen[2 * at + 1] = texel;
    }
}
