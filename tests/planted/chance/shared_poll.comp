// Within a workgroup one subgroup polls, for some turns, what another publishes in workgroup memory.
//# buffer result 64 u32
//# bind 0 result
//# dispatch 1
//# some-seeds
//# case fixed
//# case relaxed ACQUIRE=0,0
//# expect race-unordered 1 2
//# case relaxed-store RELEASE=0,0
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_StorageSemanticsShared, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_StorageSemanticsShared, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Output { uint received[64]; };
shared uint flag;
shared uint data;

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me == 0u)
        atomicStore(flag, 0u, gl_ScopeWorkgroup, 0, 0);
    barrier();
    if (me == 0u) {
        data = 42u; // @1
        atomicStore(flag, 1u, gl_ScopeWorkgroup, RELEASE);
    } else if (me == 63u) {
        uint seen = 0u;
        for (uint i = 0u; i < 16u && seen == 0u; i++)
            seen = atomicLoad(flag, gl_ScopeWorkgroup, ACQUIRE);
        if (seen == 1u)
            received[me] = data; // @2
    }
}
