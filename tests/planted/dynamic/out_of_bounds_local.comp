// An index past the end of a local array.
//# buffer results 8 u32
//# bind 0 results
//# push 5
//# dispatch 1
//# case fixed SIZE=8
//# final results 5
//# case bug SIZE=4
//# expect out-of-bounds 1
#version 450

layout(local_size_x = 1) in;
layout(push_constant) uniform Arguments { uint at; };
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint values[SIZE];
    for (uint i = 0u; i < SIZE; i++)
        values[i] = i;
    results[0] = values[at]; // @1
}
