// The second subgroup waits for a flag that the first one sets after a barrier that the second one never reaches.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer State { uint before; uint flag; };

void main() {
    if (gl_SubgroupID == 1) {
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) == 0) {
        }
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, 0, 0);
    atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
}
