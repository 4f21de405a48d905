#version 450
// The sum of 256 words through shared memory.
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Sums { uint sums[]; };
layout(std430, binding = 1) readonly buffer Words { uint words[]; };
shared uint partial[256];
void main() {
    uint l = gl_LocalInvocationIndex;
    partial[l] = words[gl_GlobalInvocationID.x];
    barrier();
    for (uint s = 128u; s > 0u; s >>= 1) {
        if (l < s) partial[l] += partial[l + s];
        barrier();
    }
    if (l == 0u) sums[gl_WorkGroupID.x] = partial[0];
}
