// Message passing with per-instruction availability and visibility: the qualifier of the block names the scope.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 2
//# case fixed
//# final result 42
//# case workgroupcoherent QUALIFIER=workgroupcoherent
//# expect race-not-available 1 2
//# case subgroupcoherent QUALIFIER=subgroupcoherent
//# expect race-not-available 1 2
//# case nonprivate QUALIFIER=nonprivate
//# expect race-not-available 1 2
//# case unqualified QUALIFIER=
//# expect race-private 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef QUALIFIER
#define QUALIFIER devicecoherent
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) QUALIFIER buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 0u) {
        }
        received = data; // @2
    }
}
