// The shapes of the conformance suite's message passing group, race-free: message passing: a payload is written, a guard raised; who sees the guard of its partner reads its payload.
// Cases are named as there: coherence, synchronisation, guard, scope, kinds of memory.
//# buffer payload 128 u32
//# buffer guard 128 u32
//# buffer both 256 u32
//# image payloads r32ui 128 1
//# image guards r32ui 128 1
//# buffer failures 128 u32
//# bind 0 payload
//# bind 1 guard
//# bind 2 payloads
//# bind 3 guards
//# bind 4 failures
//# push address both
//# subgroup 32
//# dispatch 2
//# final failures 0 0 0 0 0 0 0 0
//# case noncoherent.fence_fence.atomicwrite.device.payload-buffer.guard-buffer FENCE_BEFORE FENCE_AFTER SCOPE=gl_ScopeDevice PARTNER=64u PAYLOAD=BUFFER GUARD=BUFFER
//# case noncoherent.fence_atomic.atomicwrite.device.payload-image.guard-image FENCE_BEFORE SCOPE=gl_ScopeDevice PARTNER=64u PAYLOAD=IMAGE GUARD=IMAGE
//# case noncoherent.atomic_fence.atomicrmw.device.payload-physbuffer.guard-image FENCE_AFTER RMW SCOPE=gl_ScopeDevice PARTNER=64u PAYLOAD=ADDRESS GUARD=IMAGE
//# case noncoherent.atomic_atomic.atomicrmw.device.payload-buffer.guard-buffer RMW SCOPE=gl_ScopeDevice PARTNER=64u PAYLOAD=BUFFER GUARD=BUFFER
//# case noncoherent.control_barrier.device.buffer CONTROL_BARRIER=gl_ScopeWorkgroup SCOPE=gl_ScopeDevice PARTNER=32u PAYLOAD=BUFFER GUARD=ADDRESS
//# case coherent.fence_fence.atomicwrite.queuefamily.payload-image.guard-physbuffer FENCE_BEFORE FENCE_AFTER COHERENT=queuefamilycoherent SCOPE=gl_ScopeQueueFamily PARTNER=64u PAYLOAD=IMAGE GUARD=ADDRESS
//# case coherent.fence_atomic.atomicrmw.queuefamily.payload-physbuffer.guard-buffer FENCE_BEFORE RMW COHERENT=queuefamilycoherent SCOPE=gl_ScopeQueueFamily PARTNER=64u PAYLOAD=ADDRESS GUARD=BUFFER
//# case coherent.atomic_fence.atomicrmw.queuefamily.payload-buffer.guard-image FENCE_AFTER RMW COHERENT=queuefamilycoherent SCOPE=gl_ScopeQueueFamily PARTNER=64u PAYLOAD=BUFFER GUARD=IMAGE
//# case coherent.atomic_atomic.atomicwrite.queuefamily.payload-buffer.guard-image COHERENT=queuefamilycoherent SCOPE=gl_ScopeQueueFamily PARTNER=64u PAYLOAD=BUFFER GUARD=IMAGE
//# case coherent.control_barrier.queuefamily.image CONTROL_BARRIER=gl_ScopeWorkgroup COHERENT=queuefamilycoherent SCOPE=gl_ScopeQueueFamily PARTNER=32u PAYLOAD=IMAGE GUARD=BUFFER
//# case noncoherent.fence_fence.atomicrmw.workgroup.payload-physbuffer.guard-image FENCE_BEFORE FENCE_AFTER RMW SCOPE=gl_ScopeWorkgroup PARTNER=32u PAYLOAD=ADDRESS GUARD=IMAGE
//# case noncoherent.fence_atomic.atomicrmw.workgroup.payload-workgroup.guard-physbuffer FENCE_BEFORE RMW SCOPE=gl_ScopeWorkgroup PARTNER=32u PAYLOAD=SHARED GUARD=ADDRESS
//# case noncoherent.atomic_fence.atomicwrite.workgroup.payload-buffer.guard-buffer FENCE_AFTER SCOPE=gl_ScopeWorkgroup PARTNER=32u PAYLOAD=BUFFER GUARD=BUFFER
//# case noncoherent.atomic_atomic.atomicwrite.workgroup.payload-image.guard-image SCOPE=gl_ScopeWorkgroup PARTNER=32u PAYLOAD=IMAGE GUARD=IMAGE
//# case noncoherent.control_barrier.workgroup.physbuffer CONTROL_BARRIER=gl_ScopeWorkgroup RMW SCOPE=gl_ScopeWorkgroup PARTNER=32u PAYLOAD=ADDRESS GUARD=SHARED
//# case coherent.fence_fence.atomicrmw.subgroup.payload-workgroup.guard-workgroup FENCE_BEFORE FENCE_AFTER RMW COHERENT=subgroupcoherent SCOPE=gl_ScopeSubgroup PARTNER=1u PAYLOAD=SHARED GUARD=SHARED
//# case coherent.fence_atomic.atomicwrite.subgroup.payload-buffer.guard-image FENCE_BEFORE COHERENT=subgroupcoherent SCOPE=gl_ScopeSubgroup PARTNER=1u PAYLOAD=BUFFER GUARD=IMAGE
//# case coherent.atomic_fence.atomicwrite.subgroup.payload-image.guard-physbuffer FENCE_AFTER COHERENT=subgroupcoherent SCOPE=gl_ScopeSubgroup PARTNER=1u PAYLOAD=IMAGE GUARD=ADDRESS
//# case coherent.atomic_atomic.atomicrmw.subgroup.payload-physbuffer.guard-buffer RMW COHERENT=subgroupcoherent SCOPE=gl_ScopeSubgroup PARTNER=1u PAYLOAD=ADDRESS GUARD=BUFFER
//# case coherent.control_barrier.subgroup.workgroup CONTROL_BARRIER=gl_ScopeSubgroup RMW COHERENT=subgroupcoherent SCOPE=gl_ScopeSubgroup PARTNER=1u PAYLOAD=SHARED GUARD=IMAGE
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_buffer_reference : require
#pragma use_vulkan_memory_model

