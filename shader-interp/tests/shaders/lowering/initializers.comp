#version 460
#extension GL_EXT_null_initializer : require
layout(local_size_x=64) in;
shared uint z[64] = {}; layout(binding=0) buffer O { uint o[]; };
struct Big { float x[1000]; }; layout(binding=1) buffer Q { Big b[]; };
float priv[4] = float[4](1,2,3,4); int gcount = 3; const float table[8] = float[8](1,2,3,4,5,6,7,8);
void bump() { gcount++; priv[gcount & 3] += 1; }
void main() { uint i = gl_LocalInvocationIndex; bump(); bump(); o[i] = z[i] + uint(priv[i & 3]) + uint(gcount) + uint(table[i & 7]); Big l = b[0]; l.x[i] = 3; b[1] = l; }
