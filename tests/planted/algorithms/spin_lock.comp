// A spin lock guards a counter that is not atomic.
//# buffer guarded 2 u32
//# bind 0 guarded
//# dispatch 4
//# case fixed
//# final guarded[1] 4
//# case relaxed-unlock UNLOCK=0 UNLOCK_CLASS=0
//# expect race-unordered 1 1
//# case relaxed-lock LOCK=0 LOCK_CLASS=0
//# expect race-unordered 1 1
//# case no-make-visible LOCK=gl_SemanticsAcquire
//# expect race-not-visible 1 1
//# case no-make-available UNLOCK=gl_SemanticsRelease
//# expect race-not-available 1 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef LOCK
#define LOCK gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif
#ifndef UNLOCK
#define UNLOCK gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef LOCK_CLASS
#define LOCK_CLASS gl_StorageSemanticsBuffer
#endif
#ifndef UNLOCK_CLASS
#define UNLOCK_CLASS gl_StorageSemanticsBuffer
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Guarded { uint lock; uint count; };

void main() {
    while (atomicCompSwap(lock, 0u, 1u, gl_ScopeDevice, LOCK_CLASS, LOCK, 0, 0) != 0u) {
    }
    uint before = count; // @1
    count = before + 1u; // @1
    atomicStore(lock, 0u, gl_ScopeDevice, UNLOCK_CLASS, UNLOCK);
}
