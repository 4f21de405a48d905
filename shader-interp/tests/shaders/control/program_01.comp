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
  for (int k1 = 0;
  k1 < 1;
  k1++) {
    if (((c & (b >> 1)) < arr[((-9 <= c) ? c : c) & 3])) {bp = c;
      return (arr[arr[b & 3] & 3] - ((c ^ a) * arr[b & 3]));}
  }
  if (((b != (b >> 1)) && ((a != b) || (c < c)))) {
    c += ((arr[2 & 3] ^ (c + c)) ^ (6 ^ (b >> 1)));
    c ^= a;
  }
  b = (c + arr[(a & c) & 3]);
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  if (((((c != a) && (-5 != b)) && flag) || (arr[b & 3] <= ((b < -9) ? b : c)))) {
    b -= (arr[(a + b) & 3] | (3 * (a * 5)));
  }
  c -= (a + (((b <= b) ? b : c) - 0));
  if (flag) {
    b -= b;
  }
  if ((((b | b) ^ 5) > b)) {
    c -= (arr[(1 & c) & 3] * c);
    {
      int k2 = 0;
      while (true) {
        if (k2++ > 4) break;
        {
          {
            int k3 = 0;
            while (true) {
              if (k3++ > 1) break;
              {
                if (((c | arr[b & 3]) <= ((a + c) ^ arr[c & 3]))) {
                  if (((c != (b * -8)) && ((a + b) < (-4 * b)))) {bp = c;
                    return (((b >> 1) & (-5 >> 1)) | -6);}
                }
                if ((b <= 8)) {bp = c;
                  return (((c >> 1) ^ b) + c);}
              }
              if ((flag || ((a ^ -7) != 8))) break;
            }
          }
          a -= (-9 ^ ((0 <= c) ? (a | -8) : a));
          {
            int k4 = 0;
            while (true) {
              if (k4++ > 2) break;
              {
                if (((flag ? arr[c & 3] : (a | b)) > ((a - c) - (a & a)))) {
                  c ^= arr[(2 >> 1) & 3];
                  if ((((a == a) || (c <= b)) || (a != a))) {
                    b ^= a;
                  }
                }
              }
              if (((a * (a * a)) <= arr[a & 3])) break;
            }
          }
        }
        if ((flag || (((b < 2) ? a : b) <= (a * 3)))) break;
      }
    }
    arr[a & 3] = (arr[b & 3] ^ a);
  }
  else {
    {
      int k5 = 0;
      while (true) {
        if (k5++ > 4) break;
        {
          {
            int k6 = 0;
            while (true) {
              if (k6++ > 3) break;
              {
                if (((arr[1 & 3] != c) && (arr[b & 3] > (c >> 1)))) {
                  b = first(6, REF(b));
                  if (flag) {
                    b -= b;
                    c ^= ((flag ? (-7 - c) : (b + c)) >> 1);
                    b -= (((c > b) || (b != a)) ? (((b < a) && (b < a)) ? arr[a & 3] : c) : ((a & -2) * (-8 - c)));
                  }
                  else {
                    flag = (((a >> 1) < a) || (((a == 8) && (b <= b)) || (c == c)));
                    a = ((arr[a & 3] | arr[-6 & 3]) + (((a <= c) || (-1 <= b)) ? 7 : (7 >> 1)));
                  }
                }
                if (((b <= c) || ((b <= c) && (a < a)))) break;
                b += arr[arr[(c + 0) & 3] & 3];
              }
              if ((((c | a) == b) || ((c + c) != (-8 | a)))) break;
            }
          }
        }
        if (((((4 <= a) ? 4 : c) <= (2 + a)) && ((6 + b) != (7 + -2)))) break;
      }
    }
    c += a;
  }
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  a = arr[(((b < b) ? b : b) & b) & 3];
  b = -7;
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
