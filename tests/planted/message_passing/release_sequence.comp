// The flag passes through a read-modify-write of a third workgroup, which continues the release sequence; a plain atomic store of another
// invocation does not.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 3
//# case fixed
//# final result 42
//# case broken-by-store STORE
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                    gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    } else if (gl_WorkGroupID.x == 1) {
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) != 1u) {
        }
#ifdef STORE
        atomicStore(flag, 2u, gl_ScopeDevice, 0, 0);
#else
        atomicAdd(flag, 1u, gl_ScopeDevice, 0, 0);
#endif
    } else {
        // Relaxed until the last value is there: a read of 1 must not synchronise.
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) != 2u) {
        }
        atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
        received = data; // @2
    }
}
