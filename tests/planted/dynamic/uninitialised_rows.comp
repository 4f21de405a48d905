// Rows of a tile that nothing fills are multiplied along with the others; what comes of them is dropped.
//# buffer results 128 f32
//# bind 0 results
//# dispatch 1
//# case dropped
//# final results[18] 37 39 -1 -1 -1 -1 0
//# case stored STORED
//# expect uninitialised-read 1
//# case branched BRANCHED
//# expect uninitialised-read 1
//# case indexed INDEXED
//# expect uninitialised-read 1
#version 450

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Output { float results[]; };

shared float rows[32];

void main() {
    uint me = gl_LocalInvocationIndex;
    if (me < 20u)
        rows[me] = float(me);
    barrier();
    float product = rows[me] * 2.0 + 1.0; // @1
    float chosen = me < 20u ? product : -1.0;
#ifdef STORED
    chosen = product;
#endif
#ifdef BRANCHED
    if (product > 3.0)
        results[64u + me] = 1.0;
#endif
#ifdef INDEXED
    results[32u + (uint(product) % 2u) * 32u + me] = 0.0;
#endif
    if (me < 24u)
        results[me] = chosen;
}
