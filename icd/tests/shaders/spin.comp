#version 450
// Adds to a word of a buffer, as often as it is told.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Words { uint word[]; };
layout(push_constant) uniform Push { uint rounds; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    for (uint n = 0; n < rounds; n++) word[i] += n;
}