#define BUFFER 0
#define IMAGE 1
#define ADDRESS 2
#define SHARED 3

#define CLASSES (gl_StorageSemanticsBuffer | gl_StorageSemanticsImage | gl_StorageSemanticsShared)
#define RELEASE (gl_SemanticsRelease | gl_SemanticsMakeAvailable)
#define ACQUIRE (gl_SemanticsAcquire | gl_SemanticsMakeVisible)

#ifdef COHERENT
#define QUALIFIER COHERENT
#else
#define QUALIFIER nonprivate
#endif

layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Words { QUALIFIER uint payload[128]; uint guard[128]; };
layout(push_constant) uniform Arguments { Words words; };
layout(set = 0, binding = 0, std430) QUALIFIER buffer Payload { uint payload[128]; };
layout(set = 0, binding = 1, std430) buffer Guard { uint guard[128]; };
layout(set = 0, binding = 2, r32ui) QUALIFIER uniform uimage2D payload_image;
layout(set = 0, binding = 3, r32ui) uniform uimage2D guard_image;
layout(set = 0, binding = 4, std430) writeonly buffer Output { uint failures[128]; };

shared uint payload_shared[64];
shared uint guard_shared[64];

void put(uint at, uint value) {
#if PAYLOAD == BUFFER
    payload[at] = value;
#elif PAYLOAD == IMAGE
    imageStore(payload_image, ivec2(at, 0), uvec4(value));
#elif PAYLOAD == ADDRESS
    words.payload[at] = value;
#else
    payload_shared[at & 63u] = value;
#endif
}

uint get(uint at) {
#if PAYLOAD == BUFFER
    return payload[at];
#elif PAYLOAD == IMAGE
    return imageLoad(payload_image, ivec2(at, 0)).x;
#elif PAYLOAD == ADDRESS
    return words.payload[at];
#else
    return payload_shared[at & 63u];
#endif
}

#ifdef FENCE_BEFORE
#define STORE_SEMANTICS 0, 0
#else
#define STORE_SEMANTICS CLASSES, RELEASE
#endif
#ifdef FENCE_AFTER
#define LOAD_SEMANTICS 0, 0
#else
#define LOAD_SEMANTICS CLASSES, ACQUIRE
#endif

void raise(uint at) {
#ifdef FENCE_BEFORE
    memoryBarrier(SCOPE, CLASSES, RELEASE);
#endif
#if GUARD == BUFFER
#define CELL guard[at]
#elif GUARD == ADDRESS
#define CELL words.guard[at]
#elif GUARD == SHARED
#define CELL guard_shared[at & 63u]
#endif
#if GUARD == IMAGE
#ifdef RMW
    imageAtomicExchange(guard_image, ivec2(at, 0), 1u, SCOPE, STORE_SEMANTICS);
#else
    imageAtomicStore(guard_image, ivec2(at, 0), 1u, SCOPE, STORE_SEMANTICS);
#endif
#elif defined(RMW)
    atomicExchange(CELL, 1u, SCOPE, STORE_SEMANTICS);
#else
    atomicStore(CELL, 1u, SCOPE, STORE_SEMANTICS);
#endif
}

bool raised(uint at) {
#if GUARD == IMAGE
#ifdef RMW
    uint seen = imageAtomicAdd(guard_image, ivec2(at, 0), 0u, SCOPE, LOAD_SEMANTICS);
#else
    uint seen = imageAtomicLoad(guard_image, ivec2(at, 0), SCOPE, LOAD_SEMANTICS);
#endif
#elif defined(RMW)
    uint seen = atomicAdd(CELL, 0u, SCOPE, LOAD_SEMANTICS);
#else
    uint seen = atomicLoad(CELL, SCOPE, LOAD_SEMANTICS);
#endif
#ifdef FENCE_AFTER
    memoryBarrier(SCOPE, CLASSES, ACQUIRE);
#endif
    return seen == 1u;
}

void main() {
    uint me = gl_GlobalInvocationID.x;
    uint partner = me ^ PARTNER;
    uint failed = 0u;
#if GUARD == SHARED || PAYLOAD == SHARED
    guard_shared[gl_LocalInvocationIndex] = 0u;
    payload_shared[gl_LocalInvocationIndex] = 0u;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
#endif
    put(me, me + 1u);
#ifdef CONTROL_BARRIER
    controlBarrier(CONTROL_BARRIER, SCOPE, CLASSES,
                   gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    failed = uint(get(partner) != partner + 1u);
#else
    raise(me);
    if (raised(partner))
        failed = uint(get(partner) != partner + 1u);
#endif
    failures[me] = failed;
}
