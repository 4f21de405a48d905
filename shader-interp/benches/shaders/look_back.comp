#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, std430) readonly buffer Input { uint data[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Output { uint sums[]; };
layout(set = 0, binding = 2, std430) buffer State { uint next; uint tiles[]; };
shared uint tile;
shared uint before;
shared uint part[256];

const uint AGGREGATE = 1u << 30, PREFIX = 2u << 30, VALUE = (1u << 30) - 1u;

void synchronise() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared,
        gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
}

void main() {
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0)
        tile = atomicAdd(next, 1u, gl_ScopeDevice, 0, 0);
    synchronise();
    uint at = tile * 256u + lane;
    uint sum = data[at];
    part[lane] = sum;
    synchronise();
    for (uint step = 1u; step < 256u; step *= 2u) {
        uint other = lane >= step ? part[lane - step] : 0u;
        synchronise();
        sum += other;
        part[lane] = sum;
        synchronise();
    }
    if (lane == 255u) {
        uint prefix = 0u;
        if (tile > 0u) {
            atomicStore(tiles[tile], AGGREGATE | sum, gl_ScopeDevice, 0, 0);
            for (uint k = tile - 1u;;) {
                uint state = atomicLoad(tiles[k], gl_ScopeDevice, 0, 0);
                if (state < AGGREGATE)
                    continue;
                prefix += state & VALUE;
                if (state >= PREFIX)
                    break;
                k--;
            }
        }
        atomicStore(tiles[tile], PREFIX | ((prefix + sum) & VALUE), gl_ScopeDevice, 0, 0);
        before = prefix;
    }
    synchronise();
    sums[at] = before + sum;
}
