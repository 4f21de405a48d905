#version 450
layout(local_size_x = 256) in;
layout(binding = 0) buffer A { uint a[64]; };
layout(binding = 1) buffer B { uint total; };

// Every invocation races with every other one.
void main() {
    uint i = gl_GlobalInvocationID.x;
    total += a[i % 64];
    a[(i * 7) % 64] = total + i;
}
