/* softmax:
graph 3
%0 = input 0 : f32 (s0, 100)
%1 = prims.amax(%0) axes 1 : f32 (s0, 1)
%2 = detach(%1) : f32 (s0, 1)
%3 = sub(%0, %2) : f32 (s0, 100)
%4 = exp(%3) : f32 (s0, 100)
%5 = prims.sum(%4) axes 1 : f32 (s0, 1)
%6 = div(%4, %5) : f32 (s0, 100) -> output 0
behind prelude.cu: */
TREE(float, max_f32)
TREE(float, add_f32)
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
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void softmax_0_row(const Operands<3> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 100, blocks = (n + 4095) / 4096;
  (void)blocks;
  float *x1 = (float *)(t.rows + 0);
  float f32_1 = f32_bits((int)0xff800000u);
  float *part_f32_1 = (float *)(parts + blocks * 0);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_1[2] = {f32_bits((int)0xff800000u), f32_bits((int)0xff800000u)};
      float *x0 = (float *)a.p[0] + row * (100);
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v0 = load_pair<V>(x0, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_0 = v0.v[k];
          lf32_1[k] = max_f32(lf32_1[k], f32_0);
        }
      }
      f32_1 = fold_max_f32<V>(lf32_1);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_1[b] = f32_1;
  }
  if (blocks > 1) f32_1 = combine_max_f32(part_f32_1, blocks, t);
  float f32_5 = 0;
  float *part_f32_5 = (float *)(parts + blocks * 8);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_5[2] = {0, 0};
      float *x0 = (float *)a.p[0] + row * (100);
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v0 = load_pair<V>(x0, g, end);
        Vector<float, 2> w1;
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_2 = v0.v[k];
          const float f32_3 = f32_2 - f32_1;
          const float f32_4 = exp_f32(f32_3);
          w1.v[k] = f32_4;
          lf32_5[k] = add_f32(lf32_5[k], f32_4);
        }
        store_pair<V>(x1, g, end, w1);
      }
      f32_5 = fold_add_f32<V>(lf32_5);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_5[b] = f32_5;
  }
  if (blocks > 1) f32_5 = combine_add_f32(part_f32_5, blocks, t);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float *x2 = (float *)a.p[2] + row * (100);
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v1 = load_pair<V>(x1, g, end);
        Vector<float, 2> w2;
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_6 = v1.v[k];
          const float f32_7 = f32_6 / f32_5;
          w2.v[k] = f32_7;
        }
        store_pair<V>(x2, g, end, w2);
      }
  }
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) softmax_0(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = a.s[0], n = 100, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[2] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) softmax_0_row<2, 0>(a, t, row, 0, t.parts);
    else softmax_0_row<1, 0>(a, t, row, 0, t.parts);
  }
}
