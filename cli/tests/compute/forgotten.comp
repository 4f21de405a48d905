#version 450
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer Data { uint once; uint twice; uint often; uint own; uint done; };
layout(binding = 1) buffer Out { uint got[4]; };

void main() {
    if (gl_WorkGroupID.x == 0) {
        once = 1;
        twice = 1;
        twice = 2;
        for (uint k = 1; k <= 20; k++) {
            atomicStore(often, k, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
        }
        atomicAdd(done, 1u);
    } else {
        // Nothing of what was written before is ordered by it.
        while (atomicAdd(done, 0u) == 0u) {}
        got[0] = once;
        got[1] = twice;
        got[2] = often;
        own = 1;
        own = 2;
        got[3] = own;
    }
}
