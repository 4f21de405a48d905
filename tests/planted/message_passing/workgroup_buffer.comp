// Message passing between two subgroups of one workgroup through a buffer, at workgroup scope.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# subgroup 32
//# dispatch 1
//# case fixed
//# final result 42
//# case subgroup-scope SCOPE=gl_ScopeSubgroup
//# expect race-scope 1 2
//# case no-make-visible ACQUIRE=gl_SemanticsAcquire
//# expect race-not-visible 1 2 missing visibility fix make-visible
//# case no-make-available RELEASE=gl_SemanticsRelease
//# expect race-not-available 1 2 missing availability fix make-available
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef SCOPE
#define SCOPE gl_ScopeWorkgroup
#endif
#ifndef RELEASE
#define RELEASE gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_LocalInvocationIndex == 0) {
        data = 42; // @1
        memoryBarrier(SCOPE, gl_StorageSemanticsBuffer, RELEASE);
        atomicStore(flag, 1u, gl_ScopeWorkgroup, 0, 0);
    } else if (gl_LocalInvocationIndex == 32) {
        while (atomicLoad(flag, gl_ScopeWorkgroup, 0, 0) == 0u) {
        }
        memoryBarrier(SCOPE, gl_StorageSemanticsBuffer, ACQUIRE);
        received = data; // @2
    }
}
