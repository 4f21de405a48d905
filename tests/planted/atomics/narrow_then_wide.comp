// An atomic of workgroup scope before one of device scope by the same invocation: atomics of other
// workgroups are mutually ordered with the second alone.
//# buffer counter 1 u32
//# bind 0 counter
//# subgroup 32
//# dispatch 2
//# case fixed
//# final counter 129
//# case narrow NARROW
//# expect race-mixed-scope-atomics 1 2 missing mutual-scope
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef NARROW
#define FIRST gl_ScopeWorkgroup
#else
#define FIRST gl_ScopeDevice
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Counter { uint counter; };

void main() {
    if (gl_GlobalInvocationID.x == 0u)
        atomicAdd(counter, 1u, FIRST, 0, 0); // @1
    atomicAdd(counter, 1u, gl_ScopeDevice, 0, 0); // @2
}
