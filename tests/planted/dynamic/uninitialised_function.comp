// A local array of which the last element is never set.
//# buffer results 4 u32
//# bind 0 results
//# push 4
//# dispatch 1
//# case fixed LAST=4u
//# final results 6
//# case bug LAST=3u
//# expect uninitialised-read 1
#version 450

layout(local_size_x = 1) in;
layout(push_constant) uniform Arguments { uint count; };
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint values[4];
    for (uint i = 0u; i < min(count, LAST); i++)
        values[i] = i;
    uint sum = 0u;
    for (uint i = 0u; i < count; i++)
        sum += values[i]; // @1
    results[0] = sum;
}
