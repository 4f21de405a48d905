// Plain GLSL: a workgroup passes values through a buffer that is not coherent.
// exec: --groups 1 --buffer 0:0=u32x64 --buffer 0:1=u32x64
// finds: race-private
// names: coherent
#version 450

#ifdef FIXED
#define QUALIFIER coherent
#else
#define QUALIFIER
#endif

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) QUALIFIER buffer Scratch { uint scratch[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    scratch[me] = me + 100u;
    memoryBarrierBuffer();
    barrier();
    results[me] = scratch[63u - me];
}
