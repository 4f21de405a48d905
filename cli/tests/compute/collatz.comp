#version 450
// Steps to 1: every invocation leaves its loop at a time of its own.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };

uint steps(uint n) {
    uint count = 0;
    while (n > 1) {
        if (n % 2 == 0)
            n /= 2;
        else
            n = 3 * n + 1;
        count++;
    }
    return count;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    values[i] = steps(values[i]);
}
