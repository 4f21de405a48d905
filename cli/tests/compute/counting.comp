#version 450
// It counts in steps of two and ends at an odd number.
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };

void main() {
    uint i = words[0];
    uint end = words[1];
    while (i != end) {
        i += 2u;
    }
    words[gl_LocalInvocationIndex + 2u] = i;
}
