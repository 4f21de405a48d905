#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Out { uint count, low, high, chosen, ticket[64]; };
layout(std430, binding = 1) buffer Wide { uint64_t sum; int64_t least; };
shared uint own;
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex == 0u) own = 0u;
    barrier();
    atomicAdd(own, 1u);
    barrier();
    ticket[atomicAdd(count, 1u)] = own;
    atomicMin(low, i + 5u);
    atomicMax(high, i);
    atomicCompSwap(chosen, 0u, i + 1u);
    atomicAdd(sum, uint64_t(i) << 32);
    atomicMin(least, -int64_t(i));
}
