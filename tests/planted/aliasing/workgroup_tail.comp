// Workgroup blocks over each other, one of which ends inside of a word of the other.
//# buffer results 4 u32
//# bind 0 results
//# dispatch 1
//# case fixed
//# final results 16909060 4 16909065 3
//# case high HIGH
//# expect race-unordered 1 2
#version 450
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

layout(local_size_x = 2) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared Words { uint words[2]; };
shared Bytes { uint8_t bytes[5]; };
shared All { uint8_t all[8]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me == 0u) {
        words[1] = 0x01020304u; // @1
        results[1] = uint(bytes[4]);
        results[0] = words[1];
        bytes[4] = uint8_t(9);
        results[2] = words[1];
    }
#ifndef HIGH
    barrier();
#endif
    if (me == 1u)
        results[3] = uint(all[6]) + 1u; // @2
}
