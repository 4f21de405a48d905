#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer Data { uint once; uint twice; uint8_t often[4]; uint own; };
layout(binding = 1) buffer Out { uint got[4]; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        once = 1;
        twice = 1;
        twice = 2;
        for (uint k = 1; k <= 20; k++) {
            often[1] = uint8_t(k);
        }
    } else {
        got[0] = once;
        got[1] = twice;
        got[2] = often[1];
        own = 1;
        own = 2;
        got[3] = own;
    }
}
