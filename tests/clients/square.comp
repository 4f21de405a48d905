#version 450
// values[i] = values[i] * values[i] + bias
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Values { uint values[]; };
layout(constant_id = 0) const uint bias = 1;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < values.length())
        values[i] = values[i] * values[i] + bias;
}
