// Two dispatches smooth a line back and forth. The barrier that is missing between them is one mistake, however many
// pairs of their instructions it leaves without an order.
//# buffer a 66 u32 iota
//# buffer b 66 u32 zero
//# bind 0 a
//# bind 1 b
//# push 0
//
//# case fixed
//# dispatch 1 push 0
//# barrier compute/storage-write -> compute/storage-read|storage-write
//# dispatch 1 push 1
//# final b[1] 2 4
//
//# case no-barrier
//# dispatch 1 push 0
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# expect hazard-read-after-write 1 3
//# expect hazard-write-after-read 4 5
//# expect hazard-write-after-read 6 5
//# says help: insert a barrier between them: srcStageMask COMPUTE_SHADER
//# says help: the same fix as above: insert a barrier between them: srcStageMask COMPUTE_SHADER
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[]; };
layout(push_constant) uniform Push { uint back; };

void main() {
    uint me = gl_LocalInvocationIndex;
    uint sum;
    if (back == 0u) {
        sum = a[me]; // @4
        sum += a[me + 2u]; // @6
        b[me + 1u] = sum; // @1
    } else {
        sum = b[me]; // @2
        sum += b[me + 2u]; // @3
        a[me + 1u] = sum; // @5
    }
}
