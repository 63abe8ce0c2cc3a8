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
behind prelude.cu: */
TREE(float, add_f32)

/* kernel 0: rows 32 x 100 */
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void layer_norm_0_row(const Operands<4> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 100, blocks = (n + 4095) / 4096;
  (void)blocks;
  const float f32_2 = 100.0f;
  const float f32_9 = f32_bits((int)0x3727c5acu) /* 9.99999975e-6 */;
  const float f32_12 = 1.0f;
  float f32_1 = 0;
  float *part_f32_1 = (float *)(parts + blocks * 0);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_1[2] = {0, 0};
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
          lf32_1[k] = add_f32(lf32_1[k], f32_0);
        }
      }
      f32_1 = fold_add_f32<V>(lf32_1);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_1[b] = f32_1;
  }
  if (blocks > 1) f32_1 = combine_add_f32(part_f32_1, blocks, t);
  const float f32_3 = f32_1 / f32_2;
  float f32_7 = 0;
  float *part_f32_7 = (float *)(parts + blocks * 8);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_7[2] = {0, 0};
      float *x0 = (float *)a.p[0] + row * (100);
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v0 = load_pair<V>(x0, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_4 = v0.v[k];
          const float f32_5 = f32_4 - f32_3;
          const float f32_6 = f32_5 * f32_5;
          lf32_7[k] = add_f32(lf32_7[k], f32_6);
        }
      }
      f32_7 = fold_add_f32<V>(lf32_7);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_7[b] = f32_7;
  }
  if (blocks > 1) f32_7 = combine_add_f32(part_f32_7, blocks, t);
  const float f32_8 = f32_7 / f32_2;
  const float f32_10 = f32_8 + f32_9;
  const float f32_11 = sqrt_f32(f32_10);
  const float f32_13 = f32_12 / f32_11;
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float *x0 = (float *)a.p[0] + row * (100);
      float *x1 = (float *)a.p[1] + 0;
      float *x2 = (float *)a.p[2] + 0;
      float *x3 = (float *)a.p[3] + row * (100);
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v0 = load_pair<V>(x0, g, end);
        const Vector<float, 2> v1 = load_pair<V>(x1, g, end);
        const Vector<float, 2> v2 = load_pair<V>(x2, g, end);
        Vector<float, 2> w3;
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_14 = v0.v[k];
          const float f32_15 = f32_14 - f32_3;
          const float f32_16 = f32_15 * f32_13;
          const float f32_17 = v1.v[k];
          const float f32_18 = f32_16 * f32_17;
          const float f32_19 = v2.v[k];
          const float f32_20 = f32_18 + f32_19;
          w3.v[k] = f32_20;
        }
        store_pair<V>(x3, g, end, w3);
      }
  }
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) layer_norm_0(__grid_constant__ const Operands<4> a) {
  const Team t = team_of(a);
  const i64 rows = 32, n = 100, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[1] + 0) && aligned<2>((float *)a.p[2] + 0) && aligned<2>((float *)a.p[3] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) layer_norm_0_row<2, 0>(a, t, row, 0, t.parts);
    else layer_norm_0_row<1, 0>(a, t, row, 0, t.parts);
  }
}
