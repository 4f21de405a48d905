// Image layout transitions. The push constant chooses what a dispatch does: 0 writes the image, 1 reads it into `a`.
//# image i r32ui 4 4 iota
//# buffer a 16 u32
//# bind 0 i
//# bind 1 a
//# push 0
//# case write-transition
//# dispatch 1
//# barrier none -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix extend
//# says add COMPUTE_SHADER to srcStageMask and SHADER_STORAGE_WRITE to srcAccessMask of vkCmdPipelineBarrier
//# says layout transition from GENERAL to TRANSFER_SRC_OPTIMAL
//# case write-transition-fixed
//# dispatch 1
//# barrier compute/storage-write -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# final a 1 2 3
//# case not-available
//# note The transition follows the write, but reads and writes memory, too.
//# dispatch 1
//# barrier compute -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix extend
//# says add SHADER_STORAGE_WRITE to srcAccessMask of vkCmdPipelineBarrier
//# case read-transition
//# dispatch 1 push 1
//# barrier none -> copy/transfer-write on i from general to transfer-dst
//# expect hazard-layout-transition 2 vkCmdPipelineBarrier fix extend
//# says add COMPUTE_SHADER to srcStageMask of vkCmdPipelineBarrier
//# case read-transition-fixed
//# note After a read, an execution dependency is enough.
//# dispatch 1 push 1
//# barrier compute -> copy/transfer-write on i from general to transfer-dst
//# case not-visible
//# barrier none -> clear/transfer-write on i from general to transfer-dst
//# fill i 7
//# barrier clear/transfer-write -> compute on i from transfer-dst to general
//# dispatch 1 push 1
//# expect hazard-layout-transition vkCmdPipelineBarrier 2 fix extend
//# says add SHADER_STORAGE_READ to dstAccessMask of vkCmdPipelineBarrier
//# case not-visible-fixed
//# barrier none -> clear/transfer-write on i from general to transfer-dst
//# fill i 7
//# barrier clear/transfer-write -> compute/storage-read on i from transfer-dst to general
//# dispatch 1 push 1
//# final a 7 7 7
//# case another-stage
//# barrier none -> clear/transfer-write on i from general to transfer-dst
//# barrier clear/transfer-write -> clear on i from transfer-dst to general
//# dispatch 1
//# expect hazard-layout-transition vkCmdPipelineBarrier 1 fix extend
//# says add COMPUTE_SHADER to dstStageMask of vkCmdPipelineBarrier
//# case another-stage-fixed
//# note What a transition writes is available of itself: a write has to follow it, no more.
//# barrier none -> clear/transfer-write on i from general to transfer-dst
//# barrier clear/transfer-write -> compute on i from transfer-dst to general
//# dispatch 1
//# case undefined-after-write
//# note A transition that may discard what the image holds still writes its memory.
//# dispatch 1
//# barrier none -> compute/storage-write on i from undefined to general
//# dispatch 1
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix extend
//# case undefined-after-write-fixed
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-write on i from undefined to general
//# dispatch 1
//# case discarded
//# note From UNDEFINED, the image's contents are gone.
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read on i from undefined to general
//# dispatch 1 push 1
//# expect uninitialised-read 2
//# case discarded-fixed
//# note Equal layouts are no transition, and the contents stay.
//# dispatch 1
//# barrier compute/storage-write -> compute/storage-read on i from general to general
//# dispatch 1 push 1
//# final a 1 2 3
//# case not-chained
//# dispatch 1
//# barrier compute/storage-write -> clear
//# barrier copy -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix extend
//# says add CLEAR to srcStageMask of vkCmdPipelineBarrier
//# case chained
//# dispatch 1
//# barrier compute/storage-write -> copy
//# barrier copy -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# final a 1 2 3
//# case back-to-back
//# note Transitions of a queue follow each other.
//# dispatch 1
//# barrier compute/storage-write -> none on i from general to transfer-src
//# barrier none -> copy/transfer-read on i from transfer-src to general
//# copy i a
//# final a 1 2 3
//# case top-of-pipe
//# dispatch 1
//# barrier1 top -> transfer: none -> transfer-read on i from general to transfer-src
//# copy i a
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix extend
//# says add COMPUTE_SHADER to srcStageMask and SHADER_STORAGE_WRITE to srcAccessMask
//# case top-of-pipe-fixed
//# note The memory barriers of one vkCmdPipelineBarrier are one dependency: its transitions follow all that it makes available.
//# dispatch 1
//# barrier1 compute -> transfer: shader-write -> none, none -> transfer-read on i from general to transfer-src
//# copy i a
//# final a 1 2 3
//# case set-event-first
//# set-event e compute
//# dispatch 1
//# wait-event e compute/shader-write -> transfer/transfer-read on i from general to transfer-src
//# copy i a
//# expect hazard-layout-transition 1 vkCmdWaitEvents fix insert
//# case set-event-after
//# dispatch 1
//# set-event e compute
//# wait-event e compute/shader-write -> transfer/transfer-read on i from general to transfer-src
//# copy i a
//# final a 1 2 3
//# case next-submission
//# note A submission makes visible; only waiting for the one before it makes available.
//# dispatch 1
//# submit
//# barrier none -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix extend
//# case next-submission-fixed
//# dispatch 1
//# fence
//# barrier none -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# final a 1 2 3
//# case wait-of-another-stage
//# note The wait holds the copy back, and not the transition before it.
//# dispatch 1
//# submit signal s
//# queue 1
//# barrier none -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# submit wait s copy
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix extend
//# says add COPY to srcStageMask of vkCmdPipelineBarrier
//# case wait-of-that-stage
//# dispatch 1
//# submit signal s
//# queue 1
//# barrier copy -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# submit wait s copy
//# final a 1 2 3
//# case wait-of-all-commands
//# note A transition occurs in no stage, but is part of all commands.
//# dispatch 1
//# submit signal s
//# queue 1
//# barrier none -> copy/transfer-read on i from general to transfer-src
//# copy i a
//# submit wait s all
//# final a 1 2 3
//# case no-semaphore
//# dispatch 1
//# submit
//# queue 1
//# barrier compute/storage-write -> copy/transfer-read on i from general to transfer-src
//# submit
//# expect hazard-layout-transition 1 vkCmdPipelineBarrier fix semaphore
//# says wait for it on queue 1 at ALL_COMMANDS
#version 450

layout(local_size_x = 16) in;
layout(push_constant) uniform Arguments { uint pass; };
layout(set = 0, binding = 0, r32ui) uniform uimage2D i;
layout(set = 0, binding = 1, std430) buffer A { uint a[16]; };

void main() {
    uint me = gl_LocalInvocationIndex;
    ivec2 at = ivec2(me & 3u, me >> 2u);
    if (pass == 0u)
        imageStore(i, at, uvec4(me + 1u)); // @1
    else
        a[me] = imageLoad(i, at).x; // @2
}
