// What nothing has written, beside a loop that is written out in check mode: what is told is what is told of
// the loop.
//# buffer numbers 4 u32 0 1 2 3
//# buffer results 256 u32
//# bind 0 numbers
//# bind 1 results
//# dispatch 1
//# case turns TURNS
//# expect uninitialised-read 1
//# case element ELEMENT
//# expect uninitialised-read 2
//# case calls CALLS
//# expect uninitialised-read 3
//# case repeated REPEATED
//# expect uninitialised-read 3
//# case again AGAIN
//# expect uninitialised-read 3
//# case copy COPY
//# expect uninitialised-read 4
//# case parameter PARAMETER
//# expect uninitialised-read 5
//# case switched SWITCHED
//# expect uninitialised-read 6
//# case summed SUMMED
//# expect uninitialised-read 7
//# case fixed
//# final results[0] 6 6 6 6
#version 450

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer Numbers { int numbers[4]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { int results[]; };

int when(int x) {
    int y;
    if (x == 0) y = 5;
    return y; // @3
}

int second(ivec2 pair) {
    return pair.y; // @5
}

void main() {
    int me = int(gl_LocalInvocationIndex);
    int sum = 0, given[4];
    for (int i = 0; i < 4; i++) given[i] = numbers[i];
    for (int i = 0; i < 4; i++) sum += given[3 - i];
    int some[4];
    some[0] = sum; // @6: glslang gives a selector of a switch the line before
#ifdef TURNS
    for (int i = 0; i < 4; results[me * 4 + i] = some[i], i++) { // @1
    }
#elif defined(ELEMENT)
    for (int i = 0; i < 4; i++) {
        int twice = 2 * some[i]; // @2
        results[me * 4 + i] = twice;
    }
#elif defined(CALLS)
    results[me] = when(given[0]);
    results[32 + me] = when(given[1]);
#elif defined(REPEATED)
    for (int i = 0; i < given[3]; i++) results[me * 4 + i] = when(i);
#elif defined(AGAIN)
    int kept[4];
    for (int i = 0; i < 4; i++) kept[i] = when(given[i]);
    for (int i = 0; i < 4; i++) results[me * 4 + i] = kept[3 - i];
#elif defined(COPY)
    ivec2 pair, copy;
    pair.x = sum;
    copy = pair;
    results[me] = copy.y; // @4
#elif defined(PARAMETER)
    ivec2 pair;
    pair.x = sum;
    results[me] = second(pair);
#elif defined(SWITCHED)
    int never;
    switch (never) {
        default: results[me] = sum;
    }
#elif defined(SUMMED)
    int base = 0;
    ivec2 pair, all;
    pair.x = sum;
    all = pair + base; // @7
    results[me] = all.x;
    results[32 + me] = all.y;
#else
    results[me] = sum;
#endif
}
