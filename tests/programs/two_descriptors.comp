// One buffer, bound twice: written through one descriptor, read through the other.
// exec: --groups 1 --buffer 0:0=u32x64 --buffer 0:1=alias:0:0 --buffer 0:2=u32x64
// finds: race-reference
// names: through two references
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) workgroupcoherent buffer Front { uint front[]; };
layout(set = 0, binding = 1, std430) workgroupcoherent buffer Back { uint back[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    front[me] = me + 1u;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
#ifdef FIXED
    results[me] = front[63u - me];
#else
    results[me] = back[63u - me];
#endif
}
