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
    do {
      k1++;
      {
        if ((8 == (arr[c & 3] >> 1))) continue;
      }
    }
    while (k1 < 4 && flag);
  }
  c -= arr[c & 3];
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  a -= b;
  if (flag) {
    arr[(a & ((a ^ b) >> 1)) & 3] = (((b == c) ? 6 : b) & (c >> 1));
  }
  if ((((c >> 1) < -6) || (((-7 == -1) ? -7 : c) < arr[b & 3]))) {
    c ^= ((arr[b & 3] + b) ^ (flag ? ((4 < c) ? a : b) : c));
    b -= (((-8 >> 1) >> 1) - ((a + c) * ((b < c) ? b : -6)));
  }
  else {
    b = 8;
  }
  if ((3 < ((b | 8) & a))) {
    a ^= (b & ((a * -7) & a));
    {
      int k2 = 0;
      while (true) {
        if (k2++ > 2) break;
        {
          arr[(c & b) & 3] = (((-2 & -3) | arr[a & 3]) + a);
          c += ((a < (5 >> 1)) ? a : ((0 == b) ? arr[b & 3] : arr[-4 & 3]));
        }
        if (flag) break;
      }
    }
  }
  else {
    if ((((-9 >> 1) - (6 * a)) <= (b >> 1))) {
      {
        int k3 = 0;
        while (true) {
          if (k3++ > 3) break;
          {
            arr[(((a != -3) && flag) ? ((a >> 1) - c) : ((b - b) * b)) & 3] = arr[(((b <= a) ? b : b) | (a ^ 1)) & 3];
            {
              int k4 = 0;
              do {
                k4++;
                {
                  switch (arr[(8 + (a + a)) & 3] & 7) {case 1: {
                      a += b;
                    }
                    case -1:  break;
                  }
                  c += arr[6 & 3];
                  switch (-4 & 7) {case 4:  case 2:  break;
                  }
                }
              }
              while (k4 < 2 && ((((b <= a) ? b : a) - (a | a)) <= (b | (-2 - a))));
            }
            if (((arr[b & 3] ^ 4) <= (c >> 1))) {bp = c;
              return b;}
          }
          if ((c < ((1 == c) ? arr[6 & 3] : arr[c & 3]))) break;
        }
      }
      c -= (((c >> 1) & (c - -2)) - (-6 + a));
      if (flag) {
        c = b;
      }
    }
    for (int k5 = 0;
    k5 < 1;
    k5++) {
      {
        int k6 = 0;
        do {
          k6++;
          {
            switch ((a >> 1)) {case -2: {
                switch (((((c <= a) ? -1 : b) != a) ? (arr[b & 3] | (a + c)) : (((-6 == b) && (b != 5)) ? (-1 | c) : ((4 <= c) ? b : c))) & 7) {case 4: {
                    b -= (a - ((a >> 1) ^ (c & b)));
                    a = arr[(-8 * (b ^ a)) & 3];
                  }
                  case 0:  case 2: {
                    arr[(((b != c) ? c : (b >> 1)) * arr[(3 | b) & 3]) & 3] = a;
                  }
                  break;
                  break;
                }
                if ((((b > c) || (a <= c)) || ((b | c) == b))) {
                  c ^= (arr[arr[a & 3] & 3] & (b & a));
                  a = (((c >> 1) >> 1) >> 1);
                }
                if (((a == (b | b)) || (((c < c) ? c : 8) < (b - -5)))) {
                  c = first(((flag || (a <= c)) ? arr[((c <= c) ? b : 4) & 3] : ((b > -6) ? (b ^ b) : (-8 + c))), REF(b));
                  a = -6;
                }
              }
              break;
              case -1: {
                if ((((4 * 7) + (b >> 1)) < (a | a))) {
                  b -= c;
                  c = b;
                  a = ((((b == -4) && (c > a)) ? arr[b & 3] : (c + 8)) >> 1);
                }
                else {
                  flag = (((b * 6) < ((b != 2) ? -1 : 0)) && ((b > b) && ((a > c) && (-7 <= -3))));
                  a = (((a * c) ^ arr[c & 3]) >> 1);
                  a -= arr[(a >> 1) & 3];
                }
                if (((((b == a) ? b : c) + (a + c)) <= b)) break;
              }
              break;
              break;
            }
          }
        }
        while (k6 < 1 && (((c & c) - (a + -7)) != b));
      }
      c += c;
      if ((((a & 5) == arr[-7 & 3]) || (arr[c & 3] != (a * a)))) continue;
    }
    if ((((3 != a) ? (c ^ b) : ((5 <= b) ? c : a)) < -3)) {
      if ((((a != c) ? (b & c) : b) < c)) {bp = c;
        return (((c * c) >> 1) ^ ((-8 | b) >> 1));}
    }
  }
  a -= c;
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  switch (c & 7) {default: {
      flag = ((((a > a) ? b : c) <= (a | b)) && (c <= (a * a)));
      a += ((((c == b) ? 2 : 6) | (a >> 1)) - (c & c));
    }
    case 1: {
      {bp = c;
        return ((c - (b | b)) + (a >> 1));}
    }
    break;
    break;
  }
  if (flag) {
    a ^= -9;
  }
  b = ((b ^ (b - b)) - -2);
  if (((arr[c & 3] <= (b & -3)) || flag)) {bp = c;
    return (((c * -9) >> 1) - a);}
  b ^= ((((c != -1) ? c : b) * b) | ((a - a) - (b | a)));
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
