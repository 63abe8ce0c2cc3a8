/* gate:
graph 3
%0 = input 0 : f32 (40, 100)
%1 = input 1 : f32 (40, 100)
%2 = sigmoid(%0) : f32 (40, 100) -> output 2
%3 = mul(%2, %1) : f32 (40, 100)
%4 = prims.reshape(%3) : f32 (4000,)
%5 = prims.sum(%4) axes 0 : f32 (1,)
%6 = prims.reshape(%5) : f32 () -> output 0
%7 = constant 1 : f32 ()
%8 = sub(%7, %2) : f32 (40, 100)
%9 = mul(%2, %8) : f32 (40, 100)
%10 = mul(%1, %9) : f32 (40, 100) -> output 1
behind prelude.c: */
TREE(float, add_f32)
LANES(float, v_f32, 32, add_f32)
FN float sigmoid_f32(float v0) {
  const int v1 = (0);
  const float v2 = 104.0f;
  const float v3 = (-104.0f);
  const float v5 = at_least_f32(v0, v3);
  const float v7 = at_most_f32(v5, v2);
  const float v8 = neg_f32(v7);
  const float v9 = f32_bits((int)0x3fb8aa3bu) /* 1.44269502 */;
  const float v10 = f32_bits((int)0x4b400000u) /* 12582912 */;
  const float v11 = FMA_f32(v8, v9, v10);
  const int v12 = bits_f32(v11);
  const int v13 = (1262485504);
  const int v14 = ISUB_i32(v12, v13);
  const int v15 = v14 >> 1;
  const int v16 = ISUB_i32(v1, v15);
  const int v17 = (127);
  const int v18 = IADD_i32(v16, v17);
  const int v19 = (int)((unsigned int)v18 << 23);
  const float v20 = f32_bits(v19);
  const int v21 = ISUB_i32(v14, v15);
  const int v22 = IADD_i32(v21, v17);
  const int v23 = (int)((unsigned int)v22 << 23);
  const float v24 = f32_bits(v23);
  const float v25 = v20 + v24;
  const float v26 = v11 - v10;
  const float v27 = f32_bits((int)0xbf317200u) /* -0.693145752 */;
  const float v28 = FMA_f32(v26, v27, v8);
  const float v29 = v24 * v28;
  const float v30 = v25 + v29;
  const float v31 = f32_bits((int)0xb5bfbe8eu) /* -1.42860677e-6 */;
  const float v32 = FMA_f32(v26, v31, v28);
  const float v33 = v32 * v32;
  const float v34 = f32_bits((int)0x3ab6aa0eu) /* 0.00139361783 */;
  const float v35 = f32_bits((int)0x3c09083du) /* 0.00836378057 */;
  const float v36 = FMA_f32(v32, v34, v35);
  const float v37 = f32_bits((int)0x3d2aaa72u) /* 0.0416664556 */;
  const float v38 = FMA_f32(v36, v32, v37);
  const float v39 = f32_bits((int)0x3e2aaa6cu) /* 0.166665733 */;
  const float v40 = FMA_f32(v38, v32, v39);
  const float v41 = f32_bits((int)0x3f000000u) /* 0.5 */;
  const float v42 = FMA_f32(v40, v32, v41);
  const float v43 = v26 * v31;
  const float v44 = FMA_f32(v33, v42, v43);
  const float v45 = v25 - v30;
  const float v46 = v45 + v29;
  const float v47 = v25 - v24;
  const float v48 = v20 - v47;
  const float v49 = v46 + v48;
  const float v50 = FMA_f32(v24, v44, v49);
  const float v51 = v30 + v50;
  const float v52 = v20 / v51;
  return v52;
}

/* kernel 0: rows 1 x 4000 */
void gate_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 1; ++row) {
    const i64 n = 4000;
    const float f32_5 = 1.0f;
    float f32_4;
    tree_add_f32 tf32_4;
    tf32_4.used = 0, tf32_4.pushed = 0;
    for (i64 b = 0; b < n || b == 0; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + 0;
      float *x1 = (float *)p[1] + 0;
      float *x2 = (float *)p[2] + 0;
      float *x3 = (float *)p[3] + 0;
      lanes_add_f32 vf32_4;
      begin_add_f32(&vf32_4, 0);
      i64 g = b;
      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {
        float ef32_4[GROUP];
        EACH_IN_GROUP for (i64 l = 0; l < GROUP; ++l) {
          const i64 i = g + u + l;
          (void)i;
          const float f32_0 = x0[i];
          const float f32_1 = sigmoid_f32(f32_0);
          x1[i] = f32_1;
          const float f32_2 = x2[i];
          const float f32_3 = f32_1 * f32_2;
          ef32_4[l] = f32_3;
          const float f32_6 = f32_5 - f32_1;
          const float f32_7 = f32_1 * f32_6;
          const float f32_8 = f32_2 * f32_7;
          x3[i] = f32_8;
        }
        take_add_f32(&vf32_4, ef32_4, u);
      }
      if (g < end) {
        float lf32_4[64];
        spill_add_f32(lf32_4, &vf32_4);
        EACH for (i64 l = 0; l < end - g; ++l) {
          const i64 i = g + l;
          (void)i;
          const float f32_0 = x0[i];
          const float f32_1 = sigmoid_f32(f32_0);
          x1[i] = f32_1;
          const float f32_2 = x2[i];
          const float f32_3 = f32_1 * f32_2;
          lf32_4[l] = add_f32(lf32_4[l], f32_3);
          const float f32_6 = f32_5 - f32_1;
          const float f32_7 = f32_1 * f32_6;
          const float f32_8 = f32_2 * f32_7;
          x3[i] = f32_8;
        }
        fill_add_f32(&vf32_4, lf32_4);
      }
      push_add_f32(&tf32_4, fold_add_f32(&vf32_4));
    }
    f32_4 = result_add_f32(&tf32_4, 0);
    float *x4 = (float *)p[4] + 0;
    x4[0] = f32_4;
  }
}
