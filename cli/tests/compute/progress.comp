// Workgroups that wait for each other in several ways.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 1) in;
layout(constant_id = 0) const uint WAY = 0;
layout(set = 0, binding = 0, std430) buffer State { uint ticket; uint lock; uint done; uint flags[]; };

uint look(uint k) { return atomicLoad(flags[k], gl_ScopeDevice, 0, 0); }

void main() {
    uint me = gl_WorkGroupID.x;
    if (WAY == 0) { // for the workgroup before
        while (me > 0 && look(me - 1) == 0) {
        }
    } else if (WAY == 1) { // for the workgroup after
        while (me + 1 < gl_NumWorkGroups.x && look(me + 1) == 0) {
        }
    } else if (WAY == 2) { // for a lock
        while (atomicCompSwap(lock, 0, 1, gl_ScopeDevice, 0, 0, 0, 0) != 0) {
        }
        atomicAdd(done, 1, gl_ScopeDevice, 0, 0);
        atomicStore(lock, 0u, gl_ScopeDevice, 0, 0);
    } else if (WAY == 3) { // for those who came before
        me = atomicAdd(ticket, 1, gl_ScopeDevice, 0, 0);
        while (me > 0 && look(me - 1) == 0) {
        }
    }
    atomicStore(flags[me], 1u, gl_ScopeDevice, 0, 0);
}
