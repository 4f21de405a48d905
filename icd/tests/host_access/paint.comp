#version 450
// Writes one texel for each invocation.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D canvas;

void main() {
    imageStore(canvas, ivec2(gl_GlobalInvocationID.xy), uvec4(7));
}
