/* transpose:
graph 3
%0 = input 0 : f32 (20, 30)
%1 = input 1 : f32 (30, 20)
%2 = prims.permute(%0) axes 1, 0 : f32 (30, 20)
%3 = sub(%2, %1) : f32 (30, 20) -> output 0
behind prelude.c: */

/* kernel 0: rows 30 x 20 */
void transpose_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 30; ++row) {
    const i64 n = 20;
    {
      float *x0 = (float *)p[0] + row * (1);
      float *x1 = (float *)p[1] + row * (32);
      EACH for (i64 i = 0; i < n; ++i) {
        const float f32_0 = x0[i * (30)];
        x1[i] = f32_0;
      }
    }
  }
}

/* kernel 1: rows 30 x 20 */
void transpose_1(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 30; ++row) {
    const i64 n = 20;
    {
      float *x2 = (float *)p[0] + row * (32);
      float *x3 = (float *)p[1] + row * (20);
      float *x4 = (float *)p[2] + row * (20);
      EACH for (i64 i = 0; i < n; ++i) {
        const float f32_0 = x2[i];
        const float f32_1 = x3[i];
        const float f32_2 = f32_0 - f32_1;
        x4[i] = f32_2;
      }
    }
  }
}
