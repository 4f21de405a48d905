// Two workgroups take two locks in opposite order; each then waits for the other for ever.
//# buffer locks 4 u32
//# bind 0 locks
//# dispatch 2
//# case fixed FIXED
//# case bug
//# expect livelock 1
//# lost
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Locks { uint locks[2]; uint arrived; };

void take(uint which) {
    while (atomicCompSwap(locks[which], 0u, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, // @1
                          gl_SemanticsAcquire | gl_SemanticsMakeVisible, 0, 0) != 0u) { // @1
    }
}

void main() {
#ifdef FIXED
    uint first = 0u;
#else
    uint first = gl_WorkGroupID.x;
#endif
    take(first);
#ifndef FIXED
    atomicAdd(arrived, 1u, gl_ScopeDevice, 0, 0);
    while (atomicLoad(arrived, gl_ScopeDevice, 0, 0) != 2u) {
    }
#endif
    take(first ^ 1u);
    for (uint i = 0u; i < 2u; i++)
        atomicStore(locks[i], 0u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                    gl_SemanticsRelease | gl_SemanticsMakeAvailable);
}
