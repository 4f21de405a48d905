#version 450
// Private arrays in loops that count, which become values, each in an object of its own.
layout(local_size_x = 32) in;
layout(binding = 0) buffer Out { int o[]; };
layout(binding = 1) readonly buffer In { int given[]; };

int early(int x) {
    int w[6], sum = 0;
    for (int i = 0; i < 6; i++) w[i] = x + i * given[i];
    for (int i = 0; i < 6; i++) {
        sum += w[i];
        w[5 - i] = sum;
    }
    return sum;
}

void main() {
    int id = int(gl_LocalInvocationIndex), k, s[8];
    for (int i = 0; i < 8; i++) s[i] = 0;
    // Two dimensions; lanes skip turns.
    int a[4][5];
    for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) a[i][j] = i * 7 + j * id;
    for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) {
        if (((id >> j) & 1) != 0) continue;
        s[0] += a[i][j];
        a[3 - i][j] += i;
    }
    // Downward, in steps; the variable is used behind the loop.
    int b[10];
    for (k = 9; k >= 0; k -= 2) b[k] = k * id;
    s[1] = k;
    for (k = 1; k != 11; k += 2) s[1] = s[1] * 3 + b[k];
    // In a loop that does not count, and in a branch that only some lanes take.
    int c[3];
    for (int i = 0; i < 3; i++) c[i] = i;
    if (id > 9)
        for (int n = 0; n < given[id & 7]; n++)
            for (int i = 0; i < 3; i++) c[i] += n * c[(i + 1) % 3];
    for (int i = 0; i < 3; i++) s[2] = s[2] * 5 + c[i];
    // Switches; no turn at all.
    int d[6];
    for (int i = 0; i < 6; i++) {
        switch (given[i] + id & 3) {
            case 0: d[i] = 1; break;
            case 1: d[i] = id;
            case 2: d[i] = id * i; break;
            default: d[i] = i - id; break;
        }
        for (int j = 0; j < 0; j++) d[i] = 99;
    }
    for (int i = 0; i < 6; i++) s[3] = s[3] * 3 + d[i];
    // Vectors, by component too; loads of memory that others see.
    vec4 e[3];
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) e[i][j] = float(given[i + j] + id * j);
    for (int i = 0; i < 3; i++) s[4] += int(dot(e[i], e[2 - i].wzyx));
    s[5] = early(id);
    for (int i = 0; i < 8; i++) o[gl_GlobalInvocationID.x * 8 + i] = s[i];
}
