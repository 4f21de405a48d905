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
  b -= -1;
  c -= (((a & a) ^ (c + a)) * ((b ^ c) | (a - -6)));
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  if ((c == c)) {
    c += arr[(b | ((c <= b) ? a : b)) & 3];
    flag = (((-6 <= a) || (a > b)) || flag);
  }
  else {
    if (((arr[c & 3] * (a + b)) != ((b & b) & ((b != a) ? 7 : b)))) {
      if ((a < b)) {bp = c;
        return (((4 == b) || (c <= 6)) ? ((b ^ 7) | ((c != b) ? -6 : 8)) : (arr[c & 3] * a));}
      b += c;
    }
  }
  c -= b;
  arr[b & 3] = ((b ^ arr[b & 3]) ^ (arr[c & 3] & c));
  if ((((b | c) <= ((c == a) ? 0 : c)) || (((-4 != 5) && (a < 5)) && ((c < c) && (a == c))))) {
    {
      int k1 = 0;
      do {
        k1++;
        {
          c = (arr[(-4 ^ b) & 3] & ((b >> 1) | (-5 ^ a)));
          if (((-7 == ((1 > b) ? 5 : b)) || (((3 < 6) ? b : a) == (b * 0)))) {
            if ((((a > b) && (4 > a)) || ((c & c) <= ((b != b) ? a : -3)))) {
              if ((b > ((a != 6) ? c : (a + b)))) continue;
            }
            else {
              a = 5;
              b = first((((a & -8) ^ ((3 == c) ? -5 : b)) * ((c >> 1) | ((-5 > a) ? b : a))), REF(b));
              if ((arr[-4 & 3] != (arr[2 & 3] ^ arr[1 & 3]))) {
                a ^= b;
                c = first((a | c), REF(a));
              }
            }
            b = (a >> 1);
            if (((arr[3 & 3] - arr[a & 3]) <= arr[(b | 6) & 3])) {
              switch (4 & 7) {default: {
                  arr[(b ^ (arr[a & 3] | a)) & 3] = ((a + b) >> 1);
                  a = first(a, REF(a));
                  flag = (c < ((a >> 1) >> 1));
                }
                case 0: {
                  c -= (c - (((a == 3) ? a : b) - (b >> 1)));
                }
                break;
                case 4: {
                  flag = (((b >> 1) <= (a >> 1)) || (arr[b & 3] <= arr[b & 3]));
                  b -= (((c <= -9) ? (b * c) : (7 | c)) & c);
                }
                break;
                break;
              }
              if ((4 < ((c + a) * b))) {
                c ^= arr[c & 3];
              }
              if ((((-6 ^ -8) + ((c == a) ? 4 : 7)) != ((c >> 1) & (c >> 1)))) {
                arr[-3 & 3] = (arr[b & 3] >> 1);
                flag = flag;
                flag = ((c >> 1) == (a | b));
              }
            }
            else {
              if ((((0 - c) & (a + 5)) <= (c >> 1))) {
                b ^= (((a > 3) ? b : (b & 0)) ^ ((c >> 1) * (b * b)));
              }
              else {
                a = first((c | (b >> 1)), REF(a));
              }
              if ((-2 != ((c ^ c) ^ a))) continue;
            }
          }
          if (((c != c) || ((b * c) != (c | b)))) continue;
        }
      }
      while (k1 < 1 && ((arr[b & 3] + (c + c)) <= arr[(b >> 1) & 3]));
    }
    b = 5;
  }
  else {
    if (((2 == a) || flag)) {bp = c;
      return c;}
    b -= (-8 * ((-7 ^ b) * ((b <= -9) ? b : c)));
    c ^= (b + ((b | 2) ^ (c & c)));
  }
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  switch (-8) {case -1: {
      if ((c <= -3)) {bp = c;
        return b;}
    }
    break;
  }
  arr[c & 3] = c;
  if ((b > ((c >> 1) * 3))) {bp = c;
    return -4;}
  if (((a >> 1) == c)) {
    a = first(5, REF(c));
  }
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
