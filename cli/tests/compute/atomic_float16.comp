#version 460
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

// Least, greatest and sum of numbers of 16 bits, two of them in a word, by a buffer and by workgroup memory; and a
// number that is handed on by exchanges.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Found { float16_t found[]; };
layout(set = 0, binding = 1) buffer Given { float16_t given[]; };
layout(set = 0, binding = 2) buffer Shared { float16_t out_[]; };
shared float16_t least, most, sum;

void main() {
    if (gl_LocalInvocationIndex == 0) {
        least = most = float16_t(5.0);
        sum = float16_t(0.0);
    }
    barrier();
    float16_t x = float16_t(33.5 - float(gl_LocalInvocationIndex ^ (gl_WorkGroupID.x * 21)));
    atomicMin(found[0], x);
    atomicMax(found[1], x);
    atomicAdd(found[2], float16_t(1.0));
    atomicAdd(found[3], float16_t(1.0));
    given[gl_GlobalInvocationID.x] = atomicExchange(out_[3], float16_t(gl_GlobalInvocationID.x));
    atomicMin(least, x);
    atomicMax(most, x);
    atomicAdd(sum, float16_t(1.0));
    barrier();
    if (gl_LocalInvocationIndex == 0 && gl_WorkGroupID.x == 0) {
        out_[0] = least;
        out_[1] = most;
        out_[2] = sum;
    }
}
