#version 450
// Newton's method for square roots and a sum of their powers, in double precision.
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) writeonly buffer Result { double result[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    double sum = 0.0;
    for (uint k = 1; k <= 64; ++k) {
        double x = double(i % 1000 + k) * 0.37, root = x;
        for (uint turn = 0; turn < 4; ++turn) {
            root = 0.5 * (root + x / root);
        }
        sum += root < 10.0 ? root * root : -root;
    }
    result[i] = sum;
}
