// Members of structures between dispatches: what one invocation reads of all of them another one wrote, which is named. Members that
// others write are not in the way.
//# buffer particles 768 u32 zero
//# buffer result 1 u32
//# bind 0 particles
//# bind 1 result
//# push 0
//
//# case no-barrier
//# dispatch 4
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# says (2) read by invocation 0 of workgroup (0,0,0), dispatch 1
//# says (1) written by invocation 5 of workgroup (2,0,0), dispatch 0
//
//# case barrier
//# dispatch 4
//# barrier compute/storage-write -> compute/storage-read
//# dispatch 1 push 1
//# final result 41
//
//# case other-member
//# note Their bytes lie between those that the first dispatch wrote.
//# dispatch 4
//# dispatch 4 push 2
//# final particles 0 0 0 0 1 3 0 0 0 0 0 0 0 0 0 0 2 3
//
//# case same-member
//# dispatch 4
//# dispatch 4 push 3
//# expect hazard-write-after-write 1 4
#version 450
struct Particle { uint place, speed, mass, age; uint force, color; uint more[6]; };
layout(local_size_x = 16) in;
layout(push_constant) uniform Push { uint pass; };
layout(set = 0, binding = 0, std430) buffer Particles { Particle particles[]; };
layout(set = 0, binding = 1, std430) buffer Result { uint result; };

void main() {
    uint me = gl_GlobalInvocationID.x;
    if (pass == 0u)
        particles[me].force = me + 1u; // @1
    else if (pass == 1u && me == 0u)
        result = particles[37].force + 3u; // @2
    else if (pass == 2u)
        particles[me].color = 3u; // @3
    else if (pass == 3u)
        particles[me].force = 4u; // @4
}
