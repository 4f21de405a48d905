#version 450
// A loop and a way out of it, each of which a specialization constant takes away. `spirv-opt -O` carries `x`
// by phi instructions: the loop's value comes from a block that no invocation reaches.
layout(local_size_x = 32) in;
layout(constant_id = 0) const bool ENABLED = false;
layout(constant_id = 1) const bool ENDS = true;
layout(set = 0, binding = 0) buffer Results { uint limit; uint results[]; };

void main() {
    uint x = 7 + gl_LocalInvocationIndex;
    while (ENABLED) {
        x *= 3;
        if (x > limit) break;
        for (uint k = 0; k < x % 5; k++) x += k;
        if (ENDS) break;
    }
    results[gl_LocalInvocationIndex] = x;
}
