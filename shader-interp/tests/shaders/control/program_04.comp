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
  a ^= ((arr[c & 3] | (b - b)) & -2);
  if ((((c > 1) ? (3 | -8) : arr[8 & 3]) <= ((c - b) >> 1))) {
    b -= ((((-1 == c) ? -9 : a) - -5) * ((c | b) & ((a != a) ? c : b)));
    a = (a ^ (((-2 != a) ? -7 : b) & a));
  }
  else {
    arr[((c >> 1) * c) & 3] = ((((c > c) ? b : -1) >> 1) + arr[arr[c & 3] & 3]);
  }
  if ((((b * c) & (b >> 1)) < (arr[-1 & 3] + 4))) {
    switch ((((4 - 2) + (-2 + a)) * ((a >> 1) * (c | a))) & 7) {case 2: {
        if (((arr[c & 3] & (b * 1)) < ((b ^ a) >> 1))) {
          a -= ((((b > a) && (a == c)) && (c <= b)) ? (c >> 1) : (arr[a & 3] - c));
          b += ((((a < a) && (b <= c)) ? (b >> 1) : c) >> 1);
          if ((a != (5 & (b >> 1)))) break;
        }
      }
      default: {
        if (flag) {
          if ((((-2 >> 1) & (a >> 1)) == (-6 >> 1))) {bp = c;
            return c;}
          flag = (((c == b) || (-5 == b)) || (c < (a - a)));
        }
        c -= (((b == b) ? (-7 | a) : (c | b)) & b);
        b = ((((b < c) ? a : c) <= c) ? ((a | a) - (c ^ a)) : (arr[c & 3] ^ ((c < -2) ? b : -6)));
      }
      break;
      break;
    }
  }
  a += (((b | b) == a) ? (-3 & ((-8 != a) ? b : c)) : (b ^ (a + c)));
  {
    int k1 = 0;
    while (true) {
      if (k1++ > 1) break;
      {
        if ((((b & a) ^ (a * -2)) <= arr[b & 3])) continue;
      }
      if (((arr[a & 3] < b) || (c > (c >> 1)))) break;
    }
  }
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  switch ((((4 * 8) | (b | c)) + ((c + a) * -8)) & 7) {case 1: {
      if ((b > (arr[c & 3] * c))) {bp = c;
        return (c ^ (arr[2 & 3] ^ b));}
    }
    break;
    break;
  }
  if ((c > (a ^ ((2 <= b) ? b : -6)))) {
    a = first(a, REF(c));
    if (((((-7 == b) ? b : b) + (a - a)) <= (((-6 > -2) && (-6 <= b)) ? (b - c) : c))) {
      flag = (((c ^ -4) != (0 >> 1)) && (c > (b & a)));
      {
        int k2 = 0;
        do {
          k2++;
          {
            if (((((-6 < c) && (b <= a)) ? ((a <= c) ? a : a) : (b - b)) == (((b != b) ? a : a) * (c * c)))) break;
            b -= a;
          }
        }
        while (k2 < 3 && (((5 >> 1) != b) && (((c != b) || (c != a)) || (b != -4))));
      }
      a = first((((a >> 1) | ((1 > c) ? c : b)) | ((6 >> 1) + (c | 3))), REF(b));
    }
    if ((((a - -3) | (a * c)) != a)) {
      c += c;
      if ((arr[c & 3] == 5)) {
        {
          int k3 = 0;
          do {
            k3++;
            {
              if ((-6 != c)) {
                arr[((((a != b) ? b : c) | a) - arr[(c + c) & 3]) & 3] = (b - arr[-1 & 3]);
                c = first((6 >> 1), REF(b));
              }
              b += (arr[1 & 3] - (((c <= b) ? a : b) * (-6 ^ c)));
            }
          }
          while (k3 < 4 && (((-3 <= c) || (c == c)) && flag));
        }
      }
    }
  }
  b += (((a < a) ? (2 - b) : (c + a)) * ((-1 > b) ? (-1 + b) : (-9 * a)));
  a = ((flag ? arr[a & 3] : arr[8 & 3]) + b);
  if ((((b + -3) + (c >> 1)) > (((c <= b) ? -3 : b) >> 1))) {bp = c;
    return ((flag || ((c <= b) && (c <= a))) ? ((b ^ b) & (c ^ c)) : ((6 + c) & (3 | -5)));}
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  a -= (-4 - arr[(a * 6) & 3]);
  c -= (arr[4 & 3] + arr[c & 3]);
  a ^= b;
  if ((((c | b) - (-6 >> 1)) > (a * (c * a)))) {
    b -= (a & 0);
  }
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
