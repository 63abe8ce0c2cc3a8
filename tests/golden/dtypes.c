/* dtypes:
graph 3
%0 = input 0 : f64 (50,)
%1 = input 1 : i32 (50,)
%2 = cast(%0) : f32 (50,)
%3 = cast(%2) : f64 (50,)
%4 = cast(%0) : i32 (50,)
%5 = cast(%4) : f64 (50,)
%6 = sub(%3, %5) : f64 (50,) -> output 0
%7 = cast(%1) : bool (50,)
%8 = cast(%1) : f32 (50,)
%9 = neg(%8) : f32 (50,)
%10 = constant 0.5 : f32 ()
%11 = where(%7, %9, %10) : f32 (50,) -> output 1
behind prelude.c: */

/* kernel 0: rows 1 x 50 */
void dtypes_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 1; ++row) {
    const i64 n = 50;
    const float f32_3 = f32_bits((int)0x3f000000u) /* 0.5 */;
    {
      double *x0 = (double *)p[0] + 0;
      double *x1 = (double *)p[1] + 0;
      int *x2 = (int *)p[2] + 0;
      float *x3 = (float *)p[3] + 0;
      EACH for (i64 i = 0; i < n; ++i) {
        const double f64_0 = x0[i];
        const float f32_0 = (float)f64_0;
        const double f64_1 = F64_F32(f32_0);
        const int i32_0 = i32_f64(f64_0);
        const double f64_2 = (double)i32_0;
        const double f64_3 = f64_1 - f64_2;
        x1[i] = f64_3;
        const int i32_1 = x2[i];
        const int bool_0 = i32_1 != 0;
        const float f32_1 = (float)i32_1;
        const float f32_2 = neg_f32(f32_1);
        const float f32_4 = bool_0 ? f32_2 : f32_3;
        x3[i] = f32_4;
      }
    }
  }
}
