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
behind prelude.cu: */
TREE(float, add_f32)
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
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void gate_0_row(const Operands<5> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 4000, blocks = (n + 4095) / 4096;
  (void)blocks;
  const float f32_5 = 1.0f;
  float f32_4 = 0;
  float *part_f32_4 = (float *)(parts + blocks * 0);
  if (Mode != 2)
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_4[2] = {0, 0};
      float *x0 = (float *)a.p[0] + 0;
      float *x1 = (float *)a.p[1] + 0;
      float *x2 = (float *)a.p[2] + 0;
      float *x3 = (float *)a.p[3] + 0;
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v0 = load_pair<V>(x0, g, end);
        const Vector<float, 2> v2 = load_pair<V>(x2, g, end);
        Vector<float, 2> w1;
        Vector<float, 2> w3;
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_0 = v0.v[k];
          const float f32_1 = sigmoid_f32(f32_0);
          w1.v[k] = f32_1;
          const float f32_2 = v2.v[k];
          const float f32_3 = f32_1 * f32_2;
          lf32_4[k] = add_f32(lf32_4[k], f32_3);
          const float f32_6 = f32_5 - f32_1;
          const float f32_7 = f32_1 * f32_6;
          const float f32_8 = f32_2 * f32_7;
          w3.v[k] = f32_8;
        }
        store_pair<V>(x1, g, end, w1);
        store_pair<V>(x3, g, end, w3);
      }
      f32_4 = fold_add_f32<V>(lf32_4);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_4[b] = f32_4;
  }
  if (Mode == 1) return;
  if (blocks > 1) f32_4 = combine_add_f32(part_f32_4, blocks, t);
  if (Mode == 2 && blocks == 1) f32_4 = part_f32_4[0];
  float *x4 = (float *)a.p[4] + 0;
  sync(t);
  if (t.thread == 0)
  x4[0] = f32_4;
  sync(t);
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) gate_0(__grid_constant__ const Operands<5> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 4000, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[1] + 0) && aligned<2>((float *)a.p[2] + 0) && aligned<2>((float *)a.p[3] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) gate_0_row<2, 0>(a, t, row, 0, t.parts);
    else gate_0_row<1, 0>(a, t, row, 0, t.parts);
  }
}
extern "C" __global__ void __launch_bounds__(128) gate_0_parts(__grid_constant__ const Operands<5> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 4000, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[1] + 0) && aligned<2>((float *)a.p[2] + 0) && aligned<2>((float *)a.p[3] + 0);
  for (i64 unit = t.first; unit < rows * blocks; unit += t.step) {
    if (wide) gate_0_row<2, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
    else gate_0_row<1, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
  }
}
extern "C" __global__ void __launch_bounds__(512) gate_0_finish(__grid_constant__ const Operands<5> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 4000, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[1] + 0) && aligned<2>((float *)a.p[2] + 0) && aligned<2>((float *)a.p[3] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    gate_0_row<1, 2>(a, t, row, 0, a.work + row * a.work_bytes);
  }
}
