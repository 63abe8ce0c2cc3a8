/* softmax:
graph 3
%0 = input 0 : f32 (s0, 100)
%1 = prims.amax(%0) axes 1 : f32 (s0, 1)
%2 = detach(%1) : f32 (s0, 1)
%3 = sub(%0, %2) : f32 (s0, 100)
%4 = exp(%3) : f32 (s0, 100)
%5 = prims.sum(%4) axes 1 : f32 (s0, 1)
%6 = div(%4, %5) : f32 (s0, 100) -> output 0
behind prelude.c: */
TREE(float, max_f32)
LANES(float, v_f32, 32, max_f32)
TREE(float, add_f32)
LANES(float, v_f32, 32, add_f32)
FN float exp_f32(float v0) {
  const float v1 = 89.0f;
  const float v2 = f32_bits((int)0xc3300f5cu) /* -176.059998 */;
  const float v4 = at_least_f32(v0, v2);
  const float v6 = at_most_f32(v4, v1);
  const float v7 = f32_bits((int)0x3fb8aa3bu) /* 1.44269502 */;
  const float v8 = f32_bits((int)0x4b400000u) /* 12582912 */;
  const float v9 = FMA_f32(v6, v7, v8);
  const float v10 = v9 - v8;
  const float v11 = f32_bits((int)0xb5bfbe8eu) /* -1.42860677e-6 */;
  const float v12 = f32_bits((int)0xbf317200u) /* -0.693145752 */;
  const float v13 = FMA_f32(v10, v12, v6);
  const float v14 = FMA_f32(v10, v11, v13);
  const float v15 = v14 * v14;
  const float v16 = f32_bits((int)0x3ab6aa0eu) /* 0.00139361783 */;
  const float v17 = f32_bits((int)0x3c09083du) /* 0.00836378057 */;
  const float v18 = FMA_f32(v14, v16, v17);
  const float v19 = f32_bits((int)0x3d2aaa72u) /* 0.0416664556 */;
  const float v20 = FMA_f32(v18, v14, v19);
  const float v21 = f32_bits((int)0x3e2aaa6cu) /* 0.166665733 */;
  const float v22 = FMA_f32(v20, v14, v21);
  const float v23 = f32_bits((int)0x3f000000u) /* 0.5 */;
  const float v24 = FMA_f32(v22, v14, v23);
  const float v25 = FMA_f32(v15, v24, v14);
  const int v26 = bits_f32(v9);
  const int v27 = (1262485504);
  const int v28 = ISUB_i32(v26, v27);
  const int v29 = v28 >> 1;
  const int v30 = (127);
  const int v31 = IADD_i32(v29, v30);
  const int v32 = (int)((unsigned int)v31 << 23);
  const float v33 = f32_bits(v32);
  const float v34 = FMA_f32(v25, v33, v33);
  const int v35 = ISUB_i32(v28, v29);
  const int v36 = IADD_i32(v35, v30);
  const int v37 = (int)((unsigned int)v36 << 23);
  const float v38 = f32_bits(v37);
  const float v39 = v34 * v38;
  return v39;
}

/* kernel 0: rows s0 x 100 */
void softmax_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = 100;
    float f32_1;
    tree_max_f32 tf32_1;
    tf32_1.used = 0, tf32_1.pushed = 0;
    for (i64 b = 0; b < n || b == 0; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + row * (100);
      lanes_max_f32 vf32_1;
      begin_max_f32(&vf32_1, f32_bits((int)0xff800000u));
      i64 g = b;
      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {
        take_max_f32(&vf32_1, x0 + g + u, u);
      }
      if (g < end) {
        float lf32_1[64];
        spill_max_f32(lf32_1, &vf32_1);
        EACH for (i64 l = 0; l < end - g; ++l) {
          const i64 i = g + l;
          (void)i;
          const float f32_0 = x0[i];
          lf32_1[l] = max_f32(lf32_1[l], f32_0);
        }
        fill_max_f32(&vf32_1, lf32_1);
      }
      push_max_f32(&tf32_1, fold_max_f32(&vf32_1));
    }
    f32_1 = result_max_f32(&tf32_1, f32_bits((int)0xff800000u));
    float f32_5;
    tree_add_f32 tf32_5;
    tf32_5.used = 0, tf32_5.pushed = 0;
    for (i64 b = 0; b < n || b == 0; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + row * (100);
      float *x1 = (float *)p[1] + 0;
      lanes_add_f32 vf32_5;
      begin_add_f32(&vf32_5, 0);
      i64 g = b;
      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {
        float ef32_5[GROUP];
        EACH_IN_GROUP for (i64 l = 0; l < GROUP; ++l) {
          const i64 i = g + u + l;
          (void)i;
          const float f32_2 = x0[i];
          const float f32_3 = f32_2 - f32_1;
          const float f32_4 = exp_f32(f32_3);
          x1[i] = f32_4;
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
          const float f32_2 = x0[i];
          const float f32_3 = f32_2 - f32_1;
          const float f32_4 = exp_f32(f32_3);
          x1[i] = f32_4;
          lf32_5[l] = add_f32(lf32_5[l], f32_4);
        }
        fill_add_f32(&vf32_5, lf32_5);
      }
      push_add_f32(&tf32_5, fold_add_f32(&vf32_5));
    }
    f32_5 = result_add_f32(&tf32_5, 0);
    {
      float *x1 = (float *)p[1] + 0;
      float *x2 = (float *)p[2] + row * (100);
      EACH for (i64 i = 0; i < n; ++i) {
        const float f32_6 = x1[i];
        const float f32_7 = f32_6 / f32_5;
        x2[i] = f32_7;
      }
    }
  }
}
