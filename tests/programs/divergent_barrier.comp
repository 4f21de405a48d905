// Half of the workgroup does not reach the barrier.
// exec: --groups 1 --buffer 0:0=u32x64
// finds: barrier-divergence
// names: barrier
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint table[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    table[me] = me;
#ifdef FIXED
    barrier();
    if (me < 32u)
        results[me] = table[me + 32u];
#else
    if (me < 32u) {
        barrier();
        results[me] = table[me + 32u];
    }
#endif
}
