// An index one past the end of a shared array.
//# buffer results 64 u32
//# bind 0 results
//# dispatch 1
//# case fixed NEXT=((me+1u)&63u)
//# final results 1 2 3
//# case bug NEXT=(me+1u)
//# expect out-of-bounds 1
#version 450

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Output { uint results[]; };

shared uint table[64];
shared uint behind[64];

void main() {
    uint me = gl_LocalInvocationIndex;
    table[me] = me;
    behind[me] = 0u;
    barrier();
    results[me] = table[NEXT] + behind[me]; // @1
}
