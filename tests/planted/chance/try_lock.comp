// A lock that is tried a few times; it orders nothing.
//# buffer state 2 u32
//# bind 0 state
//# dispatch 2
//# some-seeds
//# case fixed
//# case relaxed-lock ACQUIRE=0,0
//# expect race-unordered 1 1
//# case relaxed-unlock RELEASE=0,0
//# expect race-unordered 1 1
//# case once ACQUIRE=0,0 TRIES=1u
//# expect race-unordered 1 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

#ifndef TRIES
#define TRIES 8u
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint lock; uint counter; };

void main() {
    for (uint i = 0u; i < TRIES; i++) {
        if (atomicCompSwap(lock, 0u, 1u, gl_ScopeDevice, ACQUIRE, 0, 0) == 0u) {
            counter = counter + 1u; // @1
            atomicStore(lock, 0u, gl_ScopeDevice, RELEASE);
            break;
        }
    }
}
