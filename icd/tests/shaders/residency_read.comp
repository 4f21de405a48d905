#version 450
#extension GL_ARB_sparse_texture2 : require

// Asks for the texels of the first row, and writes nothing but its results, behind those of residency.comp.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, r32f) uniform readonly image2D texels;
layout(set = 0, binding = 1) uniform sampler2D nearest;
layout(set = 0, binding = 4) writeonly buffer Results { uint results[]; };

void main() {
    uint self = gl_LocalInvocationIndex;
    int x = 1008 + int(self);
    vec4 loaded, fetched;
    int codes[2];
    codes[0] = sparseImageLoadARB(texels, ivec2(x, 0), loaded);
    codes[1] = sparseTexelFetchARB(nearest, ivec2(x + 1, 0), 0, fetched);
    uint resident = (sparseTexelsResidentARB(codes[0]) ? 1u : 0u) | (sparseTexelsResidentARB(codes[1]) ? 2u : 0u);
    uint at = 12 * 32 + 3 * self;
    results[at] = resident;
    results[at + 1] = floatBitsToUint(loaded.x);
    results[at + 2] = floatBitsToUint(fetched.x);
}
