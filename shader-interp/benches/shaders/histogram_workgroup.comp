#version 450
// 256 bins, first in workgroup memory.
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Bins { uint bins[256]; };
layout(std430, binding = 1) readonly buffer Values { uint values[]; };
shared uint counts[256];

void main() {
    uint me = gl_LocalInvocationIndex;
    counts[me] = 0;
    barrier();
    atomicAdd(counts[(values[gl_GlobalInvocationID.x] * 2654435761u) >> 24], 1u);
    barrier();
    if (counts[me] != 0)
        atomicAdd(bins[me], counts[me]);
}
