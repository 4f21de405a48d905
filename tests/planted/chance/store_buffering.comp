// Two workgroups announce themselves and look whether the other has; acquire and release do not keep both out.
//# buffer state 3 u32
//# bind 0 state
//# dispatch 2
//# some-seeds
//# case fixed UPDATES
//# case bug
//# expect race-unordered 1 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint wants[2]; uint counter; };

const int acquire = gl_SemanticsAcquire | gl_SemanticsMakeVisible;
const int release = gl_SemanticsRelease | gl_SemanticsMakeAvailable;
const int both = gl_SemanticsAcquireRelease | gl_SemanticsMakeVisible | gl_SemanticsMakeAvailable;

void main() {
    uint me = gl_WorkGroupID.x;
#ifdef UPDATES
    atomicExchange(wants[me], 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, both);
    bool alone = atomicAdd(wants[me ^ 1u], 0u, gl_ScopeDevice, gl_StorageSemanticsBuffer, both) == 0u;
#else
    atomicStore(wants[me], 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, release);
    bool alone = atomicLoad(wants[me ^ 1u], gl_ScopeDevice, gl_StorageSemanticsBuffer, acquire) == 0u;
#endif
    if (alone)
        counter = counter + 1u; // @1
}
