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
  {
    int k1 = 0;
    while (true) {
      if (k1++ > 4) break;
      {
        switch (((c * arr[-6 & 3]) + -4) & 7) {case 4: {
            flag = (((a & c) >> 1) <= 3);
            if (((((-4 < 1) && (1 > b)) ? ((c != a) ? -6 : a) : (b ^ 6)) <= (a & 6))) {
              switch (c & 7) {case 4: {
                  if ((((b == b) ? arr[b & 3] : (c ^ b)) != (((c != a) ? c : b) * (1 ^ a)))) {bp = c;
                    return (((8 ^ 6) * (1 ^ c)) + a);}
                }
                break;
                case 1:  case -1: {
                  b -= ((((8 > b) && (c < c)) ? 5 : (-6 + c)) + (a - ((-1 < -2) ? -5 : b)));
                }
                break;
                case -2:  default: {
                  b = a;
                  if ((-5 != b)) {
                    b += (a >> 1);
                    b -= b;
                    arr[(a >> 1) & 3] = (((b - -7) >> 1) ^ ((c >> 1) - -9));
                  }
                  else {
                    arr[((((b == a) ? c : a) - 8) | b) & 3] = ((b <= c) ? a : (c | arr[-7 & 3]));
                  }
                  if ((((-1 & c) + c) < ((c * -8) >> 1))) break;
                }
                break;
              }
              if (((c <= b) && (a <= (c | a)))) {
                switch ((((b | b) ^ b) ^ b) & 7) {default: {
                    a += b;
                  }
                  case -2: {
                    b = a;
                    flag = flag;
                    flag = flag;
                  }
                  break;
                  case 1: {
                    c = (((3 >> 1) + (c - c)) >> 1);
                    a -= (a + b);
                  }
                  case 4: {
                    b ^= c;
                  }
                  break;
                  case 0:  break;
                }
                if ((((-6 <= c) ? a : c) > (((a <= c) ? c : c) + (a + a)))) {
                  a ^= (2 & (a ^ a));
                  arr[(((-5 > c) ? (b | 4) : (a | c)) | c) & 3] = arr[(-2 ^ (b | b)) & 3];
                }
              }
              else {
                b ^= (((3 - b) - arr[b & 3]) ^ c);
                c = b;
                switch (((((-1 > c) || (-5 < a)) ? (2 | a) : (b & 3)) ^ ((a >> 1) & (a | 6))) & 7) {case -2:  default: {
                    flag = flag;
                    a -= (-1 ^ a);
                  }
                  break;
                  case 1: {
                    c = 0;
                  }
                  break;
                  case 5: {
                    b += (((a > c) && (c > 1)) ? arr[-9 & 3] : (((c > b) || (a < c)) ? b : (a * -6)));
                    a = b;
                    c ^= c;
                  }
                  case 3: {
                    a += (((8 >> 1) * (b & b)) * (b ^ -9));
                    flag = flag;
                    c -= ((b ^ (c & 4)) * ((-6 ^ -2) * (b - a)));
                  }
                  break;
                }
              }
            }
            else {
              b += (b & (-4 * (b * b)));
              if ((c != c)) {
                if (flag) continue;
                c += 5;
              }
              flag = (((b <= c) ? (a | a) : (a & a)) > arr[arr[b & 3] & 3]);
            }
          }
          break;
          case -1: {
            {
              int k2 = 0;
              while (true) {
                if (k2++ > 3) break;
                {
                  if ((c <= ((1 * b) | (a & c)))) continue;
                  arr[arr[(a - arr[-3 & 3]) & 3] & 3] = b;
                  if (((arr[b & 3] + 2) == (arr[-7 & 3] + arr[a & 3]))) {
                    arr[(((b >> 1) != c) ? a : ((a & b) & arr[a & 3])) & 3] = (-1 | ((a >> 1) - 4));
                    if ((((7 <= b) || ((b == b) && (a == -1))) || flag)) {
                      b += a;
                    }
                  }
                }
                if ((((-1 >> 1) >> 1) <= b)) break;
              }
            }
            a += ((((-4 < b) || (a == -1)) ? (c * b) : (c + c)) | -6);
          }
          break;
          case 1: {
            a += (b >> 1);
            c ^= (b | b);
            if (((((c > a) || (b == a)) && ((c <= b) || (c == 1))) || ((4 >> 1) < (a ^ -4)))) break;
          }
          break;
          break;
        }
      }
      if (((b >> 1) <= ((-1 - c) - (-3 * 4)))) break;
    }
  }
  b ^= c;
  a = 7;
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  flag = (((b + a) + a) > b);
  c ^= ((arr[a & 3] - 2) + (arr[-2 & 3] + (-1 >> 1)));
  flag = flag;
  if ((((-3 >> 1) & b) > ((b + b) - a))) {
    a = c;
  }
  else {
    if (((6 + (5 | a)) == ((b | c) * (a ^ -5)))) {
      b -= 4;
    }
    arr[(((c & a) | b) >> 1) & 3] = ((c ^ (c >> 1)) >> 1);
    b ^= (((a + c) + (b | c)) + a);
  }
  a += b;
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  c ^= arr[((c * a) & (a | -8)) & 3];
  b -= ((b * arr[a & 3]) | a);
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
