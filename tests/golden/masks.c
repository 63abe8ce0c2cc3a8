/* masks:
graph 3
%0 = input 0 : bool (s0,)
%1 = input 1 : bool (s0*s0,)
%2 = input 2 : bool (s0*s0*s0,)
%3 = input 3 : bool (s0*s0*s0*s0,)
%4 = input 4 : f32 (s0,)
%5 = input 5 : bool (s0*s0,)
%6 = input 6 : f64 (s0*s0,)
%7 = input 7 : i64 (s0*s0*s0,)
%8 = constant 0 : f32 ()
%9 = where(%0, %4, %8) : f32 (s0,) -> output 0
%10 = logical_not(%5) : bool (s0*s0,)
%11 = logical_and(%1, %10) : bool (s0*s0,)
%12 = constant 0 : f64 ()
%13 = where(%11, %6, %12) : f64 (s0*s0,) -> output 1
%14 = constant 7 : i64 ()
%15 = where(%2, %7, %14) : i64 (s0*s0*s0,) -> output 2
%16 = cast(%3) : f32 (s0*s0*s0*s0,) -> output 3
behind prelude.c: */

/* kernel 0: rows 1 x s0 */
void masks_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    const float f32_1 = 0.0f;
    {
      u8 *x0 = (u8 *)p[0] + 0;
      float *x1 = (float *)p[1] + 0;
      float *x2 = (float *)p[2] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const int bool_0 = x0[i];
        const float f32_0 = x1[i];
        const float f32_2 = bool_0 ? f32_0 : f32_1;
        x2[i] = f32_2;
      }
    }
  }
}

/* kernel 1: rows 1 x s0*s0 */
void masks_1(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    const double f64_1 = 0.0;
    {
      u8 *x3 = (u8 *)p[0] + 0;
      u8 *x4 = (u8 *)p[1] + 0;
      double *x5 = (double *)p[2] + 0;
      double *x6 = (double *)p[3] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const int bool_0 = x3[i];
        const int bool_1 = bool_0 ^ 1;
        const int bool_2 = x4[i];
        const int bool_3 = bool_2 & bool_1;
        const double f64_0 = x5[i];
        const double f64_2 = CHOOSE_f64(bool_3, f64_0, f64_1);
        x6[i] = f64_2;
      }
    }
  }
}

/* kernel 2: rows 1 x s0*s0*s0 */
void masks_2(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    const long long i64_1 = (i64)0x0000000000000007ULL;
    {
      u8 *x7 = (u8 *)p[0] + 0;
      long long *x8 = (long long *)p[1] + 0;
      long long *x9 = (long long *)p[2] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const int bool_0 = x7[i];
        const long long i64_0 = x8[i];
        const long long i64_2 = CHOOSE_i64(bool_0, i64_0, i64_1);
        x9[i] = i64_2;
      }
    }
  }
}

/* kernel 3: rows 1 x s0*s0*s0*s0 */
void masks_3(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    {
      u8 *x10 = (u8 *)p[0] + 0;
      float *x11 = (float *)p[1] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const int bool_0 = x10[i];
        const float f32_0 = (float)bool_0;
        x11[i] = f32_0;
      }
    }
  }
}
