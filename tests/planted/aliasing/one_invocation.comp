// Even one invocation alone does not see through one descriptor what it wrote through another.
//# buffer data 1 u32
//# buffer results 1 u32
//# bind 0 data
//# bind 1 data
//# bind 2 results
//# dispatch 1
//# case fixed READ=front
//# final results 5
//# case bug READ=back
//# expect race-same-invocation 1 2
#version 450

layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) coherent buffer Front { uint front; };
layout(set = 0, binding = 1, std430) coherent buffer Back { uint back; };
layout(set = 0, binding = 2, std430) writeonly buffer Output { uint result; };

void main() {
    front = 5u; // @1
    memoryBarrier();
    result = READ; // @2
}
