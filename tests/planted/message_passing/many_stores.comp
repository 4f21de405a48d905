// Many available stores between the first one and the release: what is missing is told all the same.
//# buffer flag 1 u32
//# buffer got 1 u32
//# buffer data 64 u32
//# bind 0 flag
//# bind 1 got
//# bind 2 data
//# dispatch 2
//# case fixed SEMANTICS=gl_SemanticsAcquire|gl_SemanticsMakeVisible
//# final got 42
//# case not-visible SEMANTICS=gl_SemanticsAcquire
//# expect race-not-visible 1 2 missing visibility fix make-visible
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Flag { uint flag; };
layout(set = 0, binding = 1, std430) nonprivate buffer Got { uint got; };
layout(set = 0, binding = 2, std430) nonprivate workgroupcoherent buffer Data { uint data[]; };

void main() {
    if (gl_WorkGroupID.x == 0u) {
        for (uint k = 0u; k < 64u; k++)
            data[k] = 42u; // @1
        atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
            gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, SEMANTICS) == 0u) {
        }
        got = data[0]; // @2
    }
}
