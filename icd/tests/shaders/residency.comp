#version 450
#extension GL_ARB_sparse_texture2 : require

// Memory is bound to the texels left of x = 1024, and to the first half of the buffer.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, r32f) uniform coherent volatile image2D texels;
layout(set = 0, binding = 1) uniform sampler2D nearest;
layout(set = 0, binding = 2) uniform sampler2D linear;
layout(set = 0, binding = 3) coherent volatile buffer Words { uint words[]; };
layout(set = 0, binding = 4) writeonly buffer Results { uint results[]; };

void main() {
    uint self = gl_LocalInvocationIndex, half_words = words.length() / 2;
    int x = 1008 + int(self);
    // Between this texel and the next one, in the middle of the first row.
    vec2 middle = vec2(x + 1, 0.5) / vec2(textureSize(nearest, 0));
    vec2 inside = vec2(x + 0.5, 0.5) / vec2(textureSize(nearest, 0));
    int codes[8];
    vec4 read[8];
    codes[0] = sparseImageLoadARB(texels, ivec2(x, 0), read[0]);
    codes[1] = sparseImageLoadARB(texels, ivec2(x + 5000, 0), read[1]);
    codes[2] = sparseTexelFetchARB(nearest, ivec2(x, 0), 0, read[2]);
    codes[3] = sparseTexelFetchOffsetARB(nearest, ivec2(x, 0), 0, ivec2(4, 0), read[3]);
    codes[4] = sparseTextureLodARB(nearest, inside, 0.0, read[4]);
    codes[5] = sparseTextureLodARB(linear, inside, 0.0, read[5]);
    codes[6] = sparseTextureLodARB(linear, middle, 0.0, read[6]);
    codes[7] = sparseTextureGatherARB(nearest, middle, read[7], 0);
    uint resident = 0;
    for (int n = 0; n < 8; ++n) {
        resident |= sparseTexelsResidentARB(codes[n]) ? 1u << n : 0u;
    }
    // What is written where nothing is bound nobody reads.
    imageStore(texels, ivec2(x, 3), vec4(self + 1));
    words[self] = self + 1;
    words[half_words + self] = self + 1;
    memoryBarrier();
    barrier();
    memoryBarrier();
    uint other = 31 - self;
    uint at = 12 * self;
    results[at] = resident;
    for (int n = 0; n < 8; ++n) {
        results[at + 1 + n] = floatBitsToUint(read[n].x);
    }
    results[at + 9] = uint(imageLoad(texels, ivec2(1008 + int(other), 3)).x);
    results[at + 10] = words[other] << 16 | words[half_words + other];
    results[at + 11] = atomicAdd(words[2 * half_words - 1], 1u);
}
