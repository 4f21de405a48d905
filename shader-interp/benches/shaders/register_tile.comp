// A matrix product from tiles in shared memory, of which each invocation computes four by four elements in
// loops that store nothing.
#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) buffer Product { float product[]; };
layout(std430, binding = 1) readonly buffer Left { float left[]; };
layout(std430, binding = 2) readonly buffer Right { float right[]; };
layout(push_constant) uniform Size { uint n; };
shared float a[64][16], b[16][64];
void main() {
    uvec2 at = gl_LocalInvocationID.xy, tile = gl_WorkGroupID.xy * 64;
    float sums[4][4];
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) sums[i][j] = 0.0;
    for (uint k = 0; k < n; k += 16) {
        for (uint q = gl_LocalInvocationIndex; q < 1024; q += 256) {
            a[q / 16][q % 16] = left[(tile.y + q / 16) * n + k + q % 16];
            b[q / 64][q % 64] = right[(k + q / 64) * n + tile.x + q % 64];
        }
        barrier();
        for (uint i = 0; i < 4; i++)
            for (uint j = 0; j < 4; j++)
                for (uint t = 0; t < 16; t++) sums[i][j] += a[at.y * 4 + i][t] * b[t][at.x * 4 + j];
        barrier();
    }
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) product[(tile.y + at.y * 4 + i) * n + tile.x + at.x * 4 + j] = sums[i][j];
}
