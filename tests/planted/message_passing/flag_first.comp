// A flag that is set before the data are there, and by a relaxed atomic: a release at the flag would order
// nothing.
//# buffer words 3 u32
//# bind 0 words
//# dispatch 2
//# case fixed
//# final words 1 42 42
//# case flag-first FLAG_FIRST
//# expect race-unordered 1 2 missing happens-before
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Words { uint flag; uint data; uint got; };

void main() {
    if (gl_WorkGroupID.x == 0u) {
#ifdef FLAG_FIRST
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
        data = 42u; // @1
#else
        data = 42u; // @1
        atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
            gl_SemanticsRelease | gl_SemanticsMakeAvailable);
#endif
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer,
            gl_SemanticsAcquire | gl_SemanticsMakeVisible) == 0u) {
        }
        got = data; // @2
    }
}
