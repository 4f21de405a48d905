// A message that goes on: workgroup 0 tells 1, which tells 2. Availability made at device scope by the first reaches the third.
//# buffer message 3 u32
//# buffer result 1 u32
//# bind 0 message
//# bind 1 result
//# dispatch 3
//# case fixed
//# final result 42
//# case no-hop NO_HOP
//# expect race-unordered 1 2
//# case no-make-visible LAST=gl_SemanticsAcquire
//# expect race-not-visible 1 2
//# case hop-class HOP_CLASS=gl_StorageSemanticsShared
//# expect race-storage-class 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef HOP
#define HOP gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
#endif
#ifndef HOP_CLASS
#define HOP_CLASS gl_StorageSemanticsBuffer
#endif
#ifndef LAST
#define LAST gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Message { uint data; uint first; uint second; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        data = 42; // @1
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
        atomicStore(first, 1u, gl_ScopeDevice, 0, 0);
    } else if (gl_WorkGroupID.x == 1) {
        while (atomicLoad(first, gl_ScopeDevice, 0, 0) == 0u) {
        }
#ifndef NO_HOP
        memoryBarrier(gl_ScopeDevice, HOP_CLASS, HOP);
#endif
        atomicStore(second, 1u, gl_ScopeDevice, 0, 0);
    } else {
        while (atomicLoad(second, gl_ScopeDevice, 0, 0) == 0u) {
        }
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, LAST);
        received = data; // @2
    }
}
