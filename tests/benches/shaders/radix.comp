#version 450
// One pass of a radix sort, four bits, of 1,024 keys in each workgroup: a split by each bit, with a scan.
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) writeonly buffer Result { uint result[]; };
layout(set = 0, binding = 1) readonly buffer Keys { uint keys[]; };
shared uint held[1024];
shared uint sums[256];

void main() {
    uint own = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 1024u;
    for (uint k = 0u; k < 4u; ++k) held[own * 4u + k] = keys[first + own * 4u + k];
    for (uint bit = 0u; bit < 4u; ++bit) {
        barrier();
        uint key[4];
        uint zeros = 0u;
        for (uint k = 0u; k < 4u; ++k) {
            key[k] = held[own * 4u + k];
            zeros += 1u - (key[k] >> bit & 1u);
        }
        sums[own] = zeros;
        barrier();
        for (uint step = 1u; step < 256u; step *= 2u) {
            uint before = own >= step ? sums[own - step] : 0u;
            barrier();
            sums[own] += before;
            barrier();
        }
        uint all = sums[255], zero = sums[own] - zeros, one = all + own * 4u - zero;
        for (uint k = 0u; k < 4u; ++k) {
            if ((key[k] >> bit & 1u) == 0u) held[zero++] = key[k];
            else held[one++] = key[k];
        }
    }
    barrier();
    for (uint k = 0u; k < 4u; ++k) result[first + own * 4u + k] = held[own * 4u + k];
}
