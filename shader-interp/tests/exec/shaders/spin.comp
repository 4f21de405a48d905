#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
// Even lanes wait for a flag that odd lanes raise afterwards.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
layout(std430, binding = 1) buffer Flag { uint flag; };
void main() {
    uint l = gl_LocalInvocationIndex;
    if ((l & 1u) == 0u) {
        while (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 0u) {}
        o[l] = 1u;
    } else {
        atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
        o[l] = 2u;
    }
}
