// Plain GLSL: a workgroup passes values through a buffer. barrier() alone covers shared memory only.
//# buffer scratch 64 u32
//# buffer results 64 u32
//# bind 0 scratch
//# bind 1 results
//# dispatch 1
//# case fixed
//# final results 163 162 161
//# case barrier-only MEMORY=
//# expect race-storage-class 1 2
//# case fence-on-one-side AFTER=
//# note barrier() acquires shared memory only; the reader needs a fence of its own after it.
//# expect race-storage-class 1 2
//# case not-coherent COHERENT=
//# expect race-private 1 2
//# case memory-barrier-only NO_BARRIER
//# expect race-unordered 1 2
#version 450

#ifndef MEMORY
#define MEMORY memoryBarrierBuffer()
#endif
#ifndef COHERENT
#define COHERENT coherent
#endif
#ifndef AFTER
#define AFTER MEMORY
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) COHERENT buffer Scratch { uint scratch[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    scratch[me] = me + 100u; // @1
    MEMORY;
#ifndef NO_BARRIER
    barrier();
    AFTER;
#endif
    results[me] = scratch[63u - me]; // @2
}
