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
behind prelude.cu: */
TREE(float, add_f32)

/* kernel 0: rows 1 x 300*s0 */
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void multiply_add_sum_0_row(const Operands<4> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 300 * a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  float f32_5 = 0;
  float *part_f32_5 = (float *)(parts + blocks * 0);
  if (Mode != 2)
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_5[2] = {0, 0};
      float *x0 = (float *)a.p[0] + 0;
      float *x1 = (float *)a.p[1] + 0;
      float *x2 = (float *)a.p[2] + 0;
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v0 = load_pair<V>(x0, g, end);
        const Vector<float, 2> v1 = load_pair<V>(x1, g, end);
        const Vector<float, 2> v2 = load_pair<V>(x2, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_0 = v0.v[k];
          const float f32_1 = v1.v[k];
          const float f32_2 = f32_0 * f32_1;
          const float f32_3 = v2.v[k];
          const float f32_4 = f32_2 + f32_3;
          lf32_5[k] = add_f32(lf32_5[k], f32_4);
        }
      }
      f32_5 = fold_add_f32<V>(lf32_5);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_5[b] = f32_5;
  }
  if (Mode == 1) return;
  if (blocks > 1) f32_5 = combine_add_f32(part_f32_5, blocks, t);
  if (Mode == 2 && blocks == 1) f32_5 = part_f32_5[0];
  float *x3 = (float *)a.p[3] + 0;
  sync(t);
  if (t.thread == 0)
  x3[0] = f32_5;
  sync(t);
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) multiply_add_sum_0(__grid_constant__ const Operands<4> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 300 * a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[1] + 0) && aligned<2>((float *)a.p[2] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) multiply_add_sum_0_row<2, 0>(a, t, row, 0, t.parts);
    else multiply_add_sum_0_row<1, 0>(a, t, row, 0, t.parts);
  }
}
extern "C" __global__ void __launch_bounds__(128) multiply_add_sum_0_parts(__grid_constant__ const Operands<4> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 300 * a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[1] + 0) && aligned<2>((float *)a.p[2] + 0);
  for (i64 unit = t.first; unit < rows * blocks; unit += t.step) {
    if (wide) multiply_add_sum_0_row<2, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
    else multiply_add_sum_0_row<1, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
  }
}
extern "C" __global__ void __launch_bounds__(512) multiply_add_sum_0_finish(__grid_constant__ const Operands<4> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 300 * a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[1] + 0) && aligned<2>((float *)a.p[2] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    multiply_add_sum_0_row<1, 2>(a, t, row, 0, a.work + row * a.work_bytes);
  }
}
