#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x=64) in; layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align=16) buffer Node { Node next; vec4 v; uint64_t addr; mat2x3 m[]; };
layout(buffer_reference, std430) coherent buffer U { uint x[]; };
layout(std430, binding=0) buffer A { Node head; uvec2 raw; uint64_t r64; Node arr[4]; } a;
layout(push_constant) uniform P { U u; Node n; } p;
void main() { Node n = a.head; uint i = gl_GlobalInvocationID.x; for (int k = 0; k < 10; k++) { if (uvec2(n) == uvec2(0)) break; n.v += vec4(k); n.m[i][1].y = 2.0; Node t = n.next; n = k > 5 ? t : a.arr[k & 3]; }
 U u = U(a.raw); u.x[i]++; atomicAdd(u.x[i+1], 3); U w = U(a.r64); w.x[2] = uint(uint64_t(w)); p.n.v.x = 3; a.r64 = uint64_t(p.u); a.head = n; }
