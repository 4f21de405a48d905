// Message passing between two workgroups through a buffer address.
//# buffer message 2 u32
//# buffer result 1 u32
//# bind 0 result
//# push address message
//# dispatch 2
//# case fixed
//# final result 42
//# case no-make-available RELEASE=gl_SemanticsRelease
//# expect race-not-available 1 2 missing availability fix make-available
//# case no-make-visible ACQUIRE=gl_SemanticsAcquire
//# expect race-not-visible 1 2 missing visibility fix make-visible
//# case relaxed RELEASE=0 ACQUIRE=0 CLASS=0
//# expect race-unordered 1 2
//# case private QUALIFIER=
//# expect race-private 1 2
//# case class CLASS=gl_StorageSemanticsShared
//# expect race-storage-class 1 2
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_buffer_reference : require
#pragma use_vulkan_memory_model

#ifndef RELEASE
#define RELEASE gl_SemanticsRelease | gl_SemanticsMakeAvailable
#endif
#ifndef ACQUIRE
#define ACQUIRE gl_SemanticsAcquire | gl_SemanticsMakeVisible
#endif
#ifndef CLASS
#define CLASS gl_StorageSemanticsBuffer
#endif
#ifndef QUALIFIER
#define QUALIFIER nonprivate
#endif

layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer Message { QUALIFIER uint data; uint flag; };
layout(push_constant) uniform Arguments { Message message; };
layout(set = 0, binding = 0, std430) buffer Output { uint received; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        message.data = 42; // @1
        atomicStore(message.flag, 1u, gl_ScopeDevice, CLASS, RELEASE);
    } else {
        while (atomicLoad(message.flag, gl_ScopeDevice, CLASS, ACQUIRE) == 0u) {
        }
        received = message.data; // @2
    }
}
