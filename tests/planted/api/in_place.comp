// A dispatch that reads elements and writes over them: its reads need visibility, not only its writes. The push constant chooses: 0 updates
// each element, 1 writes each element and reads its neighbour's new value.
//# buffer a 16 u32
//# bind 0 a
//# push 0
//# case read-not-visible
//# fill a 1
//# barrier clear/transfer-write -> compute/storage-write
//# dispatch 1
//# expect hazard-read-after-write vkCmdFillBuffer 1 fix extend
//# says SHADER_STORAGE_READ to dstAccessMask
//# case read-not-visible-fixed
//# fill a 1
//# barrier clear/transfer-write -> compute/storage-read|storage-write
//# dispatch 1
//# final a 2 2 2
//# case own-values
//# note What is read was written by the dispatch itself.
//# fill a 1
//# barrier clear/transfer-write -> compute/storage-write
//# dispatch 1 push 1
//# final a 2 1 4 3
#version 450

layout(local_size_x = 16) in;
layout(push_constant) uniform Arguments { uint pass; };
layout(set = 0, binding = 0, std430) coherent buffer A { uint a[16]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    if (pass == 0u) {
        a[me] = a[me] + 1u; // @1
    } else {
        a[me] = me + 1u; // @2
        memoryBarrierBuffer();
        barrier();
        memoryBarrierBuffer();
        uint other = a[me ^ 1u]; // @3
        memoryBarrierBuffer();
        barrier();
        memoryBarrierBuffer();
        a[me] = other; // @4
    }
}
