// A workgroup passes values through a storage image behind a control barrier.
//# image scratch r32ui 64 1
//# buffer results 64 u32
//# bind 0 scratch
//# bind 1 results
//# dispatch 1
//# case fixed
//# final results 163 162 161
//# case no-make-visible SEMANTICS=gl_SemanticsAcquireRelease|gl_SemanticsMakeAvailable
//# expect race-not-visible 1 2
//# case buffer-class CLASS=gl_StorageSemanticsBuffer
//# expect race-storage-class 1 2
//# case private QUALIFIER=
//# expect race-private 1 2
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
#define CLASS gl_StorageSemanticsImage
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32ui) QUALIFIER uniform uimage2D scratch;
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    imageStore(scratch, ivec2(me, 0), uvec4(me + 100u)); // @1
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, CLASS, SEMANTICS);
    results[me] = imageLoad(scratch, ivec2(63u - me, 0)).x; // @2
}
