#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#pragma use_vulkan_memory_model
layout(local_size_x = 4) in;
struct Item { uint8_t kind; uint16_t count; uint64_t total; mat2 m; dvec2 d; };
layout(set=0,binding=2) buffer B { Item items[4]; uint flag; };
layout(set=0,binding=3) buffer Out { uint out_[]; };
shared Item sh[2];
uint pick(uint a[3], uint k) { if (k > 2u) return 99u; return a[k]; }
Item make(uint k) { Item it; it.kind = uint8_t(k); it.count = uint16_t(k * 1000u); it.total = uint64_t(k) << 33; it.m = mat2(k, 1, 2, 3); it.d = dvec2(k, 0.5lf); return it; }
void main() {
  uint i = gl_LocalInvocationIndex;
  uint a[3] = uint[](5u, 6u, 7u);
  uint v = pick(a, i);
  if (i < 2u) sh[i] = make(i + 1u);
  barrier();
  Item got = sh[1];
  items[i] = got;
  items[i].m[1] = vec2(v, i);
  uint x = 0u;
  switch (i) { case 0u: x = 10u; break; case 1u: x = 20u; case 2u: x += 1u; break; default: x = 77u; }
  do { x++; if (x == 25u) break; } while (x < 30u);
  out_[i] = x;
  if (i == 0u) atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
}
