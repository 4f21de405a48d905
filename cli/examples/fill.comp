#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0, r32ui) uniform writeonly uimage2D picture;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    imageStore(picture, at, uvec4(at.x + 10 * at.y));
}
