// A reduction in shared memory that does not wait.
// exec: --groups 1 --buffer 0:0=u32x64=iota --buffer 0:1=u32x1
// finds: race-unordered
// names: partial
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint total; };

shared uint partial[64];

void main() {
    partial[gl_LocalInvocationIndex] = values[gl_LocalInvocationIndex];
#ifdef FIXED
    barrier();
#endif
    if (gl_LocalInvocationIndex == 0) {
        uint sum = 0;
        for (uint i = 0; i < 64; i++)
            sum += partial[i];
        total = sum;
    }
}
