#version 450
// A convolution of 3 x 3 over an image of 1,024 x 1,024 floats.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) writeonly buffer Result { float result[]; };
layout(set = 0, binding = 1) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 4, r32f) uniform readonly image2D source;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    float sum = 0.0;
    for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
            ivec2 from = clamp(at + ivec2(x, y), ivec2(0), ivec2(1023));
            sum += weights[(y + 1) * 3 + x + 1] * imageLoad(source, from).x;
        }
    }
    result[at.y * 1024 + at.x] = sum;
}
