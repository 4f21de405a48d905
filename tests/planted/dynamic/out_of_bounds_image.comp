// A texel outside of the image.
//# image picture r32ui 8 8 3
//# buffer results 64 u32
//# bind 0 picture
//# bind 1 results
//# dispatch 1
//# case fixed FIXED
//# final results 3 3 3
//# case bug
//# expect out-of-bounds 1
#version 450

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) readonly uniform uimage2D picture;
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy) + ivec2(1, 0);
#ifdef FIXED
    at = min(at, imageSize(picture) - 1);
#endif
    results[gl_LocalInvocationIndex] = imageLoad(picture, at).x; // @1
}
