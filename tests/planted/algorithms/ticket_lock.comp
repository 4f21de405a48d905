// A ticket lock: taking a ticket may be relaxed, waiting for the turn must acquire and passing it on must release.
//# buffer guarded 3 u32
//# bind 0 guarded
//# dispatch 4
//# case fixed
//# final guarded[2] 4
//# case relaxed-wait WAIT=0 WAIT_CLASS=0
//# expect race-unordered 1 1
//# case relaxed-pass PASS=0 PASS_CLASS=0
//# expect race-unordered 1 1
//# case pass-by-workgroup-fence FENCE_SCOPE=gl_ScopeWorkgroup FENCES
//# expect race-scope 1 1
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FENCES
#define WAIT 0
#define PASS 0
#define WAIT_CLASS 0
#define PASS_CLASS 0
#endif
#ifndef WAIT
#define WAIT gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif
#ifndef PASS
#define PASS gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef WAIT_CLASS
#define WAIT_CLASS gl_StorageSemanticsBuffer
#endif
#ifndef PASS_CLASS
#define PASS_CLASS gl_StorageSemanticsBuffer
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Guarded { uint tickets; uint turn; uint count; };

void main() {
    uint mine = atomicAdd(tickets, 1u, gl_ScopeDevice, 0, 0);
    while (atomicLoad(turn, gl_ScopeDevice, WAIT_CLASS, WAIT) != mine) {
    }
#ifdef FENCES
    memoryBarrier(FENCE_SCOPE, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
#endif
    uint before = count; // @1
    count = before + 1u; // @1
#ifdef FENCES
    memoryBarrier(FENCE_SCOPE, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
#endif
    atomicStore(turn, mine + 1u, gl_ScopeDevice, PASS_CLASS, PASS);
}
