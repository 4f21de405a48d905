// A control barrier of device memory scope still waits for its own workgroup only.
//# buffer values 64 u32
//# buffer results 64 u32
//# bind 0 values
//# bind 1 results
//# dispatch 2
//# case fixed FIXED
//# final results 7 7
//# case bug
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_GlobalInvocationID.x;
    values[me] = 7u; // @1
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
#ifdef FIXED
    results[me] = values[me ^ 1u];
#else
    results[me] = values[me ^ 32u]; // @2
#endif
}
