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
  if ((a <= arr[a & 3])) {bp = c;
    return c;}
  {
    int k1 = 0;
    do {
      k1++;
      {
        if ((((c ^ b) + -9) != ((-1 >> 1) * arr[a & 3]))) break;
        arr[(((c >> 1) - (b & 3)) & b) & 3] = (((-1 & b) ^ (c ^ 2)) | (((b != b) ? c : b) ^ b));
      }
    }
    while (k1 < 2 && flag);
  }
  c -= arr[4 & 3];
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  flag = (-6 != (((b < b) ? 4 : a) + (a ^ a)));
  flag = (-4 == arr[c & 3]);
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  c = first((((4 + a) >> 1) >> 1), REF(c));
  flag = flag;
  if ((c > (((c > c) ? 0 : c) - a))) {
    arr[(a | (arr[a & 3] >> 1)) & 3] = (arr[(b * b) & 3] * (-4 | a));
    c = (((-7 + 7) | (b ^ -2)) + arr[(0 & b) & 3]);
    switch ((((b ^ 5) > a) ? arr[(c * c) & 3] : arr[(-6 & a) & 3])) {case -2: {
        a ^= ((arr[a & 3] <= -2) ? (flag ? (c >> 1) : (5 | b)) : arr[4 & 3]);
      }
      case 0: {
        for (int k2 = 0;
        k2 < 1;
        k2++) {
          break;
          if ((arr[(b & b) & 3] == c)) break;
          a += ((arr[-8 & 3] <= (-1 * b)) ? (((c != a) ? b : c) & -5) : arr[a & 3]);
        }
      }
      break;
      case 4: {
        switch (arr[(flag ? (b * -5) : (a - -7)) & 3] & 7) {case 0: {
            c = first(((arr[b & 3] & (b * b)) & a), REF(a));
            {
              int k3 = 0;
              while (true) {
                if (k3++ > 2) break;
                {
                  if ((((-1 >> 1) == (4 - c)) && ((c == a) && ((a != c) && (3 != a))))) {
                    a -= (arr[b & 3] ^ ((a - 5) & (c * b)));
                    b = arr[((5 ^ a) * arr[a & 3]) & 3];
                    c = second(((arr[b & 3] * arr[b & 3]) >> 1), REF(b));
                  }
                }
                if (((b & ((c <= b) ? c : a)) > b)) break;
              }
            }
            {
              int k4 = 0;
              do {
                k4++;
                {
                  switch ((arr[(c * -1) & 3] & (((c < 1) && (c <= 1)) ? ((2 <= -6) ? b : a) : (c ^ b))) & 7) {case 0:  case -1:  case 4: {
                      a = (a * c);
                      a = (flag ? ((b * b) ^ a) : (flag ? 0 : (2 + -4)));
                    }
                    break;
                    break;
                  }
                }
              }
              while (k4 < 2 && ((((a <= a) && (a < b)) ? a : ((c != c) ? -5 : a)) != a));
            }
          }
          break;
          case -2: {
            a += b;
          }
          break;
        }
        if ((((-9 >> 1) * (b - c)) == (b & (b - c)))) {
          if (((b + c) != (b ^ c))) {
            b ^= ((((b <= b) ? a : b) == a) ? ((b & c) + b) : ((c - 1) - (-7 ^ a)));
            if ((flag || (arr[b & 3] > arr[c & 3]))) {
              c = arr[((-1 * a) & arr[a & 3]) & 3];
            }
            if (((c | (b + c)) == ((b ^ a) >> 1))) break;
          }
          if (flag) {bp = c;
            return (((b >> 1) + (b * a)) ^ arr[(c >> 1) & 3]);}
        }
        b = second((b ^ ((b != a) ? c : c)), REF(b));
      }
      break;
      case 1: {
        if ((((-5 == c) && (-7 == 6)) && ((c <= c) || (b > a)))) break;
        {
          int k5 = 0;
          do {
            k5++;
            {
              if ((((a < c) ? (c & b) : (a * a)) != (c * (-1 | a)))) {
                arr[((c > b) ? (a * arr[a & 3]) : (-7 >> 1)) & 3] = ((1 + (3 >> 1)) >> 1);
                {
                  int k6 = 0;
                  do {
                    k6++;
                    {
                      b += 1;
                      c -= (a & ((3 >> 1) ^ 8));
                      c += ((arr[a & 3] >> 1) >> 1);
                    }
                  }
                  while (k6 < 2 && ((c * c) > (((b < 0) || (b < c)) ? b : b)));
                }
                if ((((b ^ a) * a) > ((a ^ a) | (-5 ^ b)))) {bp = c;
                  return ((-5 * -1) & (((c == c) ? c : b) + arr[3 & 3]));}
              }
              else {
                if (((((a != a) ? -4 : b) + (c * -9)) <= ((b >> 1) >> 1))) {bp = c;
                  return ((((b == b) ? b : -3) >> 1) + ((c | b) * b));}
              }
            }
          }
          while (k5 < 4 && (arr[(b & -4) & 3] != (4 >> 1)));
        }
      }
      break;
    }
  }
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
