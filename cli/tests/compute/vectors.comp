#version 450
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer Points { vec4 points[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { vec4 moved[]; };
layout(push_constant) uniform Push { mat4 transform; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 p = transform * points[i];
    moved[i] = vec4(max(p.xyz, vec3(-4.0)).zyx, dot(p.xy, vec2(1.0, 2.0)));
}
