#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_realtime_clock : require
#extension GL_ARB_shader_clock : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x=64) in;
layout(std430, binding=0) buffer A { uvec4 v[]; } a;
void main() { uint i = gl_GlobalInvocationID.x; uvec4 v = a.v[i]; vec3 f = vec3(v.xyz); bvec2 b = bvec2(v.xy);
 if (subgroupElect()) v.x++; if (subgroupAll(b.x) || subgroupAny(b.y) || subgroupAllEqual(f)) v.y++;
 v += subgroupBallot(b.x); v.x += subgroupBallotBitCount(v) + subgroupBallotInclusiveBitCount(v) + subgroupBallotExclusiveBitCount(v) + subgroupBallotFindLSB(v) + subgroupBallotFindMSB(v); if (subgroupInverseBallot(v) || subgroupBallotBitExtract(v, 3)) v.z++;
 f += subgroupBroadcast(f, 3) + subgroupBroadcastFirst(f); b = subgroupBroadcastFirst(b);
 f += subgroupAdd(f) + subgroupMul(f) + subgroupMin(f) + subgroupMax(f) + subgroupInclusiveAdd(f) + subgroupExclusiveMax(f) + subgroupClusteredAdd(f, 4);
 v += subgroupAnd(v) + subgroupOr(v) + subgroupXor(v) + subgroupExclusiveAnd(v) + uvec4(subgroupAnd(b), subgroupXor(b)); 
 v = subgroupShuffle(v, 3) + subgroupShuffleXor(v, 1) + subgroupShuffleUp(v, 1) + subgroupShuffleDown(v, 2) + subgroupQuadBroadcast(v, 1) + subgroupQuadSwapHorizontal(v) + subgroupQuadSwapVertical(v) + subgroupQuadSwapDiagonal(v);
 int64_t l = subgroupAdd(int64_t(v.x)); v.y += uint(l >> 32); v += gl_SubgroupEqMask + gl_SubgroupGeMask + gl_SubgroupGtMask + gl_SubgroupLeMask + gl_SubgroupLtMask; v.x += gl_SubgroupID + gl_NumSubgroups + gl_SubgroupInvocationID + gl_SubgroupSize + gl_NumWorkGroups.x + gl_WorkGroupID[v.x % 3] + gl_LocalInvocationIndex + gl_WorkGroupSize.y;
 v.xy += clock2x32ARB(); v.x += uint(clockRealtimeEXT()); subgroupBarrier(); subgroupMemoryBarrierShared();
 a.v[i] = v + uvec4(f, 1) + uvec4(b, b); }
