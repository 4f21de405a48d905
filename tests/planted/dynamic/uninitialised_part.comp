// Variables that are written in part. Copies, padding, selections and masks of the rest are no bugs; uses of it are.
//# buffer stored 16 u32
//# buffer results 4 f32
//# bind 0 stored
//# bind 1 results
//# push 0
//# dispatch 1
//# case fixed
//# final results 6 7 8 9
//# case member MEMBER
//# expect uninitialised-read 1
//# case component COMPONENT
//# expect uninitialised-read 2
//# case element ELEMENT
//# expect uninitialised-read 3
//# case selected SELECTED
//# expect uninitialised-read 4
//# expect uninitialised-read 7
//# case parameter PARAMETER
//# expect uninitialised-read 5
//# case condition CONDITION
//# expect uninitialised-read 6
#version 450

struct Particle {
    float mass;
    uint flags;
};

layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) writeonly buffer Stored { Particle stored[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { float results[]; };
layout(push_constant) uniform Arguments { uint zero; };

// The flags are not set.
Particle make(float mass) {
    Particle p;
    p.mass = mass;
    return p;
}

void split(float whole, out float half_of_it, out float rest) {
    half_of_it = whole * 0.5;
#ifndef PARAMETER
    rest = whole * 0.5;
#endif
}

void main() {
    uint me = gl_LocalInvocationIndex;

    Particle p = make(float(me));
    Particle q = p;
    stored[me] = q; // both members
    float sum = q.mass;
#ifdef MEMBER
    sum += float(q.flags); // @1
#endif

    vec4 v;
    v.x = 1.0;
    v.y = 1.0;
    vec4 w = v;
    sum += w.x + w[zero];
#ifdef COMPONENT
    sum += w.w; // @2
#endif

    float table[4];
    table[zero] = 1.0;
    float copies[4] = table;
    sum += copies[zero];
#ifdef ELEMENT
    sum += copies[zero + 1u]; // @3
#endif

    bool known = me < 4u;
    float guess;
    bool guessed;
#ifdef SELECTED
    known = me < 3u;
#endif
    if (!known && me > 3u) {
        guess = 1.0;
        guessed = true;
    }
    float chosen = known ? 1.0 : guess; // @4
    sum += chosen;
    if (known || guessed) // @7
        sum += 0.0;

    float half_of_it;
    float rest;
    split(2.0, half_of_it, rest); // @5
    sum += rest + half_of_it;

    uint packed;
    packed = bitfieldInsert(packed, 0u, 0, 8);
    packed = packed & 0xffu | zero << 8;
    sum += float(bitfieldExtract(packed, 0, 16));

    for (uint k = 0u; k < 2u; k++) {
        float once;
        if (k == 0u)
            once = 0.0;
        sum += once;
    }

#ifdef CONDITION
    float limit;
    if (sum > limit) // @6
        sum = 0.0;
#endif
    results[me] = sum;
}
