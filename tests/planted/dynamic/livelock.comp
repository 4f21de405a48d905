// Every workgroup waits for a flag that nobody sets.
//# buffer flags 2 u32
//# bind 0 flags
//# dispatch 2
//# case fixed FIXED
//# final flags 1 1
//# case bug
//# expect livelock 1
//# lost
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Flags { uint flags[2]; };

void main() {
    uint me = gl_WorkGroupID.x;
#ifdef FIXED
    atomicStore(flags[me], 1u, gl_ScopeDevice, 0, 0);
#endif
    while (atomicLoad(flags[me ^ 1u], gl_ScopeDevice, 0, 0) == 0u) { // @1
    }
#ifndef FIXED
    atomicStore(flags[me], 1u, gl_ScopeDevice, 0, 0);
#endif
}
