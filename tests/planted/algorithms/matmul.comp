// A tiled matrix product, 16 x 16 in tiles of 8 x 8. Each tile is read by all of the workgroup before the next one replaces it.
//# buffer a 256 f32 1
//# buffer b 256 f32 2
//# buffer c 256 f32
//# bind 0 a
//# bind 1 b
//# bind 2 c
//# subgroup 32
//# dispatch 2 2
//# case fixed
//# final c 32 32 32
//# case no-barrier-after-load NO_LOAD_BARRIER
//# expect race-unordered 1 3
//# expect race-unordered 2 4
//# allow uninitialised-read 3
//# allow uninitialised-read 4
//# case no-barrier-after-use NO_USE_BARRIER
//# expect race-unordered 1 3
//# expect race-unordered 2 4
#version 450

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { float b[]; };
layout(set = 0, binding = 2, std430) writeonly buffer C { float c[]; };

shared float tile_a[8][8];
shared float tile_b[8][8];

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uvec2 me = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint t = 0u; t < 16u; t += 8u) {
        tile_a[me.y][me.x] = a[at.y * 16u + t + me.x]; // @1
        tile_b[me.y][me.x] = b[(t + me.y) * 16u + at.x]; // @2
#ifndef NO_LOAD_BARRIER
        barrier();
#endif
        for (uint k = 0u; k < 8u; k++) {
            float left = tile_a[me.y][k]; // @3
            float right = tile_b[k][me.x]; // @4
            sum += left * right;
        }
#ifndef NO_USE_BARRIER
        barrier();
#endif
    }
    c[at.y * 16u + at.x] = sum;
}
