// Workgroup 0 writes two values of 64 bits; workgroup 1 reads one of the three that there were, whichever:
// nothing orders the read after the writes, whose flag is relaxed.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Message { uint64_t message; };
layout(set = 0, binding = 1) buffer Written { uint written; };
layout(set = 0, binding = 2) buffer Received { uint64_t received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        atomicStore(message, 0x100000002ul, gl_ScopeDevice, 0, 0);
        atomicStore(message, 0x300000002ul, gl_ScopeDevice, 0, 0);
        atomicStore(written, 1u, gl_ScopeDevice, 0, 0);
    } else {
        while (atomicLoad(written, gl_ScopeDevice, 0, 0) == 0) {}
        uint64_t got = atomicLoad(message, gl_ScopeDevice, 0, 0);
        received = got;
    }
}
