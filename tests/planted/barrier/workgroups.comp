// A barrier orders one workgroup, not two: neighbours across the border of workgroups race.
//# buffer values 128 u32 iota
//# buffer results 128 u32
//# bind 0 values
//# bind 1 results
//# dispatch 2
//# case fixed FIXED
//# final results 1 2 3
//# case bug
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_GlobalInvocationID.x;
#ifdef FIXED
    uint next = (me & ~63u) | ((me + 1u) & 63u);
#else
    uint next = (me + 1u) & 127u;
#endif
    values[me] = me; // @1
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    results[me] = values[next]; // @2
}
