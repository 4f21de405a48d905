// Indirect dispatches: their parameters are read in a stage of their own, before their invocations.
//# buffer a 4 u32 1
//# buffer b 16 u32
//# bind 0 a
//# bind 1 b
//# case compute-stage
//# fill a 1
//# barrier clear/transfer-write -> compute/shader-read
//# indirect a
//# expect hazard-read-after-write vkCmdFillBuffer vkCmdDispatchIndirect
//# case indirect-stage
//# fill a 1
//# barrier clear/transfer-write -> indirect|compute/indirect-read|storage-read
//# indirect a
//# final b 1 1
//# case later-stage
//# note Later stages wait for the indirect stage, but do not see what was made visible to it.
//# fill a 1
//# barrier clear/transfer-write -> indirect/indirect-read
//# dispatch 1
//# expect hazard-read-after-write vkCmdFillBuffer 1
//# case earlier-source
//# dispatch 1
//# barrier indirect -> clear
//# fill a 1
//# expect hazard-write-after-read 1 vkCmdFillBuffer
//# case earlier-source-fixed
//# dispatch 1
//# barrier compute -> clear
//# fill a 1
//# case source-takes-in-parameters
//# note A source scope takes in logically earlier stages: the read of the parameters.
//# indirect a
//# barrier compute -> clear
//# fill a 1
#version 450

layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer A { uint a[4]; };
layout(set = 0, binding = 1, std430) writeonly buffer B { uint b[16]; };

void main() {
    b[gl_LocalInvocationIndex] = a[gl_LocalInvocationIndex & 3u]; // @1
}
