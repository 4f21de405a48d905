// Message passing between two workgroups: the payload is a texel of a storage image, the flag is in a buffer.
//# image payload r32ui 4 4
//# buffer flags 1 u32
//# buffer result 1 u32
//# bind 0 payload
//# bind 1 flags
//# bind 2 result
//# dispatch 2
//# case fixed
//# final result 42
//# case no-make-available RELEASE=gl_SemanticsRelease
//# expect race-not-available 1 2 missing availability fix make-available
//# case no-make-visible ACQUIRE=gl_SemanticsAcquire
//# expect race-not-visible 1 2 missing visibility fix make-visible
//# case relaxed RELEASE=0 ACQUIRE=0 CLASS=0
//# expect race-unordered 1 2
//# case private QUALIFIER=
//# expect race-private 1 2
//# case class CLASS=gl_StorageSemanticsBuffer
//# expect race-storage-class 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif
#ifndef CLASS
#define CLASS gl_StorageSemanticsImage
#endif
#ifndef QUALIFIER
#define QUALIFIER nonprivate
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, r32ui) QUALIFIER uniform uimage2D payload;
layout(set = 0, binding = 1, std430) buffer Flags { uint flag; };
layout(set = 0, binding = 2, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        imageStore(payload, ivec2(1, 2), uvec4(42)); // @1
        atomicStore(flag, 1u, gl_ScopeDevice, CLASS, RELEASE);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, CLASS, ACQUIRE) == 0u) {
        }
        received = imageLoad(payload, ivec2(1, 2)).x; // @2
    }
}
