// Every workgroup writes a partial sum; the last one to arrive adds them up.
//# buffer partials 8 u32
//# buffer state 2 u32
//# bind 0 partials
//# bind 1 state
//# dispatch 8
//# case fixed
//# final state[1] 36
//# case relaxed-counter SEMANTICS=0 CLASS=0
//# expect race-unordered 1 2
//# case no-make-available SEMANTICS=gl_SemanticsAcquireRelease|gl_SemanticsMakeVisible
//# expect race-not-available 1 2
//# case no-make-visible SEMANTICS=gl_SemanticsAcquireRelease|gl_SemanticsMakeAvailable
//# expect race-not-visible 1 2
//# case private QUALIFIER=
//# expect race-private 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef SEMANTICS
#define SEMANTICS gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
#endif
#ifndef CLASS
#define CLASS gl_StorageSemanticsBuffer
#endif
#ifndef QUALIFIER
#define QUALIFIER nonprivate
#endif

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) QUALIFIER buffer Partials { uint partials[]; };
layout(set = 0, binding = 1, std430) buffer State { uint arrived; uint total; };

void main() {
    partials[gl_WorkGroupID.x] = gl_WorkGroupID.x + 1u; // @1
    if (atomicAdd(arrived, 1u, gl_ScopeDevice, CLASS, SEMANTICS) == 7u) {
        uint sum = 0u;
        for (uint i = 0u; i < 8u; i++)
            sum += partials[i]; // @2
        total = sum;
    }
}
