#version 460
#extension GL_EXT_shader_atomic_float2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require

// The least and the greatest of the same numbers, by buffers and by workgroup memory, in both widths.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Single { float single[]; };
layout(set = 0, binding = 1) buffer Double { float64_t double_[]; };
layout(set = 0, binding = 2) buffer Shared { float out_[]; };
shared float least, most;
shared float64_t wide_least, wide_most;

void main() {
    if (gl_LocalInvocationIndex == 0) {
        least = most = 5.0;
        wide_least = wide_most = 5.0LF;
    }
    barrier();
    float x = 33.5 - float(gl_LocalInvocationIndex ^ (gl_WorkGroupID.x * 21)) + 0.0;
    if (gl_LocalInvocationIndex == 7) {
        x = 0.0 / float(gl_WorkGroupID.x * 0);
    }
    atomicMin(single[0], x);
    atomicMax(single[1], x);
    atomicMin(double_[0], float64_t(x) * 2);
    atomicMax(double_[1], float64_t(x) * 2);
    atomicMin(least, x);
    atomicMax(most, x);
    atomicMin(wide_least, float64_t(x) * 2);
    atomicMax(wide_most, float64_t(x) * 2);
    barrier();
    if (gl_LocalInvocationIndex == 0 && gl_WorkGroupID.x == 0) {
        out_[0] = least;
        out_[1] = most;
        out_[2] = float(wide_least);
        out_[3] = float(wide_most);
    }
}
