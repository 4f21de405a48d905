// One workgroup puts items into a ring, one takes them; each looks at the other's index a bounded number of times.
//# buffer state 4 u32
//# buffer result 2 u32
//# bind 0 state
//# bind 1 result
//# dispatch 2
//# some-seeds
//# case fixed
//# case relaxed-take TAKE=0,0
//# expect race-unordered 1 2
//# case relaxed-reuse REUSE=0,0
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif

#ifndef TAKE
#define TAKE ACQUIRE
#endif
#ifndef REUSE
#define REUSE ACQUIRE
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint head; uint tail; uint slots[2]; };
layout(set = 0, binding = 1, std430) buffer Output { uint sum; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        uint put = 0u;
        for (uint i = 0u; i < 32u && put < 4u; i++) {
            if (put - atomicLoad(head, gl_ScopeDevice, REUSE) < 2u) {
                slots[put & 1u] = put; // @1
                put++;
                atomicStore(tail, put, gl_ScopeDevice, RELEASE);
            }
        }
    } else {
        uint taken = 0u;
        uint total = 0u;
        for (uint i = 0u; i < 32u && taken < 4u; i++) {
            if (atomicLoad(tail, gl_ScopeDevice, TAKE) != taken) {
                total += slots[taken & 1u]; // @2
                taken++;
                atomicStore(head, taken, gl_ScopeDevice, RELEASE);
            }
        }
        sum = total;
    }
}
