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
  c = (((a <= 2) && (a < a)) ? (arr[b & 3] >> 1) : arr[(b & c) & 3]);
  if ((a != (-8 >> 1))) {bp = c;
    return (-8 >> 1);}
  switch ((((b ^ a) ^ (-8 >> 1)) >> 1)) {case -2: {
      c = (b - (-3 ^ (1 ^ a)));
      a -= (((c >> 1) ^ (c | c)) * ((a >> 1) * b));
      b = ((((1 > b) && (c > a)) ? b : (8 | b)) >> 1);
    }
    default: {
      if (((3 + (b >> 1)) > ((b | c) + (b - a)))) break;
    }
    break;
    case -1:  case 3:  break;
  }
  switch ((((-8 ^ 5) >> 1) | (arr[c & 3] ^ (c >> 1))) & 7) {default: {
      a += c;
      flag = (arr[(c ^ c) & 3] <= (-3 - a));
      if ((((a + 8) * a) < ((-9 & -5) - c))) break;
    }
    case 4:  break;
  }
  {bp = c;
    return a + b * c;}}
int second(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  b -= b;
  b += (-6 ^ ((c <= b) ? (-6 ^ -3) : (c ^ c)));
  if ((flag && flag)) {
    a ^= ((((c != -1) || (6 < b)) || (c < a)) ? c : b);
  }
  else {
    flag = (((-4 | -2) == (c >> 1)) && (c < c));
    flag = ((((c <= c) ? 2 : -6) != ((-7 > -9) ? a : c)) || (c < ((b <= a) ? c : a)));
  }
  if ((b != (a >> 1))) {
    a += -3;
    a = first((b + (b + ((a < a) ? -5 : a))), REF(c));
  }
  {
    int k1 = 0;
    while (true) {
      if (k1++ > 4) break;
      {
        if (((b & ((-7 > b) ? a : a)) > a)) {
          switch ((arr[(a * b) & 3] + arr[(b - c) & 3]) & 7) {case 2: {
              if ((((a & -7) & arr[c & 3]) > 3)) {
                switch (a) {case 2: {
                    b -= (arr[(a ^ c) & 3] + a);
                    b = a;
                  }
                  case 5: {
                    c += ((((b <= a) ? a : b) > (b ^ c)) ? arr[a & 3] : arr[1 & 3]);
                    b += ((b ^ a) - a);
                    c = (flag ? 4 : ((6 | a) | (c >> 1)));
                  }
                  break;
                  case 4: {
                    arr[-5 & 3] = arr[b & 3];
                    b ^= ((b | arr[b & 3]) | ((c > a) ? -6 : (b | -9)));
                  }
                  break;
                }
                if (((arr[c & 3] >> 1) > ((b | a) ^ (c ^ b)))) break;
              }
            }
            break;
            case 1: {
              if ((((-5 != b) ? ((c == c) ? 7 : c) : arr[b & 3]) <= (arr[b & 3] ^ b))) {
                if ((((-1 >> 1) | (c ^ -1)) < (b >> 1))) {bp = c;
                  return arr[-1 & 3];}
              }
            }
            break;
            break;
          }
        }
        else {
          if ((b != a)) break;
          c = first((c >> 1), REF(c));
          flag = (((a | -8) <= arr[c & 3]) || (((a == a) || (a > c)) && ((a == c) && (a < b))));
        }
      }
      if ((c == (b - (b * b)))) break;
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
  b = first(arr[a & 3], REF(b));
  c ^= -7;
  {bp = c;
    return a + b * c;}}
void main(){
  int i=int(gl_GlobalInvocationID.x);
  int q = v[i] * 2;
  int r = third(v[i], q);
  v[i] = r + q;
}
