// Several invocations write one value to one place.
//# buffer found 1 u32
//# buffer marks 32 u32
//# bind 0 found
//# bind 1 marks
//# dispatch 1
//# case fixed FIXED
//# final found 1
//# case flag FLAG
//# expect race-private 1 1 fix one-writer
//# says each of the writes that met wrote the value that was there
//# says let one invocation alone write each location at same_value.comp:28
//# final found 1
//# case buckets BUCKETS
//# expect race-private 2 2 fix one-writer
//# case apart APART
//# expect race-private 3 3
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Found { uint found; };
layout(set = 0, binding = 1, std430) buffer Marks { uint marks[]; };

void main() {
    uint me = gl_LocalInvocationIndex;
#ifdef FLAG
    if (me % 3u == 0u)
        found = 1u; // @1
#endif
#ifdef FIXED
    if (me == 0u)
        found = 1u;
#endif
#ifdef BUCKETS
    marks[me / 2u] = 7u; // @2
#endif
#ifdef APART
    // The last pair differs.
    marks[me / 2u] = me == 63u ? 1u : 7u; // @3
#endif
}
