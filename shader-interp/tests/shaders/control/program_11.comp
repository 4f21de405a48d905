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
  flag = ((a >> 1) == (a * (b >> 1)));
  c = 7;
  if ((arr[((a == c) ? c : -3) & 3] <= a)) {
    if (((((-7 > b) || (a <= 0)) ? c : c) > (a | (c | a)))) {
      b ^= ((-4 & a) & ((a ^ b) ^ (a & c)));
      c = ((((a != -6) ? b : -3) - (a >> 1)) * arr[6 & 3]);
    }
    else {
      a += a;
      if ((a > (4 ^ (c | c)))) {
        if ((arr[c & 3] != ((a >> 1) ^ (c ^ a)))) {bp = c;
          return (((-4 == -7) ? (4 - b) : (c - 7)) ^ ((a == b) ? (c >> 1) : (c | c)));}
        b -= (((a > b) ? a : b) * arr[(a * b) & 3]);
        {
          int k1 = 0;
          while (true) {
            if (k1++ > 1) break;
            {
              if (((6 > arr[b & 3]) && (7 == 8))) {bp = c;
                return a;}
            }
            if ((((c > c) || ((-9 < c) || (a == 2))) && (b > (b >> 1)))) break;
          }
        }
      }
      else {
        c = ((((3 == a) && (a <= b)) ? arr[b & 3] : (c ^ b)) >> 1);
        a += ((2 <= ((7 == -6) ? a : a)) ? arr[arr[b & 3] & 3] : 1);
        if ((((6 == a) || flag) && (b <= (c ^ a)))) {
          if ((c != ((b & c) | (b >> 1)))) {
            c ^= (arr[(-1 & c) & 3] - (-4 - c));
          }
          else {
            b ^= 8;
            arr[-2 & 3] = (((c <= a) || (b > 3)) ? b : (c | -1));
            b += b;
          }
        }
        else {
          if (((c - (b - a)) <= ((a + b) ^ 4))) {
            c += (((0 >> 1) >> 1) >> 1);
            flag = (((b >> 1) & (-8 & b)) > (b >> 1));
          }
          if ((arr[(c ^ c) & 3] <= a)) {
            a -= -2;
          }
        }
      }
    }
  }
  if ((((b * c) | c) <= (c ^ (-9 >> 1)))) {bp = c;
    return c;}
  a = (((a >> 1) ^ (b & c)) >> 1);
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  c = (b ^ 1);
  if ((a == a)) {
    switch (arr[((c | a) >> 1) & 3] & 7) {case -2: {
        if ((a == arr[(a >> 1) & 3])) {
          switch (c & 7) {case 1: {
              b = first((a * (c >> 1)), REF(c));
            }
            default: {
              {
                int k2 = 0;
                do {
                  k2++;
                  {
                    c = first((4 ^ 3), REF(c));
                    b -= (b ^ ((c >> 1) - a));
                  }
                }
                while (k2 < 1 && (((a | c) - ((1 != a) ? c : a)) != ((c & c) >> 1)));
              }
              {bp = c;
                return (((a & b) - (2 | c)) >> 1);}
              if ((c > (((a > 5) ? c : b) & (b >> 1)))) {
                b += (arr[(b | 6) & 3] >> 1);
              }
              else {
                flag = (b < (((a > 1) && (c == a)) ? (c ^ c) : arr[c & 3]));
              }
            }
            break;
          }
          c = first(c, REF(c));
        }
        else {
          arr[(0 | b) & 3] = ((((-9 < a) ? c : a) ^ a) | arr[(-6 * b) & 3]);
          if ((c == ((-8 & b) - (-9 | a)))) {
            {
              int k3 = 0;
              while (true) {
                if (k3++ > 1) break;
                {
                  b += b;
                }
                if (((a - (a >> 1)) > c)) break;
              }
            }
            arr[-6 & 3] = -3;
          }
        }
      }
      case 0: {
        if (((4 != (c | c)) && flag)) {
          if (((((b > -1) && (c == a)) ? ((a <= a) ? a : c) : (b | c)) == (arr[-8 & 3] + (a ^ c)))) break;
        }
        else {
          {
            int k4 = 0;
            do {
              k4++;
              {
                arr[((((-6 != c) ? b : c) ^ c) & arr[(-2 | -6) & 3]) & 3] = b;
                b += (b - (c * arr[a & 3]));
              }
            }
            while (k4 < 2 && (((b - 4) - (-5 & b)) > (c ^ ((8 < 3) ? b : b))));
          }
          b = first(arr[((-2 != c) ? (a + -7) : (b + a)) & 3], REF(b));
          if ((((5 | 4) + ((b == a) ? b : b)) == (b + a))) {bp = c;
            return (((c * b) + b) | a);}
        }
      }
      break;
      break;
    }
    c -= (((c >> 1) * (a >> 1)) >> 1);
    c ^= 0;
  }
  switch (arr[((c + c) + (c ^ a)) & 3] & 7) {case -1: {
      c = first(arr[c & 3], REF(b));
      c -= ((((a <= b) ? 2 : c) <= (7 & b)) ? (-1 * arr[c & 3]) : arr[(b * b) & 3]);
      a = first((((a >> 1) + (c & a)) - ((c ^ a) & c)), REF(b));
    }
    case 4:  break;
  }
  a -= c;
  flag = (((c < b) || (b <= -3)) || flag);
  if (((flag ? (-8 >> 1) : b) < ((-2 * b) - (c ^ b)))) {
    a = first(((b + c) >> 1), REF(a));
    flag = ((((-5 > c) ? 2 : -6) ^ (-2 | a)) == arr[(-2 & a) & 3]);
    if (((a >> 1) == arr[c & 3])) {bp = c;
      return (((7 <= c) ? arr[a & 3] : c) - a);}
  }
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  b ^= b;
  b += b;
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
