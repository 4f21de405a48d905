#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x_id=0, local_size_y=2) in;
layout(constant_id=1) const int N = 4;
layout(constant_id=2) const float F = 1.5;
layout(constant_id=3) const bool Bc = true;
const int M = N * 2 + (Bc ? 1 : 0);
struct S { vec3 a; float b; mat3 m; i16vec3 h; uint8_t c; double d; int64_t l; f16vec2 hf; };
layout(std430, binding=0) buffer A { S s[]; } a;
layout(std140, row_major, binding=1) uniform U { mat4 m; mat3x2 n[3]; vec4 v; S t; } u;
layout(std430, binding=2) buffer O { vec4 o[]; } o;
layout(push_constant) uniform P { int k; float f; vec2 g[2]; } p;
shared S sh[3]; shared bool flags[8]; shared int arr[M];
float arr2(float x[4], int i) { return x[i]; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  S s = a.s[i];
  s.a += vec3(u.v.x) * u.m[1].xyz; s.m = s.m * s.m; s.h += int16_t(3); s.c = uint8_t(s.c << 2); s.d = sqrt(s.d); s.l = s.l * 3l + int64_t(s.h.x);
  s.hf = s.hf * float16_t(2.0) + f16vec2(s.a.xy);
  sh[i % 3u] = s; flags[i & 7u] = s.b > 1.0; arr[i % uint(M)] = M;
  barrier();
  S t = sh[(i + 1u) % 3u];
  a.s[i] = t;
  vec4 r = u.m * u.v + vec4(u.n[1] * vec3(1,2,3), u.n[p.k][1]);
  if (flags[p.k]) r += vec4(arr[p.k]);
  float x[4] = float[](1.0, 2.0, 3.0, F);
  r.x += arr2(x, p.k) + p.g[p.k].y;
  r[p.k] = 3.0;
  o.o[i] = r * inverse(u.m) + determinant(u.m) + vec4(transpose(u.m)[2]) + vec4(outerProduct(r.xy, r.zw)[0], 0, 0);
  o.o[i+1u].yz = vec2(u.t.m[p.k].y, float(u.t.l));
}
