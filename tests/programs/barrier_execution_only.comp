// A reduction in shared memory behind a barrier that orders execution, not memory.
// exec: --groups 1 --buffer 0:0=u32x64=iota --buffer 0:1=u32x1
// finds: race-unordered
// names: partial
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FIXED
#define CLASSES gl_StorageSemanticsShared
#define SEMANTICS gl_SemanticsAcquireRelease
#else
#define CLASSES 0
#define SEMANTICS 0
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint total; };

shared uint partial[64];

void main() {
    partial[gl_LocalInvocationIndex] = values[gl_LocalInvocationIndex];
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, CLASSES, SEMANTICS);
    if (gl_LocalInvocationIndex == 0) {
        uint sum = 0;
        for (uint i = 0; i < 64; i++)
            sum += partial[i];
        total = sum;
    }
}
