// Divisions and remainders of which some divisors are zero: a note, and none where a branch keeps the zero away.
//# buffer divisors 32 u32 iota
//# buffer results 32 u32
//# bind 0 divisors
//# bind 1 results
//# subgroup 32
//# notes
//# dispatch 1
//# case fixed FIXED
//# final results 7 200 100 66
//# case divide DIVIDE
//# expect divide-by-zero 1
//# says invocation 0
//# case remainder REMAINDER
//# expect divide-by-zero 2
//# case signed SIGNED
//# expect divide-by-zero 3
#version 450

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer Divisors { uint divisors[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    uint divisor = divisors[me];
    uint result = 7u;
#ifdef FIXED
    if (divisor != 0u)
        result = 200u / divisor;
#endif
#ifdef DIVIDE
    result = 200u / divisor; // @1
#endif
#ifdef REMAINDER
    result = 200u % divisor; // @2
#endif
#ifdef SIGNED
    result = uint(-200 / int(divisor)); // @3
#endif
    results[me] = result;
}
