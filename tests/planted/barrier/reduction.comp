// A sum over a workgroup in shared memory. Each case breaks the barrier between writing and summing.
//# buffer values 64 u32 iota
//# buffer result 1 u32
//# bind 0 values
//# bind 1 result
//# subgroup 32
//# dispatch 1
//# case fixed
//# final result 2016
//# case missing NO_BARRIER
//# expect race-unordered 1 2 fix insert-barrier
//# case execution-only CLASS=0 SEMANTICS=0
//# expect race-unordered 1 2
//# case acquire-only SEMANTICS=gl_SemanticsAcquire
//# expect race-unordered 1 2
//# case release-only SEMANTICS=gl_SemanticsRelease
//# expect race-unordered 1 2
//# case class CLASS=gl_StorageSemanticsBuffer
//# expect race-storage-class 1 2
//# case scope SCOPE=gl_ScopeSubgroup
//# expect race-scope 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef CLASS
#define CLASS gl_StorageSemanticsShared
#endif
#ifndef SEMANTICS
#define SEMANTICS gl_SemanticsAcquireRelease
#endif
#ifndef SCOPE
#define SCOPE gl_ScopeWorkgroup
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint total; };

shared uint partial[64];

void main() {
    partial[gl_LocalInvocationIndex] = values[gl_LocalInvocationIndex]; // @1
#ifndef NO_BARRIER
    controlBarrier(gl_ScopeWorkgroup, SCOPE, CLASS, SEMANTICS);
#endif
    if (gl_LocalInvocationIndex == 0) {
        uint sum = 0;
        for (uint i = 0; i < 64; i++)
            sum += partial[i]; // @2
        total = sum;
    }
}
