#version 450
// Writes what a separate sampler sees of an image.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Words { uint word; };
layout(set = 0, binding = 1) uniform utexture2D sampled;
layout(set = 0, binding = 2) uniform sampler alone;

void main() {
    word = texture(usampler2D(sampled, alone), vec2(0.5)).x;
}
