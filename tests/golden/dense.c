/* dense:
graph 3
%0 = input 0 : f32 (s0, 64)
%1 = input 1 : f32 (64, 16)
%2 = input 2 : f32 (16,)
%3 = prims.matmul(%0, %1) : f32 (s0, 16)
%4 = add(%3, %2) : f32 (s0, 16)
%5 = relu(%4) : f32 (s0, 16) -> output 0
behind prelude.c: */

/* kernel 0: matmul s0 x 16 over 64 */
void dense_0(void *const *p, const i64 *s, i64 row, i64 col, i64 n, const void *tile) {
  (void)s;
  const float f32_3 = 0.0f;
  float *x0 = (float *)p[0] + 0;
  float *x1 = (float *)p[1] + row * (16);
  EACH for (i64 i = col; i < col + n; ++i) {
    const float f32_0 = ((const float *)tile)[i - col];
    const float f32_1 = x0[i];
    const float f32_2 = f32_0 + f32_1;
    const int bool_0 = f32_2 <= f32_3;
    const float f32_4 = bool_0 ? f32_3 : f32_2;
    x1[i] = f32_4;
  }
}
