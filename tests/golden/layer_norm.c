/* layer_norm:
graph 3
%0 = input 0 : f32 (32, 100)
%1 = input 1 : f32 (100,)
%2 = input 2 : f32 (100,)
%3 = prims.sum(%0) axes 1 : f32 (32, 1)
%4 = constant 100 : f32 ()
%5 = div(%3, %4) : f32 (32, 1)
%6 = sub(%0, %5) : f32 (32, 100)
%7 = mul(%6, %6) : f32 (32, 100)
%8 = prims.sum(%7) axes 1 : f32 (32, 1)
%9 = div(%8, %4) : f32 (32, 1)
%10 = constant 9.99999975e-6 : f32 ()
%11 = add(%9, %10) : f32 (32, 1)
%12 = rsqrt(%11) : f32 (32, 1)
%13 = mul(%6, %12) : f32 (32, 100)
%14 = mul(%13, %1) : f32 (32, 100)
%15 = add(%14, %2) : f32 (32, 100) -> output 0
behind prelude.c: */
TREE(float, add_f32)
LANES(float, v_f32, 32, add_f32)

/* kernel 0: rows 32 x 100 */
void layer_norm_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 32; ++row) {
    const i64 n = 100;
    const float f32_2 = 100.0f;
    const float f32_9 = f32_bits((int)0x3727c5acu) /* 9.99999975e-6 */;
    const float f32_12 = 1.0f;
    float f32_1;
    tree_add_f32 tf32_1;
    tf32_1.used = 0, tf32_1.pushed = 0;
    for (i64 b = 0; b < n || b == 0; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + row * (100);
      lanes_add_f32 vf32_1;
      begin_add_f32(&vf32_1, 0);
      i64 g = b;
      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {
        take_add_f32(&vf32_1, x0 + g + u, u);
      }
      if (g < end) {
        float lf32_1[64];
        spill_add_f32(lf32_1, &vf32_1);
        EACH for (i64 l = 0; l < end - g; ++l) {
          const i64 i = g + l;
          (void)i;
          const float f32_0 = x0[i];
          lf32_1[l] = add_f32(lf32_1[l], f32_0);
        }
        fill_add_f32(&vf32_1, lf32_1);
      }
      push_add_f32(&tf32_1, fold_add_f32(&vf32_1));
    }
    f32_1 = result_add_f32(&tf32_1, 0);
    const float f32_3 = f32_1 / f32_2;
    float f32_7;
    tree_add_f32 tf32_7;
    tf32_7.used = 0, tf32_7.pushed = 0;
    for (i64 b = 0; b < n || b == 0; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + row * (100);
      lanes_add_f32 vf32_7;
      begin_add_f32(&vf32_7, 0);
      i64 g = b;
      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {
        float ef32_7[GROUP];
        EACH_IN_GROUP for (i64 l = 0; l < GROUP; ++l) {
          const i64 i = g + u + l;
          (void)i;
          const float f32_4 = x0[i];
          const float f32_5 = f32_4 - f32_3;
          const float f32_6 = f32_5 * f32_5;
          ef32_7[l] = f32_6;
        }
        take_add_f32(&vf32_7, ef32_7, u);
      }
      if (g < end) {
        float lf32_7[64];
        spill_add_f32(lf32_7, &vf32_7);
        EACH for (i64 l = 0; l < end - g; ++l) {
          const i64 i = g + l;
          (void)i;
          const float f32_4 = x0[i];
          const float f32_5 = f32_4 - f32_3;
          const float f32_6 = f32_5 * f32_5;
          lf32_7[l] = add_f32(lf32_7[l], f32_6);
        }
        fill_add_f32(&vf32_7, lf32_7);
      }
      push_add_f32(&tf32_7, fold_add_f32(&vf32_7));
    }
    f32_7 = result_add_f32(&tf32_7, 0);
    const float f32_8 = f32_7 / f32_2;
    const float f32_10 = f32_8 + f32_9;
    const float f32_11 = sqrt_f32(f32_10);
    const float f32_13 = f32_12 / f32_11;
    {
      float *x0 = (float *)p[0] + row * (100);
      float *x1 = (float *)p[1] + 0;
      float *x2 = (float *)p[2] + 0;
      float *x3 = (float *)p[3] + row * (100);
      EACH for (i64 i = 0; i < n; ++i) {
        const float f32_14 = x0[i];
        const float f32_15 = f32_14 - f32_3;
        const float f32_16 = f32_15 * f32_13;
        const float f32_17 = x1[i];
        const float f32_18 = f32_16 * f32_17;
        const float f32_19 = x2[i];
        const float f32_20 = f32_18 + f32_19;
        x3[i] = f32_20;
      }
    }
  }
}
