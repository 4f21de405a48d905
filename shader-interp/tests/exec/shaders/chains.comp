#version 450
// Eight independent chains of multiply-adds.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { float o[]; };
layout(push_constant) uniform Parameters { float a; uint rounds; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float s = float(i & 1023u) * 0.001, b = 0.25;
    float c0 = s, c1 = s + 1., c2 = s + 2., c3 = s + 3., c4 = s + 4., c5 = s + 5., c6 = s + 6., c7 = s + 7.;
    for (uint k = 0u; k < rounds; k++) {
        c0 = c0 * a + b; c1 = c1 * a + b; c2 = c2 * a + b; c3 = c3 * a + b;
        c4 = c4 * a + b; c5 = c5 * a + b; c6 = c6 * a + b; c7 = c7 * a + b;
    }
    o[i] = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7;
}
