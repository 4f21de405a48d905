#version 450
layout(local_size_x = 8) in;
layout(binding = 0) buffer Data { uint values[]; };

uint twice(uint x) {
    uint doubled = values[x] * 2;
    return doubled;
}

uint mixed(uint x) {
    uint first = twice(x);
    values[x + 8] = first;
    return first + 1;
}

void main() {
    uint me = gl_LocalInvocationIndex;
    uint got = mixed(me);
    values[me] = got;
}
