#version 460
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_null_initializer : require
#extension GL_EXT_subgroup_uniform_control_flow : enable
layout(local_size_x=64) in;
shared X { uint a[16]; }; shared Y { vec4 b[4]; }; layout(binding=0) buffer O { vec4 o[]; };
void main() [[subgroup_uniform_control_flow]] { a[gl_LocalInvocationIndex & 15] = 1; barrier(); o[gl_LocalInvocationIndex] = b[gl_LocalInvocationIndex & 3]; float q[2] = {}; o[0].x = q[gl_LocalInvocationIndex & 1]; }
