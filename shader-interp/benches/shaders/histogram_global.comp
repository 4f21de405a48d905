#version 450
// 256 bins, every invocation adds to one of them.
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Bins { uint bins[256]; };
layout(std430, binding = 1) readonly buffer Values { uint values[]; };

void main() {
    atomicAdd(bins[(values[gl_GlobalInvocationID.x] * 2654435761u) >> 24], 1u);
}
