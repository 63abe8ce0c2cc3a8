/* scale_and_shift:
graph 3
%0 = input 0 : f32 (s0,)
%1 = input 1 : f32 ()
%2 = input 2 : f32 ()
%3 = mul(%0, %1) : f32 (s0,)
%4 = add(%3, %2) : f32 (s0,) -> output 0
behind prelude.c: */

/* kernel 0: rows 1 x s0 */
void scale_and_shift_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    float *x1 = (float *)p[1] + 0;
    float *x2 = (float *)p[2] + 0;
    const float f32_1 = x1[0];
    const float f32_3 = x2[0];
    {
      float *x0 = (float *)p[0] + 0;
      float *x3 = (float *)p[3] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const float f32_0 = x0[i];
        const float f32_2 = f32_0 * f32_1;
        const float f32_4 = f32_2 + f32_3;
        x3[i] = f32_4;
      }
    }
  }
}
