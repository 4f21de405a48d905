// Message passing between two workgroups with relaxed atomics and fences. Each case leaves out one element.
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
//# case no-release-fence NO_RELEASE
//# expect race-unordered 1 2
//# case no-acquire-fence NO_ACQUIRE
//# expect race-unordered 1 2
//# case scope RELEASE_SCOPE=gl_ScopeWorkgroup ACQUIRE_SCOPE=gl_ScopeWorkgroup
//# expect race-scope 1 2
//# case release-scope RELEASE_SCOPE=gl_ScopeWorkgroup
//# expect race-scope 1 2
//# case acquire-scope ACQUIRE_SCOPE=gl_ScopeWorkgroup
//# expect race-scope 1 2
//# case class CLASS=gl_StorageSemanticsShared
//# expect race-storage-class 1 2
//# case fence-after-store FENCE_AFTER_STORE
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif
#ifndef RELEASE_SCOPE
#define RELEASE_SCOPE gl_ScopeDevice
#endif
#ifndef ACQUIRE_SCOPE
#define ACQUIRE_SCOPE gl_ScopeDevice
#endif
#ifndef CLASS
#define CLASS gl_StorageSemanticsBuffer
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
#ifdef FENCE_AFTER_STORE
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
        memoryBarrier(RELEASE_SCOPE, CLASS, RELEASE);
#else
#ifndef NO_RELEASE
        memoryBarrier(RELEASE_SCOPE, CLASS, RELEASE);
#endif
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
#endif
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) == 0u) {
        }
#ifndef NO_ACQUIRE
        memoryBarrier(ACQUIRE_SCOPE, CLASS, ACQUIRE);
#endif
        received = data; // @2
    }
}
