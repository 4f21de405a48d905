#version 450
layout(local_size_x=64) in;
layout(std430, binding=0) coherent buffer A { uint x; volatile uint y; uint d[]; } a;
layout(std430, binding=1) buffer B { coherent uint x; uint d[]; } b;
layout(std430, set=1, binding=3) readonly buffer C { uint d[]; } c[3]; layout(std430, set=1, binding=4) buffer D { uint e[4]; uint d[]; } dd[];
layout(binding=5, r32ui) coherent uniform uimage2D im;
shared uint s[64]; 
void f(inout uint q, coherent uint z[4]) { q += z[1]; }
void main() { uint i = gl_LocalInvocationIndex; a.d[i] = b.d[i]; b.x = a.y; s[i] = 1; memoryBarrierShared(); barrier(); memoryBarrier(); memoryBarrierBuffer(); groupMemoryBarrier(); memoryBarrierImage(); b.d[i] += c[1].d[i] + c[i % 3].d[2] + s[i+1]; imageStore(im, ivec2(1), uvec4(3)); atomicAdd(a.x, 1); atomicAdd(s[2], 1); imageAtomicAdd(im, ivec2(1), 3u); dd[2].d[1] = uint(dd[1].d.length()); dd[2].e[i & 3] = 1;  f(b.x, dd[2].e); }
