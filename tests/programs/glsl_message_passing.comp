// Plain GLSL: message passing between workgroups without memory barriers.
// exec: --groups 2 --buffer 0:0=u32x2 --buffer 0:1=u32x1
// finds: race-unordered
// names: missing: a happens-before path between (1) and (2)
#version 450

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) coherent buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42;
#ifdef FIXED
        memoryBarrierBuffer();
#endif
        atomicExchange(flag, 1u);
    } else {
        while (atomicAdd(flag, 0u) == 0u) {
        }
#ifdef FIXED
        memoryBarrierBuffer();
#endif
        received = data;
    }
}
