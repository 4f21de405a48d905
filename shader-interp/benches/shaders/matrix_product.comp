#version 450
// Tiled product of two square matrices.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) writeonly buffer C { float c[]; };
layout(std430, binding = 1) readonly buffer A { float a[]; };
layout(std430, binding = 2) readonly buffer B { float b[]; };
layout(push_constant) uniform Parameters { uint size; };
shared float tile_a[16][16];
shared float tile_b[16][16];

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uvec2 me = gl_LocalInvocationID.xy;
    float sum = 0.0;
    for (uint tile = 0; tile < size; tile += 16) {
        tile_a[me.y][me.x] = a[at.y * size + tile + me.x];
        tile_b[me.y][me.x] = b[(tile + me.y) * size + at.x];
        barrier();
        for (uint k = 0; k < 16; k++)
            sum += tile_a[me.y][k] * tile_b[k][me.x];
        barrier();
    }
    c[at.y * size + at.x] = sum;
}
