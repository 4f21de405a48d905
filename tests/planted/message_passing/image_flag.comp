// Message passing between two workgroups: the flag is a texel of a storage image, the payload is in a buffer.
//# image flags r32ui 4 4
//# buffer message 1 u32
//# buffer result 1 u32
//# bind 0 flags
//# bind 1 message
//# bind 2 result
//# dispatch 2
//# case fixed
//# final result 42
//# case fence-without-image CLASS=gl_StorageSemanticsBuffer
//# note A fence synchronises through an atomic only if its semantics hold the atomic's own storage class.
//# expect race-storage-class 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef CLASS
#define CLASS gl_StorageSemanticsBuffer | gl_StorageSemanticsImage
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D flags;
layout(set = 0, binding = 1, std430) nonprivate buffer Message { uint data; };
layout(set = 0, binding = 2, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        memoryBarrier(gl_ScopeDevice, CLASS, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
        imageAtomicStore(flags, ivec2(0), 1u, gl_ScopeDevice, 0, 0);
    } else {
        while (imageAtomicLoad(flags, ivec2(0), gl_ScopeDevice, 0, 0) == 0u) {
        }
        memoryBarrier(gl_ScopeDevice, CLASS, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
        received = data; // @2
    }
}
