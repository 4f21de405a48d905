// Texels outside of images and of a texel buffer: written, updated and read.
//# image plane r32ui 8 4
//# image volume rgba32ui 4 4 deep 3 5
//# buffer cells 10 u32 7
//# buffer results 8 u32
//# bind 0 plane
//# bind 1 volume
//# texel 2 cells
//# bind 3 results
//# push 0
//# notes
//# dispatch 1
//# case fixed
//# final results 12
//# case write WRITE
//# expect out-of-bounds-robust 1
//# says in image "plane" (set 0, binding 0): texel (0, -1)
//# says the image has 8x4 texels (R32_UINT)
//# case update UPDATE
//# expect out-of-bounds 2
//# says in image "plane" (set 0, binding 0): texel (8, 3)
//# case volume VOLUME
//# expect out-of-bounds 3
//# says in image "volume" (set 0, binding 1): texel (0, 1, 3)
//# says the image has 4x4x3 texels (R32G32B32A32_UINT)
//# case buffer BUFFER
//# expect out-of-bounds 4
//# says in texel buffer "cells" (set 0, binding 2): texel 10
//# says the texel buffer has 10 texels (R32_UINT)
//# case race RACE
//# expect race-private 5 5
//# says both in image "volume" (set 0, binding 1): texel (3, 2, 1)
#version 450

layout(local_size_x = 8) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D plane;
layout(set = 0, binding = 1, rgba32ui) uniform uimage3D volume;
layout(set = 0, binding = 2, r32ui) uniform uimageBuffer cells;
layout(set = 0, binding = 3, std430) writeonly buffer Output { uint results[]; };
layout(push_constant) uniform Arguments { int zero; };

void main() {
    int me = int(gl_LocalInvocationIndex);
    int row = zero, column = me, slice = 0, cell = me;
#ifdef WRITE
    row = -1;
#endif
    imageStore(plane, ivec2(me, row), uvec4(1)); // @1
#ifdef UPDATE
    column = me + 8;
#endif
    imageAtomicAdd(plane, ivec2(column, 3), 1u); // @2
#ifdef VOLUME
    slice = 3;
#endif
    uint sum = imageLoad(volume, ivec3(me & 3, 1, slice)).y; // @3
#ifdef BUFFER
    cell = me + 10;
#endif
    sum += imageLoad(cells, cell).x; // @4
#ifdef RACE
    imageStore(volume, ivec3(3, 2, 1), uvec4(me)); // @5
#endif
    results[me] = sum;
}
