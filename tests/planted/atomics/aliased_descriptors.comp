// Atomics of one location through two descriptors are not mutually ordered.
//# buffer counter 1 u32
//# bind 0 counter
//# bind 1 counter
//# dispatch 2
//# case fixed SECOND=first
//# final counter 64
//# case bug SECOND=second
//# expect race-reference 1 2
#version 450

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer First { uint first; };
layout(set = 0, binding = 1, std430) buffer Second { uint second; };

void main() {
    if (gl_WorkGroupID.x == 0u)
        atomicAdd(first, 1u); // @1
    else
        atomicAdd(SECOND, 1u); // @2
}
