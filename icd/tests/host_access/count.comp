#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Counter { uint counter; };
layout(set = 0, binding = 1) readonly buffer Steps { uint steps[]; };
void main() {
    atomicAdd(counter, steps[gl_GlobalInvocationID.x]);
}
