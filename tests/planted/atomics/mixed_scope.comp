// Two workgroups count in one word with atomics that are atomic within a workgroup only.
//# buffer counter 1 u32
//# bind 0 counter
//# dispatch 2
//# case fixed SCOPE=gl_ScopeDevice
//# final counter 64
//# case bug SCOPE=gl_ScopeWorkgroup
//# expect race-mixed-scope-atomics 1 1 missing mutual-scope
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Counter { uint count; };

void main() {
    atomicAdd(count, 1u, SCOPE, 0, 0); // @1
}
