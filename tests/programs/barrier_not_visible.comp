// A workgroup passes values through a buffer; its barrier makes them available, but not visible.
// exec: --groups 1 --buffer 0:0=u32x64 --buffer 0:1=u32x64
// finds: race-not-visible
// names: gl_SemanticsMakeVisible
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FIXED
#define SEMANTICS (gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible)
#else
#define SEMANTICS (gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable)
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) nonprivate buffer Scratch { uint scratch[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    scratch[me] = me + 100u;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, SEMANTICS);
    results[me] = scratch[63u - me];
}
