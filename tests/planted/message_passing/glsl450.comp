// Plain GLSL: message passing between workgroups with memoryBarrier() and coherent.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 2
//# case fixed
//# final result 42
//# case no-memory-barrier BARRIER=
//# expect race-unordered 1 2
//# case not-coherent COHERENT=
//# expect race-private 1 2
//# case group-memory-barrier BARRIER=groupMemoryBarrier()
//# expect race-scope 1 2
//# case shared-memory-barrier BARRIER=memoryBarrierShared()
//# expect race-storage-class 1 2
//# case image-memory-barrier BARRIER=memoryBarrierImage()
//# expect race-storage-class 1 2
#version 450

#ifndef BARRIER
#define BARRIER memoryBarrierBuffer()
#endif
#ifndef COHERENT
#define COHERENT coherent
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) COHERENT buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        BARRIER;
        atomicExchange(flag, 1u);
    } else {
        while (atomicAdd(flag, 0u) == 0u) {
        }
        BARRIER;
        received = data; // @2
    }
}
