// Two elements of a descriptor array hold the same buffer: they are two references.
//# buffer data 64 u32
//# buffer results 64 u32
//# bind 0.0 data
//# bind 0.1 data
//# bind 1 results
//# dispatch 1
//# case fixed READ=0
//# final results 64 63 62
//# case bug READ=1
//# expect race-reference 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) workgroupcoherent buffer Data { uint data[]; } views[2];
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    views[0].data[me] = me + 1u; // @1
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    results[me] = views[READ].data[63u - me]; // @2
}
