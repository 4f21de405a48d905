#version 460
// A vector in workgroup memory of which one component is written, and which is loaded as a whole.
layout(local_size_x = 32) in;
layout(constant_id = 0) const bool other = false;
layout(constant_id = 1) const bool copied = false;
layout(set = 0, binding = 0) buffer Found { uint found[32]; };
layout(set = 0, binding = 1) buffer Copies { uvec4 copies[32]; };

shared uvec4 values;

void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) {
        values.z = 7;
    }
    barrier();
    uvec4 all = values;
    if (copied) {
        copies[i] = all;
    }
    if (all.z != 7) {
        return;
    }
    found[i] = i + (other ? all.y : 0);
}
