#version 450
// A Monte Carlo sum over normally distributed values (Box and Muller): log, sqrt, sin, exp.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) writeonly buffer Result { float result[]; };

uint next(inout uint state) {
    state = state * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

void main() {
    uint state = gl_GlobalInvocationID.x * 7919u + 1u;
    float sum = 0.0;
    for (int k = 0; k < 64; ++k) {
        float a = (float(next(state) >> 8) + 1.0) / 16777216.0, b = float(next(state) >> 8) / 16777216.0;
        float normal = sqrt(-2.0 * log(a)) * sin(6.2831853 * b);
        sum += max(exp(0.2 * normal) - 1.0, 0.0);
    }
    result[gl_GlobalInvocationID.x] = sum / 64.0;
}
