#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// 64-bit arithmetic: a linear congruential sequence and a division.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Values { uint64_t values[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint64_t x = values[i];
    for (int k = 0; k < 5; k++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    values[i] = (x >> 17) / (uint64_t(i) + 3ul) + uint64_t(int64_t(i) - 40l);
}
