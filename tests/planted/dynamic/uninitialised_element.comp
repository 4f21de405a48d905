// Which part of a variable nothing has written: elements of arrays, members, components; of variables that stay in memory and of those
// that become values; of 8 to 64 bits.
//# buffer results 4 f32
//# bind 0 results
//# push 0
//# dispatch 1
//# case fixed FIXED
//# final results 67 68 69 70
//# case nested NESTED
//# expect uninitialised-read 1
//# says in variable "s" of the invocation: s.b[1].at.y
//# case value VALUE
//# expect uninitialised-read 2
//# says in variable "t" of the invocation: t.b[0].mass
//# case matrix MATRIX
//# expect uninitialised-read 3
//# says in variable "turn" of the invocation: turn[2].w
//# case bytes BYTES
//# expect uninitialised-read 4
//# says in variable "small" of the invocation: small[5]
//# case words WORDS
//# expect uninitialised-read 5
//# says in variable "wide" of the invocation: wide[2].y
//# case table TABLE
//# expect uninitialised-read 6
//# says in variable "table" of the invocation: table[1][3]
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { float results[]; };
layout(push_constant) uniform Arguments { uint zero; };

struct Point {
    float mass;
    vec3 at;
};
struct Pair {
    float a;
    Point b[2];
};

float table[2][4];

void main() {
    uint me = gl_LocalInvocationIndex;
    float sum = float(me);

    // Indexed by what is known when the shader runs.
    Pair s;
    for (uint k = 0u; k < 2u; k++) {
        s.b[k + zero].at.x = 1.0;
        s.b[k + zero].at.z = 3.0;
#ifndef NESTED
        s.b[k + zero].at.y = 2.0;
#endif
    }
    sum += s.b[1u + zero].at.y; // @1

    // Indexed by constants.
    Pair t;
    t.b[1].mass = 4.0;
#ifndef VALUE
    t.b[0].mass = 5.0;
#endif
    sum += t.b[0].mass + t.b[1].mass; // @2

    mat4 turn;
    for (uint k = 0u; k < 4u; k++)
        turn[k].xyz = vec3(6.0);
#ifndef MATRIX
    turn[2].w = 7.0;
#endif
    sum += turn[2 + zero].w; // @3

    uint8_t small[8];
    for (uint k = 0u; k < 5u; k++)
        small[k] = uint8_t(k);
#ifndef BYTES
    small[5] = uint8_t(8);
#endif
    sum += float(uint(small[5 + zero])); // @4

    u64vec2 wide[3];
    wide[zero] = u64vec2(9ul, 9ul);
    wide[2 - zero].x = 10ul;
#ifndef WORDS
    wide[2 - zero].y = 11ul;
#endif
    sum += float(wide[2 - zero].y); // @5

    for (uint k = 0u; k < 3u; k++)
        table[1][k + zero] = 12.0;
#ifndef TABLE
    table[1][3] = 13.0;
#endif
    sum += table[1u + zero][3u - zero] + 17.0; // @6
    results[me] = sum;
}
