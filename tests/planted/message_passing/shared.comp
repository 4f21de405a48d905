// Message passing between two subgroups of a workgroup through shared memory (shared variables are workgroupcoherent by themselves).
//# buffer result 1 u32
//# bind 0 result
//# subgroup 32
//# dispatch 1
//# case fixed
//# final result 42
//# case relaxed RELEASE=0 ACQUIRE=0 CLASS=0
//# expect race-unordered 1 2
//# case no-acquire ACQUIRE=0 ACQUIRE_CLASS=0
//# expect race-unordered 1 2
//# case no-release RELEASE=0 RELEASE_CLASS=0
//# expect race-unordered 1 2
//# case class CLASS=gl_StorageSemanticsBuffer
//# expect race-storage-class 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef CLASS
#define CLASS gl_StorageSemanticsShared
#endif
#ifndef RELEASE
#define RELEASE gl_SemanticsRelease
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_SemanticsAcquire
#endif
#ifndef RELEASE_CLASS
#define RELEASE_CLASS CLASS
#endif
#ifndef ACQUIRE_CLASS
#define ACQUIRE_CLASS CLASS
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Output { uint received; };

shared uint data;
shared uint flag;

void main() {
    if (gl_LocalInvocationIndex == 0)
        flag = 0;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (gl_LocalInvocationIndex == 0) {
        data = 42; // @1
        atomicStore(flag, 1u, gl_ScopeWorkgroup, RELEASE_CLASS, RELEASE);
    } else if (gl_LocalInvocationIndex == 32) {
        while (atomicLoad(flag, gl_ScopeWorkgroup, ACQUIRE_CLASS, ACQUIRE) == 0u) {
        }
        received = data; // @2
    }
}
