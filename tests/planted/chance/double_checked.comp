// Who finds a table not ready fills it under a lock; who finds it ready reads it, without having acquired it.
//# buffer state 3 u32
//# buffer result 4 u32
//# bind 0 state
//# bind 1 result
//# dispatch 4
//# some-seeds
//# case fixed
//# case relaxed CHECK=0,0
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

#ifndef CHECK
#define CHECK gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint ready; uint lock; uint table; };
layout(set = 0, binding = 1, std430) buffer Output { uint received[4]; };

void main() {
    if (atomicLoad(ready, gl_ScopeDevice, CHECK) == 0u) {
        while (atomicCompSwap(lock, 0u, 1u, gl_ScopeDevice, ACQUIRE, 0, 0) != 0u) {
        }
        if (atomicLoad(ready, gl_ScopeDevice, 0, 0) == 0u) {
            table = 42u; // @1
            atomicStore(ready, 1u, gl_ScopeDevice, RELEASE);
        }
        atomicStore(lock, 0u, gl_ScopeDevice, RELEASE);
    }
    received[gl_WorkGroupID.x] = table; // @2
}
