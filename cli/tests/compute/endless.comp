#version 450
// It waits for a value that nobody writes.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Flag { uint flag; };

void main() {
    while (atomicAdd(flag, 0u) == 0u) {
    }
}
