#version 450
// What its host has to give: constants, push constants and a buffer.

layout(local_size_x_id = 7) in;
layout(constant_id = 1) const int COUNT = 4;
layout(constant_id = 2) const uint FACTOR = 2;

layout(std430, set = 0, binding = 0) buffer Output {
    uint results[];
};
layout(push_constant) uniform Push {
    uint first;
    float second;
};

shared uint table[COUNT];

void main() {
    uint me = gl_LocalInvocationIndex;
    table[me % uint(COUNT)] = FACTOR;
    results[me] = first + uint(second);
}
