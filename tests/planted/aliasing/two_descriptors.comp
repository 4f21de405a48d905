// One buffer, bound twice: written through one descriptor, read through the other.
//# buffer data 64 u32
//# buffer results 64 u32
//# bind 0 data
//# bind 1 data
//# bind 2 results
//# dispatch 1
//# case fixed READ=front
//# final results 64 63 62
//# case bug READ=back
//# expect race-reference 1 2 missing common-reference fix one-reference
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) workgroupcoherent buffer Front { uint front[]; };
layout(set = 0, binding = 1, std430) workgroupcoherent buffer Back { uint back[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    front[me] = me + 1u; // @1
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    results[me] = READ[63u - me]; // @2
}
