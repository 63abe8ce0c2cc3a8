/* slice:
graph 3
%0 = input 0 : f32 (20, 30)
%1 = prims.slice(%0) axis 0 from 3 step 1 : f32 (12, 30)
%2 = prims.slice(%1) axis 1 from 28 step -2 : f32 (12, 10)
%3 = constant 2 : f32 ()
%4 = mul(%2, %3) : f32 (12, 10) -> output 0
behind prelude.c: */

/* kernel 0: rows 12 x 10 */
void slice_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 12; ++row) {
    const i64 n = 10;
    const float f32_1 = 2.0f;
    {
      float *x0 = (float *)p[0] + 118 + row * (30);
      float *x1 = (float *)p[1] + row * (10);
      EACH for (i64 i = 0; i < n; ++i) {
        const float f32_0 = x0[i * BACK(-2)];
        const float f32_2 = f32_0 * f32_1;
        x1[i] = f32_2;
      }
    }
  }
}
