#version 460
layout(local_size_x=64) in;
layout(std430, binding=0) buffer A { int v[]; } a;
int f(int x, int y) { for (int i = 0; i < x; i++) { if (i == y) return i * 2; for (int j = 0; j < i; ++j) { if (j == 7) continue; if (j > 9) return j; switch (j) { case 1: case 2: y++; case 3: y += 2; break; case 9: return y; default: y -= 1; if (y < 0) break; y = 3; } } } return -1; }
int g(int n) { int s = 0; do { s += n; if (s > 100) { if (s == 101) break; else continue; } n--; } while (n > 0); while (true) { s++; if (s > 500) break; } return s; }
bool h(int x) { return x > 3 && f(x, 2) > 1 || g(x) == 3; }
void main() {
  int i = int(gl_GlobalInvocationID.x); int x = a.v[i]; int r = 0;
  switch (x) { case 0: r = 1; break; case 1: r = 5; case 2: r += 3; for (int k = 0; k < 4; k++) { if (k == x) break; if (k == r) continue; r += k; } break; case -5: { if (r == 0) { r = 9; break; } r = 8; } case 77: return; default: r = 2; }
  switch (x) { default: r++; }
  switch (x & 3) { case 1: switch (r) { case 4: r = 3; break; default: r = 7; } break; case 2: r = 9; }
  for (;;) { if (h(x)) { r += 2; break; } x--; if (x < -10) { a.v[0] = 1; return; } barrier(); }
  int tmp[8]; for (int k = 0; k < 8; ++k) tmp[k] = k * x; r += tmp[x & 7];
  int y = x > 2 ? (r > 1 ? f(1,2) : g(2)) : 4;
  if (x == 1) { if (r == 2) { y = 3; } else if (r == 4) y = 2; else { y++; } } else if (x == 3) { return; }
  a.v[i] = r + y;
}
