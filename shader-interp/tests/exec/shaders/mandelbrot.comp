#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) writeonly buffer Counts { uint counts[]; };
layout(push_constant) uniform Size { uint width; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    vec2 c = (vec2(i % width, i / width) / float(width) - vec2(0.7, 0.5)) * 2.5, z = vec2(0);
    uint k = 0u;
    while (k < 256u && dot(z, z) <= 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        k++;
    }
    counts[i] = k;
}
