// Two queues. The push constant chooses what a dispatch does: 0 writes `a`, 1 reads it into `b`, 2 reads it through a second descriptor.
//# buffer a 16 u32
//# buffer b 16 u32
//# bind 0 a
//# bind 1 b
//# bind 2 a
//# push 0
//# case no-semaphore
//# dispatch 1
//# submit
//# queue 1
//# dispatch 1 push 1
//# submit
//# expect hazard-read-racing-write 1 2 fix semaphore
//# case semaphore
//# dispatch 1
//# submit signal s
//# queue 1
//# dispatch 1 push 1
//# submit wait s all
//# final b 1 2 3
//# case write-write
//# dispatch 1
//# submit
//# queue 1
//# dispatch 1
//# submit
//# expect hazard-write-racing-write 1 1 fix semaphore
//# case read-write
//# dispatch 1 push 1
//# submit
//# queue 1
//# dispatch 1
//# submit
//# expect hazard-write-racing-read 2 1 fix semaphore
//# case signal-of-another-stage
//# dispatch 1
//# submit signal s clear
//# queue 1
//# dispatch 1 push 1
//# submit wait s all
//# expect hazard-read-racing-write 1 2
//# case wait-of-another-stage
//# dispatch 1
//# submit signal s
//# queue 1
//# dispatch 1 push 1
//# submit wait s copy
//# expect hazard-read-racing-write 1 2
//# case wait-then-execution
//# note The semaphore makes visible to the stages that wait; a barrier without accesses carries execution on, not visibility.
//# dispatch 1
//# submit signal s
//# queue 1
//# barrier copy -> compute
//# dispatch 1 push 1
//# submit wait s copy
//# expect hazard-read-after-write 1 2
//# case wait-then-barrier
//# dispatch 1
//# submit signal s
//# queue 1
//# barrier copy -> compute/storage-read
//# dispatch 1 push 1
//# submit wait s copy
//# final b 1 2 3
//# case other-descriptor
//# dispatch 1
//# submit signal s
//# queue 1
//# dispatch 1 push 2
//# submit wait s all
//# final b 1 2 3
#version 450

layout(local_size_x = 16) in;
layout(push_constant) uniform Arguments { uint pass; };
layout(set = 0, binding = 0, std430) buffer A { uint a[16]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[16]; };
layout(set = 0, binding = 2, std430) buffer Again { uint again[16]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    if (pass == 0u)
        a[me] = me + 1u; // @1
    else if (pass == 1u)
        b[me] = a[me]; // @2
    else
        b[me] = again[me];
}
