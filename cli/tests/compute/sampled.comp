#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1, std430) buffer Output { vec4 received; };

void main() {
    received = textureLod(picture, vec2(0.5), 0.0);
    received += texelFetch(picture, ivec2(1, 0), 0);
}
