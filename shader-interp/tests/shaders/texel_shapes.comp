#version 450
#extension GL_EXT_shader_image_load_formatted : require
// Reads, fetches, writes and atomics of texels of images of all shapes and of texel buffers, in a loop, some
// of them out of bounds and by some lanes.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Places { ivec4 places[]; };
layout(set = 0, binding = 1) readonly buffer Values { uvec4 values[]; };
layout(set = 0, binding = 2) writeonly buffer Seen { uvec4 seen[]; };

#define IMAGES(k, shape) \
    layout(set = 1, binding = k) uniform readonly uimage##shape from##shape; \
    layout(set = 2, binding = k) uniform writeonly uimage##shape to##shape; \
    layout(set = 3, binding = k, r32ui) uniform uimage##shape words##shape; \
    layout(set = 4, binding = k) uniform usampler##shape fetched##shape;
IMAGES(0, 1D)
IMAGES(1, 1DArray)
IMAGES(2, 2D)
IMAGES(3, 2DArray)
IMAGES(4, 3D)
IMAGES(5, Cube)
IMAGES(6, Buffer)

#define LEVEL(shape, place) texelFetch(fetched##shape, place, 0)
#define ONLY(shape, place) texelFetch(fetched##shape, place)
#define NONE(shape, place) uvec4(0)
#define TURN(shape, place, fetch) \
    texel += imageLoad(from##shape, place); \
    if ((i + 5 * k) % 7 < 6) { \
        texel = texel.yzwx + fetch(shape, place); \
        imageStore(to##shape, place, value); \
        texel.x += imageAtomicAdd(words##shape, place, value.x); \
        imageAtomicMax(words##shape, place, value.y); \
        texel.y += imageAtomicExchange(words##shape, place, value.z); \
        texel.z += imageAtomicCompSwap(words##shape, place, value.z, value.w); \
        texel.w += imageAtomicAdd(words##shape, place, 1); \
    }

void main() {
    uint i = gl_LocalInvocationIndex;
    for (uint k = 0; k < 8; k++) {
        uint at = 32 * k + i;
        ivec3 place = places[at].xyz;
        uvec4 value = values[at], texel = value;
        TURN(1D, place.x, LEVEL)
        TURN(1DArray, place.xy, LEVEL)
        TURN(2D, place.xy, LEVEL)
        TURN(2DArray, place, LEVEL)
        TURN(3D, place, LEVEL)
        TURN(Cube, place, NONE)
        TURN(Buffer, place.x, ONLY)
        texel += texelFetch(fetched2D, place.xy, 1).wzyx + texelFetch(fetched3D, place, 2);
        seen[at] = texel;
    }
}
