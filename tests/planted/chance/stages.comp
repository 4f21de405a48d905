// Three workgroups, each waits for the one before with a bounded number of looks; the last reads what the first wrote.
//# buffer state 4 u32
//# buffer result 1 u32
//# bind 0 state
//# bind 1 result
//# dispatch 3
//# some-seeds
//# case fixed
//# case middle-relaxed MIDDLE=0,0
//# expect race-unordered 1 2
//# case last-not-visible ACQUIRE=gl_StorageSemanticsBuffer,gl_SemanticsAcquire
//# expect race-not-visible 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

#ifndef MIDDLE
#define MIDDLE gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint flags[3]; uint data; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    uint me = gl_WorkGroupID.x;
    if (me == 0u) {
        data = 42u; // @1
        atomicStore(flags[0], 1u, gl_ScopeDevice, RELEASE);
    } else if (me == 1u) {
        uint seen = 0u;
        for (uint i = 0u; i < 20u && seen == 0u; i++)
            seen = atomicLoad(flags[0], gl_ScopeDevice, MIDDLE);
        if (seen == 1u)
            atomicStore(flags[1], 1u, gl_ScopeDevice, RELEASE);
    } else {
        uint seen = 0u;
        for (uint i = 0u; i < 40u && seen == 0u; i++)
            seen = atomicLoad(flags[1], gl_ScopeDevice, ACQUIRE);
        if (seen == 1u)
            received = data; // @2
    }
}
