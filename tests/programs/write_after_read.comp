// Values rotate through shared memory in a loop; nothing keeps a write from overtaking the reads of the round before.
// exec: --groups 1 --buffer 0:0=u32x64
// finds: race-unordered
// names: ring
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Output { uint results[]; };

shared uint ring[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    ring[me] = me;
    barrier();
    for (int turn = 0; turn < 3; turn++) {
        uint next = ring[(me + 1u) & 63u];
#ifdef FIXED
        barrier();
#endif
        ring[me] = next;
        barrier();
    }
    results[me] = ring[me];
}
