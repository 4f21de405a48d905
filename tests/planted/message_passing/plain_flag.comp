// The flag itself is not atomic: it races, and what it guards does too.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 2
//# case fixed FIXED
//# final result 42
//# case bug
//# expect race-unordered 1 4
//# expect race-unordered 2 3
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) devicecoherent buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
#ifdef FIXED
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
#else
        flag = 1; // @2
#endif
    } else {
#ifdef FIXED
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) == 0u) {
        }
#else
        for (int i = 0; i < 100 && flag == 0u; i++) { // @3
        }
#endif
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
        received = data; // @4
    }
}
