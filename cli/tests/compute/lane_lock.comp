// Every invocation takes a lock in a loop of its own: the one that has it is parked while the others of its subgroup spin.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint lock; uint count; };

void main() {
    while (atomicCompSwap(lock, 0, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                          gl_SemanticsAcquire | gl_SemanticsMakeVisible, 0, 0) != 0) {
    }
    count = count + 1;
    atomicStore(lock, 0u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                gl_SemanticsRelease | gl_SemanticsMakeAvailable);
}
