// A reader sees the second of two flags and takes it that the first, read later, is set as well.
//# buffer state 3 u32
//# buffer result 1 u32
//# bind 0 state
//# bind 1 result
//# dispatch 2
//# some-seeds
//# case fixed
//# case relaxed FIRST=0,0 SECOND=0,0
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

#ifndef FIRST
#define FIRST RELEASE
#endif
#ifndef SECOND
#define SECOND RELEASE
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint flags[2]; uint data; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42u; // @1
        atomicStore(flags[0], 1u, gl_ScopeDevice, FIRST);
        atomicStore(flags[1], 1u, gl_ScopeDevice, SECOND);
    } else {
        uint seen = 0u;
        for (uint i = 0u; i < 10u && seen == 0u; i++)
            seen = atomicLoad(flags[1], gl_ScopeDevice, ACQUIRE);
        if (seen == 1u && atomicLoad(flags[0], gl_ScopeDevice, 0, 0) == 0u)
            received = data; // @2
        else if (seen == 1u)
            received = data + 1u; // @2
    }
}
