// A workgroup passes values through a buffer behind a control barrier. Each case leaves out one element of it.
//# buffer scratch 64 u32
//# buffer results 64 u32
//# bind 0 scratch
//# bind 1 results
//# subgroup 32
//# dispatch 1
//# case fixed
//# final results 163 162 161
//# case no-make-visible SEMANTICS=gl_SemanticsAcquireRelease|gl_SemanticsMakeAvailable
//# expect race-not-visible 1 2 missing visibility fix make-visible
//# case no-make-available SEMANTICS=gl_SemanticsAcquireRelease|gl_SemanticsMakeVisible
//# expect race-not-available 1 2 missing availability fix make-available
//# case neither SEMANTICS=gl_SemanticsAcquireRelease
//# expect race-not-available 1 2
//# case private QUALIFIER=
//# expect race-private 1 2
//# case class CLASS=gl_StorageSemanticsShared
//# expect race-storage-class 1 2
//# case scope SCOPE=gl_ScopeSubgroup
//# expect race-scope 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifndef SEMANTICS
#define SEMANTICS gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible
#endif
#ifndef QUALIFIER
#define QUALIFIER nonprivate
#endif
#ifndef CLASS
#define CLASS gl_StorageSemanticsBuffer
#endif
#ifndef SCOPE
#define SCOPE gl_ScopeWorkgroup
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) QUALIFIER buffer Scratch { uint scratch[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    scratch[me] = me + 100u; // @1
    controlBarrier(gl_ScopeWorkgroup, SCOPE, CLASS, SEMANTICS);
    results[me] = scratch[63u - me]; // @2
}
