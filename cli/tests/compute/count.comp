// Every invocation counts: any order of 64 atomics is possible.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { uint count; uint first[64]; };
void main() {
    first[gl_LocalInvocationIndex] = atomicAdd(count, 1);
}
