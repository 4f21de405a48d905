// The last invocations read past the end of the buffer.
// exec: --groups 1 --buffer 0:0=u32x60=iota --buffer 0:1=u32x64
// finds: out-of-bounds
// names: set 0, binding 0
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef FIXED
    results[me] = me < values.length() ? values[me] : 0u;
#else
    results[me] = values[me];
#endif
}
