#version 450
// Softmax of rows of 1,024, one for each workgroup.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) writeonly buffer Result { float result[]; };
layout(set = 0, binding = 1) readonly buffer Input { float values[]; };
shared float part[256];

void main() {
    uint own = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 1024u;
    float value[4];
    float most = -1e30;
    for (uint k = 0u; k < 4u; ++k) {
        value[k] = values[first + k * 256u + own];
        most = max(most, value[k]);
    }
    part[own] = most;
    barrier();
    for (uint step = 128u; step > 0u; step /= 2u) {
        if (own < step) part[own] = max(part[own], part[own + step]);
        barrier();
    }
    most = part[0];
    barrier();
    float sum = 0.0;
    for (uint k = 0u; k < 4u; ++k) {
        value[k] = exp(value[k] - most);
        sum += value[k];
    }
    part[own] = sum;
    barrier();
    for (uint step = 128u; step > 0u; step /= 2u) {
        if (own < step) part[own] += part[own + step];
        barrier();
    }
    for (uint k = 0u; k < 4u; ++k) result[first + k * 256u + own] = value[k] / part[0];
}
