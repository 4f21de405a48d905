// Message passing between two workgroups: everything is ordered, but the payload is private.
// exec: --groups 2 --buffer 0:0=u32x1 --buffer 0:1=u32x1 --buffer 0:2=u32x1
// finds: race-private
// names: is private
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FIXED
#define QUALIFIER nonprivate
#else
#define QUALIFIER
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) QUALIFIER buffer Message { uint data; };
layout(set = 0, binding = 1, std430) buffer Flag { uint flag; };
layout(set = 0, binding = 2, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42;
        atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible) == 0u) {
        }
        received = data;
    }
}
