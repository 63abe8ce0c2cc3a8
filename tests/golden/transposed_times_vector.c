/* transposed_times_vector:
graph 3
%0 = input 0 : f32 (s0, 80)
%1 = input 1 : f32 (s0,)
%2 = prims.permute(%0) axes 1, 0 : f32 (80, s0)
%3 = mul(%2, %1) : f32 (80, s0)
%4 = prims.sum(%3) axes 1 : f32 (80, 1)
%5 = prims.reshape(%4) : f32 (80,) -> output 0
behind prelude.c: */
FN i64 lanes_of(i64 n) {
  i64 lanes = 1;
  while (lanes < 64 && lanes < n) lanes *= 2;
  return lanes; }
FN i64 lane_at(i64 i, i64 lanes) {
  i64 lane = 0;
  for (i64 bit = lanes / 2; bit > 0; bit /= 2, i /= 2) lane += i % 2 * bit;
  return lane; }

/* kernel 0: cols 1 x 80 over s0 */
void transposed_times_vector_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row)
  for (i64 col = r[2]; col < r[3]; col += 512) {
    const i64 n = r[3] - col < 512 ? r[3] - col : 512, inner = s[0];
    int used = 0;
    unsigned long long pushed = 0;
    float tf32_3[32][512];
    const i64 lanes = lanes_of(inner), parts = (inner + 4095) / 4096 * lanes;
    for (i64 part = 0; part < parts || part == 0; ++part) {
      const i64 block = part / lanes * 4096, b = block + lane_at(part % lanes, lanes), end = inner < block + 4096 ? inner : block + 4096;
      float *const lf32_3 = tf32_3[used];
      for (i64 l = 0; l < n; ++l) lf32_3[l] = 0;
      for (i64 q = b; q < end; q += 64) {
        const i64 at = row * inner + q;
        (void)at;
        float *x0 = (float *)p[0] + at * (80);
        float *x1 = (float *)p[1] + at * (1);
        EACH for (i64 l = 0; l < n; ++l) {
          const i64 i = col + l;
          (void)i;
          const float f32_0 = x0[i];
          const float f32_1 = x1[0];
          const float f32_2 = f32_0 * f32_1;
          lf32_3[l] = add_f32(lf32_3[l], f32_2);
        }
      }
      ++used;
      for (unsigned long long m = pushed++; m & 1; m >>= 1) {
        --used;
        for (i64 l = 0; l < n; ++l) tf32_3[used - 1][l] = add_f32(tf32_3[used - 1][l], tf32_3[used][l]);
      }
    }
    while (used > 1) {
      --used;
      for (i64 l = 0; l < n; ++l) tf32_3[used - 1][l] = add_f32(tf32_3[used - 1][l], tf32_3[used][l]);
    }
    float *x2 = (float *)p[2] + 0;
    EACH for (i64 l = 0; l < n; ++l) {
      const i64 i = col + l;
      (void)i;
      const float f32_3 = tf32_3[0][l];
      x2[i] = f32_3;
    }
  }
}
