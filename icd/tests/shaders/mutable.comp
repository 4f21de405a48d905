#version 460
// Two descriptors of one binding, which are a uniform and a storage buffer.
layout(set = 0, binding = 0) uniform Uniform { uint value; } uniforms[2];
layout(set = 0, binding = 0) buffer Storage { uint value; } storages[2];
layout(set = 0, binding = 1) buffer Sum { uint sum; };

void main() {
    sum = uniforms[0].value + storages[1].value;
}
