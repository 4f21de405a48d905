// Samples an image at given places.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2D image;
layout(std430, set = 0, binding = 1) readonly buffer Places { vec2 places[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Texels { vec4 texels[]; };

void main() {
    uint at = gl_GlobalInvocationID.x;
    if (at < places.length()) {
        texels[at] = textureLod(image, places[at], 0.0);
    }
}
