#version 450
// It waits for a value that nobody writes, and counts how often it has looked.
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) buffer Words { uint tries; };

void main() {
    while ((atomicAdd(tries, 1u) | 1u) != 0u) {
    }
}
