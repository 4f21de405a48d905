// Particles as an array of structures: each invocation moves its own.
#version 450
layout(local_size_x = 64) in;
struct Particle {
    vec4 position;
    vec4 velocity;
    float mass;
    uint age;
    float unused[2];
};
layout(std430, binding = 0) buffer Particles { Particle particles[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    particles[i].position.xyz += 0.5 * particles[i].velocity.xyz;
    particles[i].age += 1;
}
