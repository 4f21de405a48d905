#version 450
// A Fourier transform of 4,096 complex numbers in each workgroup: twelve radix-2 stages in workgroup memory.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) writeonly buffer Result { vec2 result[]; };
layout(set = 0, binding = 1) readonly buffer Input { vec2 values[]; };
layout(set = 0, binding = 2) readonly buffer Factors { vec2 factors[]; };
shared vec2 points[4096];

vec2 product(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

void main() {
    uint first = gl_WorkGroupID.x * 4096u, own = gl_LocalInvocationID.x;
    for (uint k = own; k < 4096u; k += 256u) points[bitfieldReverse(k) >> 20] = values[first + k];
    barrier();
    for (uint stage = 0u; stage < 12u; ++stage) {
        uint span = 1u << stage;
        for (uint k = own; k < 2048u; k += 256u) {
            uint low = k & (span - 1u), at = (k - low) * 2u + low;
            vec2 a = points[at], b = product(points[at + span], factors[low << (11u - stage)]);
            points[at] = a + b;
            points[at + span] = a - b;
        }
        barrier();
    }
    for (uint k = own; k < 4096u; k += 256u) result[first + k] = points[k];
}
