#version 450
// Inclusive sums of each workgroup's 256 values.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };

shared uint sums[256];

void main() {
    uint me = gl_LocalInvocationIndex;
    sums[me] = values[gl_GlobalInvocationID.x];
    barrier();
    for (uint step = 1; step < 256; step *= 2) {
        uint below = me >= step ? sums[me - step] : 0;
        barrier();
        sums[me] += below;
        barrier();
    }
    values[gl_GlobalInvocationID.x] = sums[me];
}
