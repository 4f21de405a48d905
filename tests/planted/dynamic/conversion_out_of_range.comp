// Floats that an integer type cannot hold, converted to it.
//# buffer values 64 f32
//# buffer results 64 u32
//# bind 0 values
//# bind 1 results
//# subgroup 32
//# notes
//# dispatch 1
//# case fixed FIXED
//# case unsigned UNSIGNED
//# expect conversion-out-of-range 1
//# says invocation 40
//# case signed SIGNED
//# expect conversion-out-of-range 2
//# says invocation 40
//# case none NONE
//# expect conversion-out-of-range 3
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { float values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    float zero = values[me];
    uint result = 0u;
#ifdef FIXED
    // The ends of the ranges.
    result = uint(zero + 4294967040.0) + uint(zero - 0.99);
    result += uint(int(zero + 2147483520.0)) + uint(int(zero - 2147483648.0));
#endif
#ifdef UNSIGNED
    float most = me < 40u ? 4294967040.0 : me == 40u ? 4294967296.0 : -1.0;
    result = uint(zero + most); // @1
#endif
#ifdef SIGNED
    float least = me < 40u ? -2147483648.0 : -2147483904.0;
    result = uint(int(zero + least)); // @2
#endif
#ifdef NONE
    result = uint(int(zero / zero)); // @3
#endif
    results[me] = result;
}
