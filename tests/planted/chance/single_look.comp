// A reader looks at the flag once.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 2
//# some-seeds
//# case fixed
//# case relaxed ACQUIRE=0,0
//# expect race-unordered 1 2
//# case no-make-visible ACQUIRE=gl_StorageSemanticsBuffer,gl_SemanticsAcquire
//# expect race-not-visible 1 2
//# case reader-first ACQUIRE=0,0 WRITER=1
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

#ifndef WRITER
#define WRITER 0
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == WRITER) {
        data = 42; // @1
        atomicStore(flag, 1u, gl_ScopeDevice, RELEASE);
    } else if (atomicLoad(flag, gl_ScopeDevice, ACQUIRE) == 1u) {
        received = data; // @2
    }
}
