#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) buffer Bins { uint bins[16]; };

shared uint counts[16];

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me < 16)
        counts[me] = 0;
    barrier();
    uint value = values[gl_GlobalInvocationID.x];
    atomicAdd(counts[(value * 2654435761u) >> 28], 1u);
    barrier();
    if (me < 16)
        atomicAdd(bins[me], counts[me]);
}
