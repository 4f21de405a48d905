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
  if ((arr[(c | a) & 3] < ((a <= b) ? -1 : (8 >> 1)))) {
    if ((((a | -9) <= (-5 - a)) && (((b < b) || (-9 < a)) && flag))) {
      if ((b < ((c < c) ? ((c != c) ? c : b) : c))) {
        if ((a < (-3 & arr[-6 & 3]))) {
          if (((-7 > (b | c)) && (((c == a) ? b : c) > c))) {
            b += arr[b & 3];
            flag = ((-6 * (a >> 1)) <= 0);
            b += (c ^ ((a | -3) - (b & a)));
          }
        }
        else {
          switch (a & 7) {default: {
              c ^= b;
              a -= ((arr[a & 3] != arr[b & 3]) ? ((b * a) + (-3 ^ a)) : -9);
            }
            break;
            case 5: {
              a = arr[((b >> 1) - c) & 3];
              b = (((c >> 1) > -4) ? a : 1);
              flag = (a == -3);
            }
            break;
          }
        }
        c ^= (4 & (arr[b & 3] & arr[7 & 3]));
        switch ((a >> 1) & 7) {default: {
            break;
          }
          break;
          case 2: {
            c += (((c <= a) && (c > c)) ? ((a * -9) >> 1) : -4);
            switch ((((a > 0) ? b : c) >> 1) & 7) {case 5: {
                arr[((arr[c & 3] <= b) ? (-5 >> 1) : (flag ? arr[4 & 3] : b)) & 3] = ((arr[b & 3] ^ arr[c & 3]) & ((b - b) * (b ^ b)));
                b -= (((a == b) ? (c >> 1) : a) * (arr[a & 3] & (b * a)));
                b -= (a | ((c >> 1) >> 1));
              }
              break;
              case 1: {
                flag = (flag && (((a == a) && (c == b)) && (-2 > 4)));
              }
              break;
            }
          }
          case 5: {
            c -= ((arr[a & 3] ^ arr[-6 & 3]) * (((-2 <= b) ? b : b) + a));
          }
          break;
          case -2: {
            b += (c * c);
          }
          break;
          break;
        }
      }
      flag = (-7 == ((a & 2) * (b >> 1)));
      c ^= (b ^ ((a | a) >> 1));
    }
    else {
      flag = flag;
      arr[(((c <= a) ? 2 : ((a <= c) ? -5 : c)) >> 1) & 3] = ((((a < c) && (c == -5)) || ((c > -7) || (a < b))) ? (arr[a & 3] >> 1) : (arr[c & 3] ^ (a >> 1)));
    }
  }
  {
    int k1 = 0;
    while (true) {
      if (k1++ > 2) break;
      {
        c += (((c != a) ? (b & b) : a) >> 1);
      }
      if (flag) break;
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
  arr[(((b + a) * (c - 4)) + ((b & 7) * a)) & 3] = ((a >> 1) - ((c >> 1) - (c + a)));
  b -= arr[(a ^ -2) & 3];
  a += c;
  {bp = c;
    return a + b * c;}}
int third(int a, inout int bp) {
  int b = bp;
  int c = a ^ 5;
  bool flag = a > b;
  int arr[4];
  arr[0]=1;arr[1]=a;arr[2]=3;arr[3]=b;
  if ((1 <= c)) {
    flag = (a <= ((c <= c) ? (b + -8) : b));
  }
  if ((b > ((b & 0) >> 1))) {bp = c;
    return (a ^ arr[(a >> 1) & 3]);}
  if ((a > a)) {
    flag = ((flag ? arr[c & 3] : b) == (-9 ^ (c >> 1)));
    if ((-9 <= b)) {
      c = second(((b & (b - c)) >> 1), REF(c));
    }
    for (int k2 = 0;
    k2 < 1;
    k2++) {
      switch (-8 & 7) {default: {
          {
            int k4 = 0;
            do {
              k4++;
              {
                if ((((a > -4) && ((a <= c) && (b < c))) || ((1 <= c) || (-2 == a)))) break;
                a = second(a, REF(b));
                switch (((c & (c >> 1)) ^ ((c >> 1) * ((c == c) ? 1 : -2))) & 7) {case -1: {
                    c += c;
                    c += a;
                  }
                  break;
                  default: {
                    a = ((a | (a + -4)) ^ ((a != c) ? (-2 ^ c) : (b * 0)));
                    flag = (((c ^ a) > (c & a)) && ((b - b) == a));
                    a = ((a ^ (c + 2)) ^ arr[(c * c) & 3]);
                  }
                  break;
                  break;
                }
              }
            }
            while (k4 < 4 && flag);
          }
        }
        break;
        case 5: {
          if ((a < b)) {
            if (flag) {
              b -= b;
              b = second((1 >> 1), REF(a));
              a -= (((b >> 1) <= (-9 - 0)) ? b : arr[(b * -1) & 3]);
            }
          }
          else {
            flag = (flag && (6 == ((a <= a) ? b : c)));
            {
              int k3 = 0;
              do {
                k3++;
                {
                  c += ((c + (a & c)) >> 1);
                  flag = ((-4 + a) != c);
                }
              }
              while (k3 < 4 && (a > ((7 | 4) + a)));
            }
            a += 2;
          }
        }
        break;
        break;
      }
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
