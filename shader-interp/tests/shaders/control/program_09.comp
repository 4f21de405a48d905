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
  arr[arr[((c >> 1) >> 1) & 3] & 3] = (arr[(b & a) & 3] - a);
  a -= b;
  arr[arr[b & 3] & 3] = (((c == 3) || flag) ? (((a < c) && (b == c)) ? (b >> 1) : (b | b)) : arr[arr[-1 & 3] & 3]);
  if (((-9 + (-8 & 0)) <= (-6 ^ c))) {bp = c;
    return ((arr[c & 3] * arr[a & 3]) * ((a * a) >> 1));}
  if ((((a <= c) ? (6 - 3) : ((-6 == b) ? b : -8)) < ((a >> 1) | (a - a)))) {
    a ^= arr[((a & b) & c) & 3];
    if (((b & (c + b)) > (arr[-9 & 3] | -1))) {bp = c;
      return c;}
  }
  b ^= ((((-7 != a) || (b < b)) ? c : (a | a)) ^ (((c > -8) ? -1 : -2) & (a >> 1)));
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  b -= a;
  flag = (arr[(c >> 1) & 3] < ((a | -7) - a));
  {
    int k1 = 0;
    do {
      k1++;
      {
        c += (c & (a ^ (-3 | a)));
        a -= (2 + (a | ((-8 > c) ? b : a)));
        if (flag) {
          for (int k2 = 0;
          k2 < 1;
          k2++) {
            if ((((1 > c) ? arr[a & 3] : (b + c)) != (((c > a) && (b > c)) ? (b + c) : (c >> 1)))) break;
            if ((arr[((2 > -5) ? c : b) & 3] < (c | (3 + a)))) {
              switch ((((c != b) ? (1 & c) : (b * b)) + a)) {default: {
                  c = (((c >> 1) ^ (4 - a)) ^ arr[(a - a) & 3]);
                  c -= arr[arr[2 & 3] & 3];
                  a += (((c + -1) >> 1) * 3);
                }
                break;
                case -1: {
                  c -= 5;
                  a = (((b != a) ? (4 >> 1) : (a | c)) | a);
                }
                break;
                break;
              }
              a ^= ((((0 != b) ? c : b) | ((7 != b) ? b : a)) + (arr[a & 3] & (-2 | c)));
            }
            else {
              c ^= (((b * a) ^ (c >> 1)) + arr[c & 3]);
              if (((-8 | (b | c)) <= b)) {
                c = first((arr[(b + a) & 3] - (flag ? (2 | b) : (c & b))), REF(b));
              }
            }
            switch (arr[((c > c) ? b : c) & 3] & 7) {case 4: {
                switch ((b ^ (a ^ 4)) & 7) {case -2: {
                    arr[(arr[a & 3] ^ ((b | 0) + (c * -6))) & 3] = (((b <= 3) ? (-5 | 5) : (c + a)) >> 1);
                    arr[b & 3] = 4;
                    a = (((c & -7) ^ (-8 ^ c)) ^ (a >> 1));
                  }
                  default: {
                    a += (-9 ^ a);
                  }
                  break;
                  case -1: {
                    c += ((arr[7 & 3] - b) + c);
                    c ^= ((b + (2 ^ b)) & arr[(c + c) & 3]);
                    arr[((-3 + a) >> 1) & 3] = (-9 & ((a - b) | (a | a)));
                  }
                  break;
                }
                if ((-8 > b)) {
                  flag = ((((a > a) ? -8 : 4) + ((0 > c) ? 2 : -5)) == ((a * 5) * (-5 >> 1)));
                }
              }
              break;
              case 1: {
                if ((((b + a) * 2) == ((-5 * c) ^ arr[a & 3]))) {
                  c -= (((b < -7) ? b : c) & (a & (4 & a)));
                  c ^= b;
                }
              }
              case 2: {
                if ((a == ((c ^ c) ^ ((a == c) ? -5 : c)))) {bp = c;
                  return (arr[(-6 & c) & 3] ^ (arr[b & 3] >> 1));}
              }
              break;
              break;
            }
          }
          if ((((b | -6) & (a * b)) > c)) {
            {
              int k3 = 0;
              while (true) {
                if (k3++ > 1) break;
                {
                  arr[b & 3] = c;
                }
                if ((((b & 6) >> 1) != ((b >> 1) | b))) break;
              }
            }
          }
        }
        else {
          {
            int k4 = 0;
            do {
              k4++;
              {
                b += arr[((a != a) ? c : (b | -3)) & 3];
                a -= -2;
              }
            }
            while (k4 < 1 && ((c >> 1) > (b >> 1)));
          }
          if (flag) continue;
          b ^= (arr[(b >> 1) & 3] + (arr[-4 & 3] | (-5 * a)));
        }
      }
    }
    while (k1 < 1 && (((a & b) == (c + a)) && (((b > a) && (c > c)) && (-5 == -1))));
  }
  if ((((b < -7) ? arr[0 & 3] : (b & a)) > b)) {bp = c;
    return (arr[(b >> 1) & 3] - ((c & 3) & -2));}
  a = first(arr[((c >> 1) + -5) & 3], REF(c));
  flag = (a > (c + (b * -2)));
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  c = second((c | (((b != 4) ? b : c) * (a >> 1))), REF(b));
  arr[(a + ((b | 1) * (b >> 1))) & 3] = a;
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
