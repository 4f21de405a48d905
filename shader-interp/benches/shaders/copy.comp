#version 450
// Copies words.
layout(local_size_x = 256) in;
layout(std430, binding = 0) writeonly buffer To { uint to[]; };
layout(std430, binding = 1) readonly buffer From { uint from[]; };
void main() { to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x]; }
