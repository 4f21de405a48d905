// A histogram whose bins are counted without atomics.
// exec: --groups 1 --buffer 0:0=u32x64=3,1,3,3,2 --buffer 0:1=u32x8
// finds: race-unordered
// names: histogram
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) buffer Output { uint bins[]; };

shared uint histogram[8];

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me < 8u)
        histogram[me] = 0u;
    barrier();
    uint bin = values[me] & 7u;
#ifdef FIXED
    atomicAdd(histogram[bin], 1u);
#else
    histogram[bin] = histogram[bin] + 1u;
#endif
    barrier();
    if (me < 8u)
        bins[me] = histogram[me];
}
