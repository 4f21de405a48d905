// Accesses with availability and visibility of their own, in two dispatches: they need an execution dependency and one reference, and the
// shader domain is not the device domain.
//# buffer a 16 u32
//# buffer b 16 u32
//# bind 0 a
//# bind 1 b
//# bind 2 a
//# push 0
//# case execution-only
//# dispatch 1
//# barrier compute -> compute
//# dispatch 1 push 1
//# final b 1 2 3
//# case no-barrier
//# dispatch 1
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# case other-descriptor
//# dispatch 1
//# barrier compute -> compute
//# dispatch 1 push 2
//# expect hazard-read-after-write 1 3
//# case other-descriptor-fixed
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read
//# dispatch 1 push 2
//# final b 1 2 3
//# case copy
//# dispatch 1
//# barrier compute -> copy
//# copy a b
//# expect hazard-read-after-write 1 vkCmdCopyBuffer
//# case copy-fixed
//# dispatch 1
//# barrier compute/storage-write -> copy/transfer-read
//# copy a b
//# final b 1 2 3
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 16) in;
layout(push_constant) uniform Arguments { uint pass; };
layout(set = 0, binding = 0, std430) devicecoherent buffer A { uint a[16]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[16]; };
layout(set = 0, binding = 2, std430) devicecoherent buffer Again { uint again[16]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    if (pass == 0u)
        a[me] = me + 1u; // @1
    else if (pass == 1u)
        b[me] = a[me]; // @2
    else
        b[me] = again[me]; // @3
}
