#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Some workgroups access an address that nothing has, later ones sooner; the first one waits for one of these.
layout(local_size_x = 32) in;
layout(buffer_reference, std430) buffer Word { uint x; };
layout(binding = 0) buffer Words { uint words[]; };

void main() {
    uint w = gl_WorkGroupID.x;
    if (w % 64 == 37) {
        for (uint k = 0; k < 200 * (512 - w); ++k)
            words[w] += k;
        Word(uvec2(16 * w, 1)).x = 1;
    } else if (w == 0) {
        while (atomicAdd(words[37], 0) != 1) {}
    }
}
