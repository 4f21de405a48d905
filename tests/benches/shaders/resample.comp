#version 450
// An image of 1,024 x 1,024 floats, filtered linearly four times for each of as many points.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0) writeonly buffer Result { float result[]; };
layout(set = 0, binding = 5) uniform sampler2D source;

void main() {
    vec2 at = (vec2(gl_GlobalInvocationID.xy) + 0.5) / 1024.0;
    float sum = 0.0;
    for (int k = 0; k < 4; ++k) {
        vec2 moved = at + vec2(0.37, -0.21) * float(k + 1) / 1024.0;
        sum += textureLod(source, moved * 0.93 + 0.011, 0.0).x;
    }
    result[gl_GlobalInvocationID.y * 1024 + gl_GlobalInvocationID.x] = sum;
}
