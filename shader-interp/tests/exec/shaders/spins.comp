#version 450
// Workgroups of one subgroup that wait in loops which change memory. `kind`: what the others do.
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Words { uint tries, lock, flag[2], next, sum, done[]; };
layout(push_constant) uniform Parameters { uint kind, count; };

void main() {
    uint group = gl_WorkGroupID.x;
    switch (kind) {
    case 0u: // Nobody stores what the loop waits for.
        while ((atomicAdd(tries, 1u) | 1u) != 0u);
        break;
    case 1u: // Nobody frees the lock.
        if (gl_LocalInvocationIndex == 0u) {
            while (atomicCompSwap(lock, 0u, 1u) != 0u) atomicAdd(tries, 1u);
            atomicAdd(sum, 1u);
        }
        break;
    case 2u: // Two workgroups wait for each other.
        while (atomicAdd(flag[group & 1u], 0u) == 0u) atomicAdd(tries, 1u);
        atomicExchange(flag[~group & 1u], 1u);
        break;
    case 3u: // The last workgroup computes for long, with nothing but its registers.
        if (group == gl_NumWorkGroups.x - 1u) {
            uint x = group;
            for (uint k = 0u; k < count; k++) x = x * 1664525u + 1013904223u;
            atomicAdd(sum, x | 1u);
            atomicExchange(flag[0], 1u);
        } else {
            while (atomicAdd(flag[0], 0u) == 0u) atomicAdd(tries, 1u);
        }
        break;
    case 4u: // A queue of work: its items are other elements each.
        for (uint item = atomicAdd(next, 1u); item < count; item = atomicAdd(next, 1u)) done[item & 4095u] = item;
        break;
    case 5u: // A lock that many take in turn.
        if (gl_LocalInvocationIndex == 0u) {
            for (uint k = 0u; k < count; k++) {
                while (atomicCompSwap(lock, 0u, 1u) != 0u) atomicAdd(tries, 1u);
                atomicAdd(sum, 1u);
                atomicExchange(lock, 0u);
            }
        }
        break;
    case 6u: // Who takes the lock keeps it; who spins writes, too.
        if (gl_LocalInvocationIndex == 0u) {
            while (atomicExchange(lock, 1u) != 0u);
            atomicAdd(sum, 1u);
        }
        break;
    }
}
