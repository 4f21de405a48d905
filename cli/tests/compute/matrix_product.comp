#version 450
// Tiled product of two square matrices of integers.
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 3) const uint size = 16;
layout(set = 0, binding = 0, std430) readonly buffer A { int a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { int b[]; };
layout(set = 1, binding = 0, std430) writeonly buffer C { int c[]; };

shared int tile_a[8][8];
shared int tile_b[8][8];

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uvec2 me = gl_LocalInvocationID.xy;
    int sum = 0;
    for (uint tile = 0; tile < size; tile += 8) {
        tile_a[me.y][me.x] = a[at.y * size + tile + me.x];
        tile_b[me.y][me.x] = b[(tile + me.y) * size + at.x];
        barrier();
        for (uint k = 0; k < 8; k++)
            sum += tile_a[me.y][k] * tile_b[k][me.x];
        barrier();
    }
    c[at.y * size + at.x] = sum;
}
