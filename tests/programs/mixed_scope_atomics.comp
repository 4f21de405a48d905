// Two workgroups count in one word with atomics that are atomic within a workgroup only.
// exec: --groups 2 --buffer 0:0=u32x1
// finds: race-mixed-scope-atomics
// names: mutually ordered
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FIXED
#define SCOPE gl_ScopeDevice
#else
#define SCOPE gl_ScopeWorkgroup
#endif

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Counter { uint count; };

void main() {
    atomicAdd(count, 1u, SCOPE, 0, 0);
}
