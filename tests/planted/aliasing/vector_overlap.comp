// A vector store touches the component that a neighbour owns.
//# buffer values 256 u32
//# bind 0 values
//# dispatch 1
//# case fixed STRIDE=4
//# case overlap STRIDE=3
//# expect race-private 1 1
#version 450
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_buffer_reference : require

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, scalar) buffer Values { uint values[]; };

void main() {
    uint first = gl_LocalInvocationIndex * STRIDE;
    for (uint i = 0u; i < 4u; i++)
        values[first + i] = 1u; // @1
}
