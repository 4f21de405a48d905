// glslang leaves NonPrivatePointer out of the store of `++`.
//# buffer counters 2 u32 zero
//# buffer results 64 u32 zero
//# bind 0 counters
//# bind 1 results
//# dispatch 1
//
//# case fixed
//# final results[0] 1
//
//# case post-increment INCREMENT
//# expect race-private 1 2 missing non-private fix non-private
//# says does not say NonPrivatePointer, although `Counters` is declared nonprivate
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Counters { uint count; };
layout(set = 0, binding = 1, std430) buffer Results { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me == 5u) {
#ifdef INCREMENT
        count++; // @1
#else
        count = count + 1u;
#endif
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    results[me] = count; // @2
}
