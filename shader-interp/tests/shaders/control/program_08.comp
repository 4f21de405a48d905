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
  flag = (((-2 + b) >> 1) > ((-7 + a) - (8 + -9)));
  switch (((a ^ (b * 6)) + b)) {case -1: {
      b -= arr[((a & -9) >> 1) & 3];
      flag = flag;
      flag = (arr[(c & b) & 3] < arr[(4 - b) & 3]);
    }
    break;
    default: {
      b -= -8;
    }
    break;
    break;
  }
  b ^= 4;
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  if (((c - (c ^ c)) < ((c & a) * 4))) {
    if ((((b ^ a) - (c * c)) != c)) {bp = c;
      return ((arr[2 & 3] != arr[-6 & 3]) ? b : (b + b));}
    c = first((((c >> 1) - (a ^ -8)) ^ -4), REF(c));
    for (int k1 = 0;
    k1 < 3;
    k1++) {
      flag = (arr[c & 3] <= c);
      a ^= arr[(c + ((8 > a) ? c : b)) & 3];
    }
  }
  a += (a >> 1);
  {
    int k2 = 0;
    while (true) {
      if (k2++ > 4) break;
      {
        b -= arr[c & 3];
        if ((a > ((a - a) - ((c != b) ? a : 2)))) {bp = c;
          return b;}
        if (((c != arr[b & 3]) || (((a <= 1) && (a > a)) && flag))) break;
      }
      if ((((a >> 1) * (a >> 1)) <= ((-9 | a) | c))) break;
    }
  }
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  if ((((b >> 1) * (3 & 3)) != (((-5 <= b) ? a : c) & c))) {
    if ((arr[(c ^ 8) & 3] == (arr[c & 3] | (a | c)))) {
      flag = ((b & (a - 2)) != (arr[-8 & 3] & (a | a)));
      if (flag) {
        {
          int k3 = 0;
          do {
            k3++;
            {
              c -= ((((b < b) ? b : -1) == (-2 + 7)) ? ((0 + a) & (b & b)) : (6 >> 1));
              if (flag) continue;
              arr[(((b * c) & a) & (((a > 1) ? a : b) & b)) & 3] = arr[(flag ? (b & a) : a) & 3];
            }
          }
          while (k3 < 1 && ((c >> 1) == arr[((c == b) ? c : 1) & 3]));
        }
        if ((flag || (((c < b) || (c <= c)) && (a <= a)))) {
          flag = (((b < 5) ? c : arr[a & 3]) < ((c | b) - (-5 ^ a)));
        }
        else {
          arr[(c ^ ((a > -9) ? c : (c | a))) & 3] = (c + c);
          if (((a == (b & 0)) || ((a != 7) && (c < 7)))) {
            b = first(((arr[b & 3] + a) >> 1), REF(b));
          }
        }
      }
      else {
        switch ((c ^ ((b >> 1) + b)) & 7) {case -1: {
            b -= c;
            if ((arr[(c - a) & 3] <= arr[(b & 5) & 3])) {
              arr[(((c < 0) || (a < a)) ? ((a + c) - (a | c)) : (a >> 1)) & 3] = a;
              b -= (flag ? (b & (b - b)) : ((c + c) + b));
              a ^= arr[b & 3];
            }
            else {
              c += (((a | b) & (a + 4)) >> 1);
              c -= (((2 * 5) < (b ^ a)) ? (a >> 1) : b);
              b = second(c, REF(b));
            }
            if ((((-6 ^ c) <= (a - a)) || ((c * -9) != arr[b & 3]))) break;
          }
          break;
          case 0: {
            if (flag) {
              b ^= ((((-8 != -6) && (a == c)) ? (c + c) : (0 ^ c)) - (flag ? arr[c & 3] : ((a <= a) ? c : c)));
              a -= c;
            }
            c -= (a & arr[c & 3]);
          }
          break;
          break;
        }
      }
    }
    else {
      if (((flag && (c != -7)) || (((b <= a) && (a == -1)) && (6 > a)))) {
        if ((((c == c) || (b <= 3)) || (3 < (b * b)))) {bp = c;
          return (((b <= b) && (b <= -2)) ? arr[(-9 + a) & 3] : (b >> 1));}
      }
      c ^= a;
      if ((b <= b)) {
        b -= (((2 | 3) | a) ^ (flag ? c : (a * -2)));
      }
    }
    {
      int k4 = 0;
      while (true) {
        if (k4++ > 2) break;
        {
          a += (((c & 8) | (b >> 1)) | (arr[b & 3] - (a * -8)));
          if (((c & (b ^ a)) < (c | ((a == b) ? b : 1)))) {
            if ((((c <= -9) ? b : (b >> 1)) < a)) {
              a -= ((((b < 7) ? c : -7) - ((a <= -8) ? b : -9)) | ((c != b) ? (-6 - c) : a));
            }
            arr[(((a | -9) == (-1 >> 1)) ? b : -2) & 3] = c;
          }
          if ((c > a)) continue;
        }
        if ((arr[(a | 4) & 3] > 0)) break;
      }
    }
    a -= b;
  }
  c += c;
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
