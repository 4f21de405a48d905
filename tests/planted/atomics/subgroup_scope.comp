// Two subgroups of a workgroup count in shared memory with atomics of subgroup scope.
//# buffer result 1 u32
//# bind 0 result
//# subgroup 32
//# dispatch 1
//# case fixed SCOPE=gl_ScopeWorkgroup
//# final result 64
//# case bug SCOPE=gl_ScopeSubgroup
//# expect race-mixed-scope-atomics 1 1
//# note An atomic of subgroup scope is available to, and visible from, its subgroup only.
//# allow race-not-available 1 2
//# allow race-not-visible 3 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint result; };

shared uint count;

void main() {
    if (gl_LocalInvocationIndex == 0)
        count = 0u; // @3
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    atomicAdd(count, 1u, SCOPE, 0, 0); // @1
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (gl_LocalInvocationIndex == 0)
        result = count; // @2
}
