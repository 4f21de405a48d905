// A reader tries a few times to read two words between two equal, even sequence numbers.
//# buffer state 3 u32
//# buffer result 2 u32
//# bind 0 state
//# bind 1 result
//# dispatch 2
//# some-seeds
//# case fixed ATOMIC
//# case plain
//# expect race-unordered 1 2
//# allow race-reference 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer State { uint sequence; uint a; uint b; };
layout(set = 0, binding = 1, std430) buffer Output { uint received[2]; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        atomicAdd(sequence, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
#ifdef ATOMIC
        atomicStore(a, 1u, gl_ScopeDevice, 0, 0);
        atomicStore(b, 2u, gl_ScopeDevice, 0, 0);
#else
        a = 1u; // @1
        b = 2u;
#endif
        atomicAdd(sequence, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    } else {
        for (uint i = 0u; i < 4u; i++) {
            uint before = atomicLoad(sequence, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
            if ((before & 1u) != 0u)
                continue;
#ifdef ATOMIC
            received[0] = atomicLoad(a, gl_ScopeDevice, 0, 0);
#else
            received[0] = a; // @2
#endif
            if (atomicAdd(sequence, 0u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible) == before)
                break;
        }
    }
}
