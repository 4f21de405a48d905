#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, std430) writeonly buffer Iterations { uint iterations[]; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uint width = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    precise float x0 = float(at.x) * 0.0625 - 1.5;
    precise float y0 = float(at.y) * 0.0625 - 1.0;
    precise float x = 0.0;
    precise float y = 0.0;
    uint n = 0;
    while (n < 200u && x * x + y * y <= 4.0) {
        precise float next = x * x - y * y + x0;
        y = 2.0 * x * y + y0;
        x = next;
        n++;
    }
    iterations[at.y * width + at.x] = n;
}
