// Two variables of one binding are one descriptor, and so one reference: what is synchronised for one of them is for the other.
//# buffer words 64 u32
//# bind 0 words
//# dispatch 1
//# case fixed
//# final words 8 8 8 8
//# case bug NO_BARRIER
//# expect race-unordered 1 2
#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) workgroupcoherent buffer Words { uint words[64]; };
layout(set = 0, binding = 0, std430) workgroupcoherent buffer Vectors { uvec4 vectors[16]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    words[me] = 2u; // @1
#ifndef NO_BARRIER
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
#endif
    uvec4 mine = vectors[(me + 8u) % 16u]; // @2
    uint sum = mine.x + mine.y + mine.z + mine.w;
#ifndef NO_BARRIER
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    words[me] = sum;
#endif
}
