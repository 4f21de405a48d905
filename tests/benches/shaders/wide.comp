#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// 64-bit integers: additions, products, shifts and comparisons.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) writeonly buffer Result { uvec2 result[]; };

void main() {
    uint64_t a = uint64_t(gl_GlobalInvocationID.x) * 0x9e3779b97f4a7c15ul + 1ul, sum = 0ul;
    for (int k = 0; k < 256; ++k) {
        a ^= a << 13;
        a ^= a >> 7;
        a ^= a << 17;
        sum += a * 0x2545f4914f6cdd1dul;
        if (sum > a) sum -= a >> 3;
    }
    result[gl_GlobalInvocationID.x] = unpackUint2x32(sum);
}
