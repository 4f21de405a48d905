#version 450
// The product of a sparse matrix and a vector: 65,536 rows of 8 to 23 elements, one row an invocation.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) writeonly buffer Result { float result[]; };
layout(set = 0, binding = 1) readonly buffer Columns { uint columns[]; };
layout(set = 0, binding = 2) readonly buffer Values { float values[]; };
layout(set = 0, binding = 3) readonly buffer Vector { float vector[]; };

void main() {
    uint row = gl_GlobalInvocationID.x, count = 8u + (row * 2654435761u >> 28);
    float sum = 0.0;
    for (uint k = 0u; k < count; ++k) sum += values[row * 24u + k] * vector[columns[row * 24u + k] & 65535u];
    result[row] = sum;
}
