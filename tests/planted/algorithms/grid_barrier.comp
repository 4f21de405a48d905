// A barrier between workgroups, made of an atomic counter.
//# buffer cells 4 u32
//# buffer arrivals 1 u32
//# buffer results 4 u32
//# bind 0 cells
//# bind 1 arrivals
//# bind 2 results
//# dispatch 4
//# case fixed
//# final results 2 3 4 1
//# case relaxed SEMANTICS=0 CLASS=0 WAIT=0
//# expect race-unordered 1 2
//# case workgroup-fence SCOPE=gl_ScopeWorkgroup FENCE CLASS=0 SEMANTICS=0 WAIT=0
//# expect race-scope 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef SEMANTICS
#define SEMANTICS gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
#endif
#ifndef WAIT
#define WAIT gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif
#ifndef CLASS
#define CLASS gl_StorageSemanticsBuffer
#endif
#ifdef FENCE
#define MEMORY memoryBarrier(SCOPE, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible)
#else
#define MEMORY
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Cells { uint cells[4]; };
layout(set = 0, binding = 1, std430) buffer Arrivals { uint arrived; };
layout(set = 0, binding = 2, std430) buffer Output { uint results[4]; };

void main() {
    uint me = gl_WorkGroupID.x;
    cells[me] = me + 1u; // @1
    MEMORY;
    atomicAdd(arrived, 1u, gl_ScopeDevice, CLASS, SEMANTICS);
    while (atomicLoad(arrived, gl_ScopeDevice, CLASS, WAIT) != 4u) {
    }
    MEMORY;
    results[me] = cells[(me + 1u) & 3u]; // @2
}
