#version 450
// Reads descriptors of every type and writes what it saw to two buffers of an array.
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Words { uint word[]; } words[2];
layout(set = 0, binding = 1) uniform Uniform { uint value; };
layout(set = 0, binding = 2) uniform Block { uvec4 inlined; };
layout(set = 0, binding = 3, r32ui) uniform uimageBuffer storageTexels;
layout(set = 0, binding = 4) uniform utextureBuffer uniformTexels;
layout(set = 0, binding = 5, r32ui) uniform uimage2D storage;
layout(set = 0, binding = 6) uniform utexture2D sampled;
layout(set = 0, binding = 7) uniform usampler2D combined;
layout(set = 0, binding = 8) uniform sampler alone;
layout(set = 1, binding = 0) uniform sampler embedded;

void main() {
    words[0].word[0] = value;
    words[0].word[1] = inlined.z;
    words[0].word[2] = imageLoad(storageTexels, 1).x;
    words[0].word[3] = texelFetch(uniformTexels, 2).x;
    words[0].word[4] = imageLoad(storage, ivec2(1, 0)).x;
    words[1].word[0] = texture(usampler2D(sampled, alone), vec2(0.75, 0.25)).x;
    words[1].word[1] = texture(combined, vec2(0.25, 0.75)).x;
    words[1].word[2] = texture(usampler2D(sampled, embedded), vec2(0.75, 0.75)).x;
}
