#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
// A sum in one pass: the workgroup that comes last, by a counter that releases and acquires, adds up what the others left.
layout(local_size_x = 64) in;
layout(std430, binding = 0) coherent buffer Sums { uint done; uint total; uint sums[]; };
layout(std430, binding = 1) readonly buffer Words { uint words[]; };
shared uint part[64];
shared bool last;

void synchronise() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared,
        gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

uint add_up(uint word) {
    uint me = gl_LocalInvocationIndex;
    part[me] = word;
    synchronise();
    for (uint step = 32u; step > 0u; step >>= 1) {
        if (me < step)
            part[me] += part[me + step];
        synchronise();
    }
    return part[0];
}

void main() {
    uint me = gl_LocalInvocationIndex;
    uint groups = gl_NumWorkGroups.x;
    uint sum = add_up(words[gl_GlobalInvocationID.x]);
    if (me == 0u) {
        sums[gl_WorkGroupID.x] = sum;
        last = atomicAdd(done, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
            gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible) == groups - 1u;
        if (last) {
            uint all = 0u;
            for (uint k = 0u; k < groups; k++)
                all += sums[k];
            total = all;
        }
    }
}
