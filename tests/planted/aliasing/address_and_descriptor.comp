// One buffer through its descriptor and through its address: two references.
//# buffer data 64 u32
//# buffer results 64 u32
//# bind 0 data
//# bind 1 results
//# push address data
//# dispatch 1
//# case fixed READ=data
//# final results 64 63 62
//# case bug READ=words.data
//# expect race-reference 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_buffer_reference : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { workgroupcoherent uint data[64]; };
layout(push_constant) uniform Arguments { Words words; };
layout(set = 0, binding = 0, std430) workgroupcoherent buffer Data { uint data[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    data[me] = me + 1u; // @1
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    results[me] = READ[63u - me]; // @2
}
