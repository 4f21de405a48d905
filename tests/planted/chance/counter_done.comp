// Workers count themselves done; one looks a few times whether all are, then reads what they wrote.
//# buffer state 5 u32
//# buffer result 1 u32
//# bind 0 state
//# bind 1 result
//# dispatch 5
//# some-seeds
//# case fixed
//# case relaxed-count COUNT=0,0
//# expect race-unordered 1 2
//# case relaxed-look ACQUIRE=0,0
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

#ifndef COUNT
#define COUNT gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint done; uint parts[4]; };
layout(set = 0, binding = 1, std430) buffer Output { uint total; };

void main() {
    uint me = gl_WorkGroupID.x;
    if (me < 4u) {
        parts[me] = me; // @1
        atomicAdd(done, 1u, gl_ScopeDevice, COUNT);
    } else {
        for (uint i = 0u; i < 24u; i++) {
            if (atomicLoad(done, gl_ScopeDevice, ACQUIRE) == 4u) {
                total = parts[0] + parts[3]; // @2
                break;
            }
        }
    }
}
