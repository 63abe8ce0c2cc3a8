/* multiply_add_sum:
graph 3
%0 = input 0 : f32 (s0, 300)
%1 = input 1 : f32 (s0, 300)
%2 = input 2 : f32 (s0, 300)
%3 = mul(%0, %1) : f32 (s0, 300)
%4 = add(%3, %2) : f32 (s0, 300)
%5 = prims.reshape(%4) : f32 (300*s0,)
%6 = prims.sum(%5) axes 0 : f32 (1,)
%7 = prims.reshape(%6) : f32 () -> output 0
behind prelude.c: */
TREE(float, add_f32)
LANES(float, v_f32, 32, add_f32)

/* kernel 0: rows 1 x 300*s0 */
void multiply_add_sum_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = 300 * s[0];
    const i64 phase = r[4], first = phase ? r[5] : 0, last = phase ? r[6] : n;
    char *const values = (char *)r[7];
    const int stores = !phase || phase > 1;
    (void)stores;
    float f32_5;
    tree_add_f32 tf32_5;
    tf32_5.used = 0, tf32_5.pushed = 0;
    for (i64 b = 0; b < n && phase > 1; b += 4096) {
      push_add_f32(&tf32_5, *(float *)(values + 8 * (b / 4096 * 1 + 0)));
    }
    for (i64 b = first; (b < last || b == 0) && phase <= 1; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + 0;
      float *x1 = (float *)p[1] + 0;
      float *x2 = (float *)p[2] + 0;
      lanes_add_f32 vf32_5;
      begin_add_f32(&vf32_5, 0);
      i64 g = b;
      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {
        float ef32_5[GROUP];
        EACH_IN_GROUP for (i64 l = 0; l < GROUP; ++l) {
          const i64 i = g + u + l;
          (void)i;
          const float f32_0 = x0[i];
          const float f32_1 = x1[i];
          const float f32_2 = f32_0 * f32_1;
          const float f32_3 = x2[i];
          const float f32_4 = f32_2 + f32_3;
          ef32_5[l] = f32_4;
        }
        take_add_f32(&vf32_5, ef32_5, u);
      }
      if (g < end) {
        float lf32_5[64];
        spill_add_f32(lf32_5, &vf32_5);
        EACH for (i64 l = 0; l < end - g; ++l) {
          const i64 i = g + l;
          (void)i;
          const float f32_0 = x0[i];
          const float f32_1 = x1[i];
          const float f32_2 = f32_0 * f32_1;
          const float f32_3 = x2[i];
          const float f32_4 = f32_2 + f32_3;
          lf32_5[l] = add_f32(lf32_5[l], f32_4);
        }
        fill_add_f32(&vf32_5, lf32_5);
      }
      if (phase) *(float *)(values + 8 * (b / 4096 * 1 + 0)) = fold_add_f32(&vf32_5);
      else push_add_f32(&tf32_5, fold_add_f32(&vf32_5));
    }
    if (phase == 1) return;
    f32_5 = result_add_f32(&tf32_5, 0);
    float *x3 = (float *)p[3] + 0;
    if (stores) x3[0] = f32_5;
  }
}
