#version 450
#extension GL_EXT_buffer_reference : require
// Adds to a word behind an address, as often as it is told.
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(push_constant) uniform Push { Words words; uint rounds; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    for (uint n = 0; n < rounds; n++) words.word[i] += n;
}
