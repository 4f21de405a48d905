// A counter in a storage image, with and without atomics.
//# image counter r32ui 4 4
//# bind 0 counter
//# dispatch 2
//# case fixed FIXED
//# final counter 64
//# case bug
//# expect race-private 1 2
//# expect race-private 2 2
//# case coherent COHERENT=coherent
//# expect race-unordered 1 2
//# expect race-unordered 2 2
#version 450

#ifndef COHERENT
#define COHERENT
#endif

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, r32ui) COHERENT uniform uimage2D counter;

void main() {
#ifdef FIXED
    imageAtomicAdd(counter, ivec2(0), 1u);
#else
    uint before = imageLoad(counter, ivec2(0)).x; // @1
    imageStore(counter, ivec2(0), uvec4(before + 1u)); // @2
#endif
}
