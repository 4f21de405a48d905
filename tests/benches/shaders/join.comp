#version 450
// The probes of a hash join: 2^20 keys looked up in a table of 2^18 places, with open addressing.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) writeonly buffer Result { uint result[]; };
layout(set = 0, binding = 1) readonly buffer Keys { uint keys[]; };
layout(set = 0, binding = 2) readonly buffer Table { uvec2 table[]; };

void main() {
    uint own = gl_GlobalInvocationID.x, key = keys[own] & 0xfffffu;
    uint at = key * 2654435761u >> 14, found = 0xffffffffu;
    for (uint k = 0u; k < 32u; ++k) {
        uvec2 entry = table[at];
        if (entry.x == key) { found = entry.y; break; }
        if (entry.x == 0xffffffffu) break;
        at = (at + 1u) & 0x3ffffu;
    }
    result[own] = found;
}
