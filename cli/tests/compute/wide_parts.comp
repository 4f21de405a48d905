// Values of 64 bits: one that workgroup 0 writes, one that all but the last workgroup write, and one that is
// written in halves. The last workgroup reads them; nothing orders that after the writes, for its counter is
// relaxed.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Whole { uint64_t whole; };
layout(set = 0, binding = 0) nonprivate buffer Words { uint words[2]; };
layout(set = 0, binding = 1) nonprivate buffer Often { uint64_t often; };
layout(set = 0, binding = 2) nonprivate buffer Halved { uint64_t halved; };
layout(set = 0, binding = 2) nonprivate buffer Halves { uint halves[2]; };
layout(set = 0, binding = 3) buffer Written { uint written; };
layout(set = 0, binding = 4) buffer Received { uint64_t received; };

void main() {
    uint last = gl_NumWorkGroups.x - 1;
    if (gl_WorkGroupID.x == 0) {
        whole = 0x300000002ul;
        halved = 1;
        for (uint i = 0; i < 2; i++) halves[i] = 7;
    }
    if (gl_WorkGroupID.x < last) {
        uint64_t own = (uint64_t(gl_WorkGroupID.x) << 32 | gl_WorkGroupID.x) + 0x100000001ul;
        atomicStore(often, own, gl_ScopeDevice, 0, 0);
        atomicAdd(written, 1, gl_ScopeDevice, 0, 0);
    } else {
        while (atomicLoad(written, gl_ScopeDevice, 0, 0) < last) {}
        uint low = words[0];
        uint64_t sum = whole;
        sum += often;
        sum += halved;
        received = sum + low;
    }
}
