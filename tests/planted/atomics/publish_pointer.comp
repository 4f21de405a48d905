// A buffer address handed over through a 64-bit atomic: the block behind it must be published too.
//# buffer block 2 u32
//# buffer slot 1 u64
//# buffer result 1 u32
//# bind 0 slot
//# bind 1 result
//# push address block
//# dispatch 2
//# case fixed
//# final result 42
//# case relaxed RELEASE=0 CLASS=0
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef CLASS
#define CLASS gl_StorageSemanticsBuffer
#endif

layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer Block { nonprivate uint data; };
layout(push_constant) uniform Arguments { uint64_t block; };
layout(set = 0, binding = 0, std430) buffer Slot { uint64_t slot; };
layout(set = 0, binding = 1, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        Block(block).data = 42; // @1
        atomicStore(slot, block, gl_ScopeDevice, CLASS, RELEASE);
    } else {
        uint64_t at = 0;
        while (at == 0ul) {
            at = atomicLoad(slot, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                            gl_SemanticsAcquire | gl_SemanticsMakeVisible);
        }
        received = Block(at).data; // @2
    }
}
