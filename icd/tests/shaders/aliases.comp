#version 450
// Two resources that share memory.

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer Seen { uint seen[]; };
layout(push_constant) uniform Push {
    uint mode;
    // Elements.
    uint at_a;
    uint at_b;
};

void main() {
    uint i = gl_LocalInvocationIndex;
    if (mode == 0) {
        a[at_a + i] = i + 1;
    } else if (mode == 1) {
        seen[i] = b[at_b + i];
    } else if (mode == 2) {
        atomicAdd(a[at_a], 1);
        atomicAdd(b[at_b], 2);
    } else {
        a[at_a + i] = i + 1;
        barrier();
        seen[i] = b[at_b + (i + 1) % 64];
    }
}
