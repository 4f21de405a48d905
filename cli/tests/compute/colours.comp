// Workgroup 0 writes a texel and sets a flag; workgroup 1 waits for the flag, which orders nothing, and reads
// the texel.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, rgba8) uniform nonprivate image2D picture;
layout(set = 0, binding = 1) buffer Flag { uint flag; };
layout(set = 0, binding = 2) buffer Received { vec4 received; };

void main() {
    ivec2 at = ivec2(1, 0);
    if (gl_WorkGroupID.x == 0) {
        imageStore(picture, at, vec4(1, 0.2, 0, 1));
        atomicStore(flag, 1u, gl_ScopeDevice, 0, 0);
    } else {
        while (atomicLoad(flag, gl_ScopeDevice, 0, 0) == 0) {}
        vec4 got = imageLoad(picture, at);
        received = got;
    }
}
