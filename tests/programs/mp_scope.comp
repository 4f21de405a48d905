// Message passing between two workgroups: the fences reach no further than the workgroup.
// exec: --groups 2 --buffer 0:0=u32x2 --buffer 0:1=u32x1
// finds: race-scope
// names: it takes
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FIXED
#define SCOPE gl_ScopeDevice
#else
#define SCOPE gl_ScopeWorkgroup
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42;
        memoryBarrier(SCOPE, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) == 0u) {
        }
        memoryBarrier(SCOPE, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
        received = data;
    }
}
