// Neighbouring bytes and half words are different locations: writing one does not race with its neighbours. An overlapping word does.
//# buffer bytes 256 u8
//# buffer shorts 128 u16
//# bind 0 bytes
//# bind 1 shorts
//# dispatch 4
//# case fixed
//# final bytes 0 1 2 3 4
//# final shorts 0 1 2 3 4
//# case overlapping-word WORDS
//# expect race-private 1 2
//# allow race-private 2 2
#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_buffer_reference : require

layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) buffer Bytes {
#ifdef WORDS
    uint words[];
#else
    uint8_t bytes[];
#endif
};
layout(set = 0, binding = 1, std430) buffer Shorts { uint16_t shorts[]; };

void main() {
    uint me = gl_GlobalInvocationID.x;
#ifdef WORDS
    uint shift = 8u * (me & 3u);
    uint word = words[me >> 2u]; // @1
    words[me >> 2u] = word & ~(0xffu << shift) | (me << shift); // @2
#else
    bytes[me] = uint8_t(me);
#endif
    shorts[me] = uint16_t(me);
}
