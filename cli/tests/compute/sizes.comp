#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer Data { uint8_t narrow[4]; int16_t middle[2]; uint64_t wide; double real; uvec2 pair; };
layout(binding = 1) buffer Out { uint64_t got[4]; double number; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        narrow[1] = uint8_t(7);
        middle[1] = int16_t(-700);
        wide = 0x700000008ul;
        real = 2.5lf;
        pair = uvec2(5);
    } else {
        got[0] = narrow[1];
        got[1] = uint64_t(middle[1]);
        got[2] = wide;
        number = real;
        uvec2 both = pair;
        got[3] = both.x + both.y;
    }
}
