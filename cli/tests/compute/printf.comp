#version 460
#extension GL_EXT_debug_printf : enable
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_buffer_reference2 : enable

// What debugPrintfEXT prints, of every type, from branches, loops and functions; and a format that is wrong.

layout(local_size_x = 8) in;
layout(buffer_reference, std430) buffer Pointer { uint value; };
layout(set = 0, binding = 0) buffer Values { uint last; uint values[]; };

void tell(uint what) {
    debugPrintfEXT("tell %u", what);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    // Who comes last decides: small dispatches of it are rehearsed.
    bool is_last = atomicAdd(last, 1) == gl_NumWorkGroups.x * 8 - 1;
    values[i] = is_last ? 2u : 1u;
    barrier();
    if ((i & 3u) == 1u) {
        debugPrintfEXT("invocation %u of workgroup %v3u\n", i, gl_WorkGroupID);
    }
    for (uint k = 0; k < (i == 5u ? 2u : 0u); k++) {
        tell(k);
    }
    if (i == 5u) {
        tell(7u);
        debugPrintfEXT("int8 %d uint8 %u", int8_t(-int(i)), uint8_t(250u + i));
        debugPrintfEXT("int16 %i uint16 %04x", int16_t(-300 * int(i)), uint16_t(i));
        debugPrintfEXT("int64 %ld uint64 %lu %lx %ul", int64_t(i) * -10000000000l, uint64_t(i) << 60, uint64_t(i) << 60, uint64_t(i) << 60);
        debugPrintfEXT("half %.3f float %g double %e", float16_t(i) / 4.0hf, float(i) / 3.0, double(i) / 3.0);
        debugPrintfEXT("bool %d %u", i == 5u, i == 6u);
        debugPrintfEXT("vec4 %1.2v4f ivec2 %v2d u64vec2 %v2lx", vec4(i) / vec4(1, 2, 3, 4), ivec2(i, -1), u64vec2(i, i << 8));
        debugPrintfEXT("pointer %p, 100%%, octal %o, hex float %a", Pointer(0x1000ul * i), i, float(i));
        debugPrintfEXT("%d %s", i, i);
    }
}
