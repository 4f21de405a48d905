#version 460
// First values by atomic operations, two for each invocation.
layout(local_size_x = 32) in;
layout(constant_id = 0) const bool uses = false;
layout(constant_id = 1) const bool adds = false;
layout(set = 0, binding = 0) buffer Sums { uint sums[32]; };

shared uint first[64];

void main() {
    uint i = gl_LocalInvocationIndex;
    uint before = atomicExchange(first[i], i);
    if (adds) {
        atomicAdd(first[i + 32], 0);
    }
    atomicExchange(first[i + 32], 2 * i);
    barrier();
    sums[i] = first[i] + first[63 - i] + (uses ? before : 0);
}
