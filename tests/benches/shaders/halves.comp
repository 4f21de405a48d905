#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
// A matrix of 16-bit floats, 1,024 x 1,024, by a vector: dot products of four, sums in 32 bits.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) writeonly buffer Result { float result[]; };
layout(set = 0, binding = 1) readonly buffer Matrix { f16vec4 matrix[]; };
layout(set = 0, binding = 2) readonly buffer Vector { f16vec4 vector[]; };

void main() {
    uint row = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint k = 0u; k < 256u; ++k) sum += float(dot(matrix[row * 256u + k], vector[k]));
    result[row] = sum;
}
