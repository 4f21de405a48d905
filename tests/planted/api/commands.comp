// Pairs of commands on one queue. The push constant chooses what a dispatch does: 0 writes `a`, 1 reads it into `b`, 2 reads it through a
// uniform buffer, 3 reads it through a second descriptor.
//# buffer a 16 u32
//# buffer b 16 u32
//# bind 0 a
//# uniform 1 a
//# bind 2 b
//# bind 3 a
//# push 0
//# case fill-fill
//# fill a 1
//# fill a 2
//# expect hazard-write-after-write vkCmdFillBuffer vkCmdFillBuffer fix insert
//# case fill-fill-fixed
//# note Between writes availability alone is enough.
//# fill a 1
//# barrier clear/transfer-write -> clear/none
//# fill a 2
//# final a 2 2
//# case fill-execution-fill
//# fill a 1
//# barrier clear -> clear
//# fill a 2
//# expect hazard-write-after-write vkCmdFillBuffer vkCmdFillBuffer fix extend
//# says TRANSFER_WRITE to srcAccessMask
//# case copy-fill
//# copy a b
//# fill a 1
//# expect hazard-write-after-read vkCmdCopyBuffer vkCmdFillBuffer fix insert
//# case copy-fill-fixed
//# note A write after a read needs an execution dependency only.
//# copy a b
//# barrier copy -> clear
//# fill a 1
//# case fill-is-not-copy
//# fill a 7
//# barrier copy/transfer-write -> compute/storage-read
//# dispatch 1 push 1
//# expect hazard-read-after-write vkCmdFillBuffer 2 fix extend
//# says CLEAR to srcStageMask
//# case fill-is-not-copy-fixed
//# fill a 7
//# barrier clear/transfer-write -> compute/storage-read
//# dispatch 1 push 1
//# final b 7 7
//# case uniform-read
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read
//# dispatch 1 push 2
//# expect hazard-read-after-write 1 3 fix extend
//# says UNIFORM_READ to dstAccessMask
//# case uniform-read-fixed
//# dispatch 1
//# barrier compute/storage-write -> compute/uniform-read
//# dispatch 1 push 2
//# final b 1 2 3
//# case bottom-top
//# dispatch 1
//# barrier compute/storage-write -> bottom
//# barrier top -> copy/transfer-read
//# copy a b
//# expect hazard-read-after-write 1 vkCmdCopyBuffer
//# case bottom-top-fixed
//# note Availability in one barrier, visibility in the next.
//# dispatch 1
//# barrier compute/storage-write -> copy
//# barrier copy -> copy/transfer-read
//# copy a b
//# final b 1 2 3
//# case visible-elsewhere
//# note Ordered in time by both barriers, but made visible to the copy alone.
//# dispatch 1
//# barrier compute/storage-write -> copy/transfer-read
//# barrier copy -> compute
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2 fix extend
//# says SHADER_STORAGE_READ to dstAccessMask
//# case visible-elsewhere-fixed
//# dispatch 1
//# barrier compute/storage-write -> copy/transfer-read
//# barrier copy -> compute/storage-read
//# dispatch 1 push 1
//# final b 1 2 3
//# case barrier-first
//# barrier all/memory-write -> all/memory-read|memory-write
//# dispatch 1
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# case full-barrier
//# note A full barrier orders private accesses, through other descriptors too.
//# dispatch 1
//# barrier all/memory-write -> all/memory-read|memory-write
//# dispatch 1 push 3
//# final b 1 2 3
//# case read-then-write
//# dispatch 1 push 1
//# dispatch 1
//# expect hazard-write-after-read 2 1 fix insert
//# case read-then-write-fixed
//# dispatch 1 push 1
//# barrier compute -> compute
//# dispatch 1
//# case write-write
//# dispatch 1
//# dispatch 1
//# expect hazard-write-after-write 1 1 fix insert
//# case write-write-fixed
//# dispatch 1
//# barrier compute/storage-write -> compute/none
//# dispatch 1
//# case other-buffer
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read on b
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# case other-buffer-fixed
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read on a
//# dispatch 1 push 1
//# final b 1 2 3
//# case separate-elements
//# note The elements of one VkDependencyInfo are separate dependencies.
//# dispatch 1
//# barrier compute/storage-write -> copy/none, compute/none -> copy/transfer-read
//# copy a b
//# expect hazard-read-after-write 1 vkCmdCopyBuffer
//# case joined-elements
//# note The memory barriers of one vkCmdPipelineBarrier are one dependency.
//# dispatch 1
//# barrier1 compute -> transfer: shader-write -> none, none -> transfer-read
//# copy a b
//# final b 1 2 3
//# case next-submission
//# dispatch 1
//# submit
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# case next-submission-fixed
//# note Waiting for a fence makes available, the next submission makes visible.
//# dispatch 1
//# fence
//# dispatch 1 push 1
//# final b 1 2 3
//# case update-read
//# update a 5 6 7
//# dispatch 1 push 1
//# expect hazard-read-after-write vkCmdUpdateBuffer 2
//# case update-read-fixed
//# update a 5 6 7
//# barrier clear|copy/transfer-write -> compute/storage-read
//# dispatch 1 push 1
//# final b 5 6 7
//# case set-event-first
//# set-event e compute
//# dispatch 1
//# wait-event e compute/shader-write -> compute/shader-read
//# dispatch 1 push 1
//# expect hazard-read-after-write 1 2
//# case set-event-after
//# dispatch 1
//# set-event e compute
//# wait-event e compute/shader-write -> compute/shader-read
//# dispatch 1 push 1
//# final b 1 2 3
//# case labelled
//# label produce
//# dispatch 1
//# end-label
//# label consume
//# dispatch 1 push 1
//# end-label
//# expect hazard-read-after-write 1 2
//# says produce
//# says consume
#version 450

layout(local_size_x = 16) in;
layout(push_constant) uniform Arguments { uint pass; };
layout(set = 0, binding = 0, std430) buffer A { uint a[16]; };
layout(set = 0, binding = 1, std140) uniform U { uvec4 u[4]; };
layout(set = 0, binding = 2, std430) buffer B { uint b[16]; };
layout(set = 0, binding = 3, std430) buffer Again { uint again[16]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    switch (pass) {
    case 0u:
        a[me] = me + 1u; // @1
        break;
    case 1u:
        b[me] = a[me]; // @2
        break;
    case 2u:
        b[me] = u[me >> 2u][me & 3u]; // @3
        break;
    default:
        b[me] = again[me]; // @4
    }
}
