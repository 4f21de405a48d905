#version 460
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
#extension GL_EXT_shader_image_int64 : require
#extension GL_EXT_samplerless_texture_functions : require
#pragma use_vulkan_memory_model
layout(local_size_x=64) in;
layout(std430, binding=0) workgroupcoherent buffer A { uint u; int i; uint64_t l; float f; double d; nonprivate uint data[]; } a;
layout(binding=1, r32ui) uniform uimage2D img; layout(binding=2, r32i) uniform iimage1D img1; layout(binding=3, rgba8) uniform image3D im3; layout(binding=4, r32ui) uniform uimageBuffer ib; layout(binding=5, r32ui) uniform uimage2DMS ims; layout(binding=6) uniform sampler2D s2; layout(binding=7) uniform texture2D t2; layout(binding=8) uniform sampler sm; layout(binding=9) uniform isamplerBuffer sb; layout(binding=10, r32f) queuefamilycoherent uniform image2DArray ia[4]; layout(binding=11) uniform samplerCube sc;layout(binding=12, r64ui) uniform u64image2D i64;
shared uint su; shared float sf; shared uint64_t sl;
void main() {
 uint r = atomicAdd(a.u, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease); atomicStore(a.u, 3u, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsRelease | gl_SemanticsMakeAvailable); r += atomicLoad(a.u, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
 r += atomicCompSwap(a.u, 3, 4, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease, gl_StorageSemanticsBuffer, gl_SemanticsAcquire); r += atomicMin(su, 3) + atomicMax(su, 4) + atomicAnd(su, 3) + atomicOr(su, 1) + atomicXor(su, 2) + atomicExchange(su, 2); int q = atomicMin(a.i, -3) + atomicMax(a.i, 4);
 uint64_t l = atomicAdd(a.l, 3ul) + atomicMax(sl, 5ul) + imageAtomicAdd(i64, ivec2(1), 5ul); float f = atomicAdd(a.f, 1.0) + atomicExchange(sf, 2.0) + atomicMin(a.f, 3.0) + atomicMax(sf, 1.0); double d = atomicAdd(a.d, 1.0lf);
 r += imageAtomicAdd(img, ivec2(1,2), 3u) + imageAtomicCompSwap(img, ivec2(1), 1u, 2u) + imageAtomicExchange(ib, 3, 4u) + imageAtomicOr(ims, ivec2(1), 2, 4u) + imageAtomicLoad(img, ivec2(1), gl_ScopeDevice, gl_StorageSemanticsImage, gl_SemanticsAcquire); q += imageAtomicMin(img1, 3, -4);
 imageAtomicStore(img, ivec2(2), 4u, gl_ScopeDevice, gl_StorageSemanticsImage, gl_SemanticsRelease);
 vec4 v = imageLoad(im3, ivec3(1)); imageStore(im3, ivec3(2), v); v += imageLoad(ia[r & 3], ivec3(1)); imageStore(ia[1], ivec3(2), v); v += textureLod(s2, vec2(0.5), 1.0) + textureLod(sampler2D(t2, sm), vec2(0.1), 0.0) + texelFetch(s2, ivec2(1), 0) + texelFetch(t2, ivec2(1), 0) + vec4(texelFetch(sb, 3)) + textureLod(sc, vec3(1), 0.0); uvec4 w = imageLoad(ib, 2) + imageLoad(ims, ivec2(1), 2); imageStore(ib, 1, w);
 ivec2 sz = imageSize(img) + textureSize(s2, 1) + ivec2(imageSize(ia[2]).xz) + ivec2(imageSamples(ims), textureQueryLevels(s2)) + textureSize(sb) + imageSize(ib);
 controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible); memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsImage, gl_SemanticsAcquireRelease);
 a.data[gl_LocalInvocationIndex] = r + uint(q) + uint(l) + uint(f) + uint(d) + uint(v.x) + uint(sz.x) + a.data.length();
}
