// Byte by byte in shared memory: no false sharing. An invocation that writes two bytes overlaps its neighbour.
//# buffer results 64 u32
//# bind 0 results
//# dispatch 1
//# case fixed
//# final results 7 7 7
//# case overlap OVERLAP
//# expect race-unordered 1 2
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint8_t table[65];

void main() {
    uint me = gl_LocalInvocationIndex;
    table[me] = uint8_t(7); // @1
#ifdef OVERLAP
    table[me + 1u] = uint8_t(7); // @2
#endif
    barrier();
    results[me] = uint(table[me]);
}
