// One side of a counter is atomic, the other reads it plainly.
//# buffer counter 1 u32
//# buffer results 64 u32
//# bind 0 counter
//# bind 1 results
//# dispatch 2
//# case fixed READ=atomicLoad(count,gl_ScopeDevice,0,0)
//# case plain-read READ=count
//# expect race-unordered 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) devicecoherent buffer Counter { uint count; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

void main() {
    atomicAdd(count, 1u, gl_ScopeDevice, 0, 0); // @1
    results[gl_GlobalInvocationID.x] = READ; // @2
}
