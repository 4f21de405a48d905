// A work queue: a producer fills a slot and then publishes it by raising the count; consumers take slots below the count.
//# buffer slots 16 u32
//# buffer results 16 u32
//# bind 0 slots
//# bind 1 results
//# dispatch 3
//# case fixed
//# case publish-first PUBLISH_FIRST
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Slots { uint published; uint taken; uint items[8]; };
layout(set = 0, binding = 1, std430) buffer Output { uint results[]; };

void main() {
    const int release = gl_SemanticsRelease | gl_SemanticsMakeAvailable;
    const int acquire = gl_SemanticsAcquire | gl_SemanticsMakeVisible;
    if (gl_WorkGroupID.x == 0) {
        for (uint i = 0u; i < 4u; i++) {
#ifdef PUBLISH_FIRST
            atomicStore(published, i + 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, release);
            items[i] = 100u + i; // @1
#else
            items[i] = 100u + i;
            atomicStore(published, i + 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, release);
#endif
        }
    } else {
        for (uint n = 0u; n < 2u; n++) {
            uint slot = atomicAdd(taken, 1u, gl_ScopeDevice, 0, 0);
            while (atomicLoad(published, gl_ScopeDevice, gl_StorageSemanticsBuffer, acquire) <= slot) {
            }
            results[slot] = items[slot]; // @2
        }
    }
}
