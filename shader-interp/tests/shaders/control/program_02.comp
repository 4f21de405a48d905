#version 450
layout(local_size_x=8) in;
layout(std430,binding=0) buffer B {
  int v[];
};
#define REF(x) x
int first(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  switch ((((a | c) >> 1) ^ ((a * -6) - (c + b))) & 7) {default: {
      if ((arr[((a != a) ? c : b) & 3] == ((c * c) - (0 ^ c)))) {bp = c;
        return a;}
    }
    break;
    case -1: {
      if ((c > (a + arr[7 & 3]))) {
        a = (((-7 != 4) ? (-5 & 5) : (a ^ b)) * b);
        b ^= a;
        b ^= ((-2 | (4 * b)) ^ ((a + -9) >> 1));
      }
      arr[arr[(((b <= 4) ? -3 : 4) >> 1) & 3] & 3] = (1 + (((2 != -4) ? 4 : 5) & ((0 < b) ? c : -7)));
      a -= (c ^ (arr[a & 3] >> 1));
    }
    break;
  }
  if (flag) {
    switch (a & 7) {case 2: {
        a += (-1 ^ ((b * c) >> 1));
        if (flag) {
          if ((c == ((c > c) ? (1 >> 1) : (c * b)))) {
            if (flag) {
              flag = (a != ((-2 - -7) | arr[-3 & 3]));
              c ^= (arr[b & 3] - (b + -5));
              c -= (((b ^ b) * ((b != c) ? a : c)) | (arr[b & 3] | b));
            }
            c ^= ((flag ? (a >> 1) : (b >> 1)) + (c & (-1 * a)));
            b ^= (((c >> 1) >> 1) + (flag ? (-4 & -7) : -6));
          }
          else {
            c = (((b | -8) ^ b) & arr[(b + a) & 3]);
          }
          arr[c & 3] = (((a + b) & arr[4 & 3]) >> 1);
        }
        else {
          for (int k1 = 0;
          k1 < 1;
          k1++) {
            if ((((a >> 1) & (b - a)) <= arr[a & 3])) {
              arr[(arr[(2 ^ a) & 3] & c) & 3] = b;
              a += (((c >> 1) & (b - a)) - ((6 + a) ^ ((-9 <= a) ? a : -9)));
              a += c;
            }
          }
          {
            int k2 = 0;
            do {
              k2++;
              {
                b = a;
              }
            }
            while (k2 < 1 && flag);
          }
        }
      }
      break;
      break;
    }
  }
  else {
    b = ((-5 | (c + a)) & a);
    a ^= b;
  }
  c += b;
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  if ((((b + b) - 2) > b)) {
    c = (-2 | a);
  }
  if (flag) {
    c ^= (((b <= b) ? arr[8 & 3] : (c - c)) >> 1);
    b += (((c - -9) * 2) ^ -7);
    if ((((c <= -4) && (b == c)) && ((7 < c) || (a > c)))) {bp = c;
      return (arr[(0 + a) & 3] - c);}
  }
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  if ((((b < b) ? (-9 - b) : c) <= (a >> 1))) {
    if (((b >> 1) != ((b >> 1) >> 1))) {
      switch ((((b ^ a) | (a - b)) - ((a ^ c) >> 1))) {case 4: {
          break;
          {
            int k3 = 0;
            while (true) {
              if (k3++ > 4) break;
              {
                b += (arr[(-6 - a) & 3] * ((-3 ^ c) + (c * -4)));
                if ((((a + a) | c) <= ((c >> 1) ^ b))) continue;
                if (flag) {
                  a ^= (((a != c) ? (4 ^ c) : (a >> 1)) * (a & arr[-5 & 3]));
                  c -= (a >> 1);
                }
              }
              if (flag) break;
            }
          }
        }
        break;
        case 5: {
          b ^= ((((-6 < a) && (c == a)) ? c : 2) & ((a & a) ^ -3));
        }
        break;
        break;
      }
      for (int k4 = 0;
      k4 < 3;
      k4++) {
        arr[((b - (-5 - -8)) >> 1) & 3] = ((b * c) >> 1);
      }
    }
    arr[arr[((c | a) - (a - a)) & 3] & 3] = c;
    b += arr[(c - (4 ^ b)) & 3];
  }
  flag = (c < (b >> 1));
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
