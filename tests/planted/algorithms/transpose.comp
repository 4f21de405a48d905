// A transpose of a 16 x 16 matrix through a shared tile.
//# buffer values 256 u32 iota
//# buffer results 256 u32
//# bind 0 values
//# bind 1 results
//# subgroup 32
//# dispatch 1
//# case fixed FIXED
//# final results 0 16 32
//# case bug
//# expect race-unordered 1 2
//# allow uninitialised-read 2
#version 450

layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint results[]; };

shared uint tile[16][17];

void main() {
    uvec2 me = gl_LocalInvocationID.xy;
    tile[me.y][me.x] = values[me.y * 16u + me.x]; // @1
#ifdef FIXED
    barrier();
#endif
    results[me.y * 16u + me.x] = tile[me.x][me.y]; // @2
}
