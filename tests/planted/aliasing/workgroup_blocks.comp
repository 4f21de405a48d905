// Two shared blocks that lie over each other (VK_KHR_workgroup_memory_explicit_layout) have one common reference.
//# buffer results 64 u32
//# bind 0 results
//# dispatch 1
//# case fixed READ=first
//# final results 63 62 61
//# case other-block READ=second
//# final results 63 62 61
//# case bug READ=second NO_BARRIER
//# expect race-unordered 1 2
//# allow uninitialised-read 2
#version 450
#extension GL_EXT_shared_memory_block : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };
shared First { uint words[64]; } first;
shared Second { uint words[64]; } second;

void main() {
    uint me = gl_LocalInvocationIndex;
    first.words[me] = me; // @1
#ifndef NO_BARRIER
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
#endif
    results[me] = READ.words[63u - me]; // @2
}
