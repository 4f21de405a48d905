#version 450
// Counts, places and fields of bits.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) writeonly buffer Result { uint result[]; };
layout(set = 0, binding = 1) readonly buffer Words { uint words[]; };

void main() {
    uint i = gl_GlobalInvocationID.x, word = words[i], sum = 0;
    for (int k = 0; k < 32; ++k) {
        word = bitfieldReverse(word) ^ bitfieldInsert(word, sum, k & 15, 9);
        sum += bitCount(word) + uint(findMSB(word)) + uint(findLSB(word >> 3));
        sum ^= uint(bitfieldExtract(int(word), k & 7, 11)) + bitfieldExtract(word, 5, 7);
    }
    result[i] = sum;
}
