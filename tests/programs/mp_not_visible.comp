// Message passing between two workgroups: the acquire makes nothing visible.
// exec: --groups 2 --buffer 0:0=u32x2 --buffer 0:1=u32x1
// finds: race-not-visible
// names: missing: a visibility operation for (2)
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FIXED
#define ACQUIRE (gl_SemanticsAcquire | gl_SemanticsMakeVisible)
#else
#define ACQUIRE gl_SemanticsAcquire
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42;
        atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, ACQUIRE) == 0u) {
        }
        received = data;
    }
}
