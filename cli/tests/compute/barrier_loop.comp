// Loops of whole workgroups with barriers in them: ways 0 to 9 wait for ever, 10 to 19 end.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_vote : require
#pragma use_vulkan_memory_model
layout(local_size_x_id = 1) in;
layout(constant_id = 0) const uint way = 0;
layout(set = 0, binding = 0) buffer Flags { uint flag; uint never; uint turns; };
layout(set = 0, binding = 1) buffer Done { uint done[]; };
shared uint more;
shared uint scratch[256];

uint look() {
    return atomicLoad(flag, gl_ScopeDevice, 0, 0);
}

void main() {
    uint i = gl_LocalInvocationIndex;
    bool last = gl_WorkGroupID.x == gl_NumWorkGroups.x - 1;
    if (i == 0) more = 1;
    barrier();
    switch (way) {
    case 0:
        while (more != 0) barrier();
        break;
    case 1: {
        uint v;
        do { barrier(); memoryBarrierBuffer(); v = look(); } while (v == 0);
        break;
    }
    case 2: { // What is written was there.
        uint m;
        do {
            scratch[i] = i;
            if (i == 3) more = 1;
            memoryBarrierShared(); barrier();
            m = more; barrier();
        } while (m != 0);
        break;
    }
    case 3: {
        uint v;
        do { barrier(); v = atomicOr(flag, 0); } while (v == 0);
        break;
    }
    case 4: {
        uint v;
        do { barrier(); v = atomicCompSwap(flag, 7, 8); } while (v != 7);
        break;
    }
    case 5:
        while (subgroupAny(more != 0)) { barrier(); barrier(); }
        break;
    case 6: // The last workgroup is to set the flag, and waits itself.
        if (last) {
            if (i == 0) {
                while (atomicLoad(never, gl_ScopeDevice, 0, 0) == 0);
                atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
            }
        } else {
            uint v;
            do { barrier(); v = look(); barrier(); } while (v == 0);
        }
        break;
    case 7:
        while (true) barrier();
        break;
    case 10:
        for (uint n = 0; n < 30000; n++) barrier();
        break;
    case 11:
        for (uint n = 0; n < 20000; n++) { if (i == 3) more = 1; barrier(); if (look() != 0) break; }
        break;
    case 12: // The last workgroup sets the flag, after the others have looked often.
        if (last) {
            if (i == 0) {
                atomicStore(flag, 2u, gl_ScopeDevice, 0, 0);
                while (atomicAdd(turns, 1u, gl_ScopeDevice, 0, 0) < 400);
                atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
            }
        } else {
            uint m;
            do {
                if (i == 0 && look() == 1) more = 0;
                barrier();
                m = more; barrier();
            } while (m != 0);
        }
        break;
    case 13: // All invocations wait for it: more than memory remembers readers of one location.
        if (last) {
            if (i == 0) {
                atomicStore(flag, 2u, gl_ScopeDevice, 0, 0);
                while (atomicAdd(turns, 1u, gl_ScopeDevice, 0, 0) < 400);
                atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
            }
        } else {
            while (look() != 1);
        }
        break;
    case 20: // A race, and then a loop that counts.
        done[0] = i;
        for (uint n = 0; n != 0xffffffff; n++) barrier();
        break;
    case 21: // The same, and then one that waits for ever.
        done[0] = i;
        for (uint n = 0; n < 20000; n++) barrier();
        while (more != 0) barrier();
        break;
    }
    done[gl_GlobalInvocationID.x] = 1;
}
