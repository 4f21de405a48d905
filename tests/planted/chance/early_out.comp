// A search in which everybody looks now and then whether somebody has found it, and then reads where.
//# buffer state 2 u32
//# buffer result 4 u32
//# bind 0 state
//# bind 1 result
//# dispatch 4
//# some-seeds
//# case fixed
//# case relaxed ACQUIRE=0,0
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

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint found; uint place; };
layout(set = 0, binding = 1, std430) buffer Output { uint received[4]; };

void main() {
    uint me = gl_WorkGroupID.x;
    for (uint i = 0u; i < 12u; i++) {
        if (i * 4u + me == 13u) {
            place = i; // @1
            atomicStore(found, 1u, gl_ScopeDevice, RELEASE);
            break;
        }
        if (i % 4u == 3u && atomicLoad(found, gl_ScopeDevice, ACQUIRE) == 1u) {
            received[me] = place; // @2
            break;
        }
    }
}
