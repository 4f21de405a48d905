// A counter is reset by a plain store while others count.
//# buffer counter 1 u32
//# bind 0 counter
//# dispatch 2
//# case fixed RESET=atomicAnd(count,0u)
//# case bug RESET=count=0u
//# expect race-unordered 1 2
#version 450

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) coherent buffer Counter { uint count; };

void main() {
    if (gl_GlobalInvocationID.x == 5u)
        RESET; // @1
    atomicAdd(count, 1u); // @2
}
