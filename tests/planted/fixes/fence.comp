// Message passing in plain GLSL: atomics there are relaxed, so both sides take a memory barrier.
//# buffer message 2 u32 zero
//# buffer results 2 u32 zero
//# bind 0 message
//# bind 1 results
//# dispatch 2
//
//# case fixed
//# final results[1] 42
//
//# case no-release NO_RELEASE
//# expect race-unordered 1 2 missing happens-before fix release-fence
//# says put `memoryBarrierBuffer();` after fence.comp:
//
//# case no-acquire NO_ACQUIRE
//# expect race-unordered 1 2 missing happens-before fix acquire-fence
//# says put `memoryBarrierBuffer();` before fence.comp:
//
//# case neither NO_RELEASE NO_ACQUIRE
//# expect race-unordered 1 2 missing happens-before fix release-fence acquire-fence
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) coherent buffer Message { uint data; uint flag; };
layout(set = 0, binding = 1, std430) buffer Results { uint results[]; };

void main() {
    if (gl_WorkGroupID.x == 0u) {
        data = 42u; // @1
#ifndef NO_RELEASE
        memoryBarrierBuffer();
#endif
        atomicExchange(flag, 1u);
    } else {
        while (atomicOr(flag, 0u) == 0u) {
        }
#ifndef NO_ACQUIRE
        memoryBarrierBuffer();
#endif
        results[1] = data; // @2
    }
}
