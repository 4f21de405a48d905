// A reduction over two subgroups behind a barrier whose memory scope is the subgroup.
// exec: --groups 1 --buffer 0:0=u32x64=iota --buffer 0:1=u32x1
// finds: race-scope
// names: workgroup scope
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#ifdef FIXED
#define SCOPE gl_ScopeWorkgroup
#else
#define SCOPE gl_ScopeSubgroup
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint total; };

shared uint partial[64];

void main() {
    partial[gl_LocalInvocationIndex] = values[gl_LocalInvocationIndex];
    controlBarrier(gl_ScopeWorkgroup, SCOPE, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (gl_LocalInvocationIndex == 0) {
        uint sum = 0;
        for (uint i = 0; i < 64; i++)
            sum += partial[i];
        total = sum;
    }
}
