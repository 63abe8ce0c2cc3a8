/* argmax:
graph 3
%0 = input 0 : f32 (16, 50)
%1 = prims.amax(%0) axes 1 : f32 (16, 1)
%2 = eq(%0, %1) : bool (16, 50)
%3 = ne(%0, %0) : bool (16, 50)
%4 = logical_or(%2, %3) : bool (16, 50)
%5 = iota 1 : i64 (1, 50)
%6 = constant 50 : i64 ()
%7 = where(%4, %5, %6) : i64 (16, 50)
%8 = prims.amin(%7) axes 1 : i64 (16, 1)
%9 = prims.reshape(%8) : i64 (16,) -> output 0
behind prelude.c: */
TREE(float, max_f32)
LANES(float, v_f32, 32, max_f32)
TREE(long long, min_i64)
LANES(long long, v_i64, 64, min_i64)

/* kernel 0: rows 16 x 50 */
void argmax_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 16; ++row) {
    const i64 n = 50;
    const long long i64_1 = (i64)0x0000000000000032ULL;
    float f32_1;
    tree_max_f32 tf32_1;
    tf32_1.used = 0, tf32_1.pushed = 0;
    for (i64 b = 0; b < n || b == 0; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + row * (50);
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
    long long i64_3;
    tree_min_i64 ti64_3;
    ti64_3.used = 0, ti64_3.pushed = 0;
    for (i64 b = 0; b < n || b == 0; b += 4096) {
      const i64 end = n < b + 4096 ? n : b + 4096;
      float *x0 = (float *)p[0] + row * (50);
      lanes_min_i64 vi64_3;
      begin_min_i64(&vi64_3, 9223372036854775807LL);
      i64 g = b;
      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {
        long long ei64_3[GROUP];
        EACH_IN_GROUP for (i64 l = 0; l < GROUP; ++l) {
          const i64 i = g + u + l;
          (void)i;
          const float f32_2 = x0[i];
          const int bool_0 = f32_2 == f32_1;
          const int bool_1 = f32_2 != f32_2;
          const int bool_2 = bool_0 | bool_1;
          const long long i64_0 = (long long)(0 + i);
          const long long i64_2 = CHOOSE_i64(bool_2, i64_0, i64_1);
          ei64_3[l] = i64_2;
        }
        take_min_i64(&vi64_3, ei64_3, u);
      }
      if (g < end) {
        long long li64_3[64];
        spill_min_i64(li64_3, &vi64_3);
        EACH for (i64 l = 0; l < end - g; ++l) {
          const i64 i = g + l;
          (void)i;
          const float f32_2 = x0[i];
          const int bool_0 = f32_2 == f32_1;
          const int bool_1 = f32_2 != f32_2;
          const int bool_2 = bool_0 | bool_1;
          const long long i64_0 = (long long)(0 + i);
          const long long i64_2 = CHOOSE_i64(bool_2, i64_0, i64_1);
          li64_3[l] = min_i64(li64_3[l], i64_2);
        }
        fill_min_i64(&vi64_3, li64_3);
      }
      push_min_i64(&ti64_3, fold_min_i64(&vi64_3));
    }
    i64_3 = result_min_i64(&ti64_3, 9223372036854775807LL);
    long long *x2 = (long long *)p[1] + row * (1);
    x2[0] = i64_3;
  }
}
