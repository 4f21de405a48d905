#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

// Names that a function and its caller both have, and parts of words that lie side by side.

layout(local_size_x = 4) in;
layout(constant_id = 0) const bool DOUBLED = true;

struct Particle {
    float mass;
    uint16_t id;
    uint16_t kind;
};
layout(set = 0, binding = 0) buffer Out {
    Particle particles[];
};

float weigh(Particle p, uint i, inout uint n) {
    n += 1u;
    return p.mass * (DOUBLED ? 2.0 : 1.0) + float(i);
}

void main() {
    uint i = gl_LocalInvocationIndex;
    uint n = 7u;
    Particle p = Particle(float(i), uint16_t(i + 1u), uint16_t(9u));
    Particle q = Particle(10.0, uint16_t(0u), uint16_t(0u));
    p.mass = weigh(q, i + 20u, n);
    particles[i].mass = p.mass;
    particles[i].id = p.id;
    particles[i].kind = p.kind;
    particles[i].mass = weigh(p, n, n);
}
