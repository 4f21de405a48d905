// Message passing between two workgroups through a buffer. Each case leaves out one element of the synchronisation.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 2
//# case fixed
//# final result 42
//# case no-make-available RELEASE=gl_SemanticsRelease
//# expect race-not-available 1 2 missing availability fix make-available
//# case no-make-visible ACQUIRE=gl_SemanticsAcquire
//# expect race-not-visible 1 2 missing visibility fix make-visible
//# case no-release RELEASE=0 RELEASE_CLASS=0
//# expect race-unordered 1 2
//# case no-acquire ACQUIRE=0 ACQUIRE_CLASS=0
//# expect race-unordered 1 2
//# case private QUALIFIER=
//# expect race-private 1 2 missing non-private
//# case release-class RELEASE_CLASS=gl_StorageSemanticsShared
//# expect race-storage-class 1 2 missing storage-class
//# case acquire-class ACQUIRE_CLASS=gl_StorageSemanticsImage
//# expect race-storage-class 1 2 missing storage-class
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif
#ifndef RELEASE_CLASS
#define RELEASE_CLASS gl_StorageSemanticsBuffer
#endif
#ifndef ACQUIRE_CLASS
#define ACQUIRE_CLASS gl_StorageSemanticsBuffer
#endif
#ifndef QUALIFIER
#define QUALIFIER nonprivate
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) QUALIFIER buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        atomicStore(flag, 1u, gl_ScopeDevice, RELEASE_CLASS, RELEASE);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, ACQUIRE_CLASS, ACQUIRE) == 0u) {
        }
        received = data; // @2
    }
}
