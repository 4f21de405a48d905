#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0, r32ui) uniform uimage2D picture;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    uint own = imageLoad(picture, at).x;
    uint left = imageLoad(picture, max(at - ivec2(1, 0), ivec2(0))).x;
    imageStore(picture, at, uvec4((own + left) / 2));
}
