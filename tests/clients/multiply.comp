#version 450
// c[i] = a[i] * b[i] + offset
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer A { float a[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { float b[]; };
layout(set = 0, binding = 2, std430) buffer C { float c[]; };
layout(push_constant) uniform Push { float offset; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    c[i] = a[i] * b[i] + offset;
}
