// Inverts the texels of an image in place.
#version 450
#extension GL_EXT_shader_image_load_formatted : require
layout(local_size_x = 4, local_size_y = 4) in;
layout(set = 0, binding = 0) uniform image2D image;

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(at, imageSize(image)))) {
        imageStore(image, at, 1.0 - imageLoad(image, at));
    }
}
