#version 450
// Private arrays that stay in memory: loops that do not count, or are too long, or are left in between.
layout(local_size_x = 32) in;
layout(binding = 0) buffer Out { int o[]; };
layout(binding = 1) readonly buffer In { int given[]; };

void main() {
    int id = int(gl_LocalInvocationIndex), s[8];
    for (int i = 0; i < 8; i++) s[i] = 0;
    // Left by some lanes; the variable is used behind the loop.
    int a[8], i;
    for (i = 0; i < 8; i++) a[i] = given[i] * i;
    for (i = 0; i < 8; i++) if (a[i] > id) break;
    s[0] = i;
    // As many turns as another loop has had.
    int b[25];
    for (int n = 0; n < 25; n++) b[n] = n;
    for (int n = 0; n < 5; n++) for (int j = 0; j < n; j++) b[n * 5 + j] += b[j * 5 + n] + id;
    for (int n = 0; n < 25; n++) s[1] = s[1] * 3 + b[n];
    // A variable that lanes change.
    int c[16];
    for (int n = 0; n < 16; n++) c[n] = n * n;
    for (int n = 0; n < 16; n++) {
        s[2] += c[n];
        if ((id & 1) != 0) n++;
    }
    // Too many turns.
    int d[100];
    for (int n = 0; n < 100; n++) d[n] = n * id;
    for (int n = 0; n < 100; n++) s[3] = s[3] * 3 + d[n];
    // Both a variable of a loop and a value of the lane.
    int e[8];
    for (int n = 0; n < 8; n++) e[n] = n + id;
    for (int n = 0; n < 8; n++) s[4] = s[4] * 5 + e[(n + id) & 7];
    // The condition comes last.
    int f[4], m = 0;
    do { f[m] = m * id; m++; } while (m < 4);
    m = 0;
    do { s[5] += f[m]; m++; } while (m < 4);
    // A return out of a loop.
    int g[4];
    for (int n = 0; n < 4; n++) g[n] = given[n] + n;
    for (int n = 0; n < 8; n++) o[gl_GlobalInvocationID.x * 8 + n] = s[n];
    for (int n = 0; n < 4; n++) {
        if (g[n] == id) return;
        o[gl_GlobalInvocationID.x * 8 + 7] += g[n];
    }
}
