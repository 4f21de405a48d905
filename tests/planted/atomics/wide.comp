// 64-bit atomics, and a 32-bit half of the same word that a neighbour writes.
//# buffer counter 2 u32
//# bind 0 counter
//# push address counter
//# dispatch 2
//# case fixed
//# final counter 64 0
//# case half HALF
//# expect race-unordered 1 2
#version 450
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 32) in;
layout(buffer_reference, std430) buffer Wide { uint64_t count; };
layout(buffer_reference, std430) coherent buffer Words { uint words[2]; };
layout(push_constant) uniform Arguments { uvec2 address; };

void main() {
    atomicAdd(Wide(address).count, uint64_t(1)); // @1
#ifdef HALF
    if (gl_GlobalInvocationID.x == 9u)
        Words(address).words[1] = 0u; // @2
#endif
}
