#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) nonprivate buffer Scratch { uint partial[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Output { uint total[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    partial[me] = values[me] * values[me];

    // The barrier makes every write available, and then visible to everyone.
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);

    if (me == 0) {
        uint sum = 0;
        for (uint k = 0; k < 64; k++)
            sum += partial[k];
        total[0] = sum;
    }
}
