// A reader gives up after some looks at the flag. It races only where it sees the flag in time.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 2
//# some-seeds
//# case fixed
//# case relaxed ACQUIRE=0,0
//# expect race-unordered 1 2
//# case relaxed-few ACQUIRE=0,0 LOOKS=4
//# expect race-unordered 1 2
//# case no-make-visible ACQUIRE=gl_StorageSemanticsBuffer,gl_SemanticsAcquire
//# expect race-not-visible 1 2
//# case no-make-available RELEASE=gl_StorageSemanticsBuffer,gl_SemanticsRelease
//# expect race-not-available 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

#ifndef LOOKS
#define LOOKS 64u
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        atomicStore(flag, 1u, gl_ScopeDevice, RELEASE);
    } else {
        uint seen = 0u;
        for (uint i = 0u; i < LOOKS && seen == 0u; i++)
            seen = atomicLoad(flag, gl_ScopeDevice, ACQUIRE);
        if (seen == 1u)
            received = data; // @2
    }
}
