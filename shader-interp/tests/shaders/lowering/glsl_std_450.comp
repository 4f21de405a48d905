#version 460
layout(local_size_x=32) in;
layout(std430, binding=0) buffer A { vec4 v[]; } a;
layout(std430, binding=1) buffer B { ivec4 v[]; } b;
void main() {
  uint i = gl_GlobalInvocationID.x; vec4 x = a.v[i], y = a.v[i+1u]; ivec4 n = b.v[i];
  vec4 r = vec4(0); float f; int e; vec4 w; ivec4 ee;
  r += sin(x)+cos(x)+tan(x)+asin(x)+acos(x)+atan(x)+atan(x,y)+sinh(x)+cosh(x)+tanh(x)+asinh(x)+acosh(x)+atanh(x);
  r += pow(x,y)+exp(x)+log(x)+exp2(x)+log2(x)+sqrt(x)+inversesqrt(x);
  r += abs(x)+sign(x)+floor(x)+trunc(x)+round(x)+roundEven(x)+ceil(x)+fract(x)+mod(x,y)+mod(x,2.0);
  r += modf(x, w) + w + min(x,y)+max(x,y)+clamp(x,y,x)+mix(x,y,0.5)+mix(x,y,lessThan(x,y))+step(x,y)+smoothstep(x,y,x);
  r += fma(x,y,x) + frexp(x, ee) + ldexp(x, ee) + radians(x) + degrees(x);
  r += vec4(length(x), distance(x,y), dot(x,y), 0) + vec4(cross(x.xyz,y.xyz),1) + normalize(x) + faceforward(x,y,x)+reflect(x,y)+refract(x,y,0.3);
  r += vec4(packHalf2x16(x.xy), packUnorm4x8(x), packSnorm4x8(x), packUnorm2x16(x.xy)) + vec4(packSnorm2x16(x.xy)) + unpackUnorm4x8(uint(n.x)) + unpackSnorm4x8(uint(n.y)) + vec4(unpackHalf2x16(uint(n.x)), unpackUnorm2x16(uint(n.y))) + unpackSnorm2x16(uint(n.z)).xyxy;
  n = abs(n) + sign(n) + min(n, ee) + max(n, ee) + clamp(n, ee, n) + findLSB(n) + findMSB(n) + ivec4(findMSB(uvec4(n))) + bitCount(n) + bitfieldReverse(n) + bitfieldExtract(n, 3, 5) + bitfieldInsert(n, ee, 2, 7) + ivec4(bitfieldExtract(uvec4(n), 1, 2));
  uint c, hi, lo; n.x += int(uaddCarry(uint(n.x), uint(n.y), c)); n.y += int(c); n.z += int(usubBorrow(uint(n.x), uint(n.y), c)); umulExtended(uint(n.x), uint(n.y), hi, lo); n.w += int(hi + lo); int h2,l2; imulExtended(n.x, n.y, h2, l2); n.x += h2 ^ l2;
  n += floatBitsToInt(x); r += intBitsToFloat(n) + uintBitsToFloat(uvec4(n)); r += vec4(isnan(x)) + vec4(isinf(x)) + vec4(not(greaterThan(x,y))); if (any(equal(x,y)) && all(notEqual(n, ee))) r *= 2.0;
  n %= 7; n /= 3; n <<= 2; n >>= 1; n ^= ~ee; n |= 3; n &= ee; uvec4 un = uvec4(n) >> 3u; n += ivec4(un % 5u + un / 3u); r += vec4(n) + vec4(un); n += ivec4(r); un = uvec4(r); n += ivec4(un);
  double d = packDouble2x32(un.xy); un.zw = unpackDouble2x32(d * 2.0lf); n += ivec4(un); 
  a.v[i] = r; b.v[i] = n;
}
