// Atomics of two dispatches.
//# buffer a 1 u32
//# buffer b 16 u32
//# bind 0 a
//# bind 1 b
//# push 0
//# case device-scope SCOPE=gl_ScopeDevice
//# note Mutually ordered atomics need no dependency.
//# dispatch 1
//# dispatch 1
//# final a 32
//# case workgroup-scope SCOPE=gl_ScopeWorkgroup
//# dispatch 1
//# barrier compute -> compute
//# dispatch 1
//# expect hazard-read-after-write 1 1
//# case workgroup-scope-fixed SCOPE=gl_ScopeWorkgroup
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read|storage-write
//# dispatch 1
//# final a 32
//# case plain-read SCOPE=gl_ScopeDevice
//# dispatch 1
//# barrier compute -> compute
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# case plain-read-fixed SCOPE=gl_ScopeDevice
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read
//# dispatch 1 push 1
//# final b 16 16
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

layout(local_size_x = 16) in;
layout(push_constant) uniform Arguments { uint pass; };
layout(set = 0, binding = 0, std430) buffer A { uint a; };
layout(set = 0, binding = 1, std430) buffer B { uint b[16]; };

void main() {
    if (pass == 0u)
        atomicAdd(a, 1u, SCOPE, 0, 0); // @1
    else
        b[gl_LocalInvocationIndex] = a; // @2
}
