/* transposed_times_vector:
%0 = input 0 : f32 (s0, 80)
%1 = input 1 : f32 (s0,)
%2 = permute(%0) axes 1 0 : f32 (80, s0)
%3 = mul(%2, %1) : f32 (80, s0)
%4 = sum(%3) axes 1 : f32 (80, 1)
%5 = reshape(%4) : f32 (80,)  -> output 0
behind prelude.cu: */
TREE(float, add_f32)

/* kernel 0: rows 80 x s0 */
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void transposed_times_vector_0_row(const Operands<3> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  float f32_3 = 0;
  float *part_f32_3 = (float *)(parts + blocks * 0);
  if (Mode != 2)
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_3[2] = {0, 0};
      float *x0 = (float *)a.p[0] + row * (1);
      float *x1 = (float *)a.p[1] + 0;
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v1 = load_pair<V>(x1, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_0 = x0[i * (80)];
          const float f32_1 = v1.v[k];
          const float f32_2 = f32_0 * f32_1;
          lf32_3[k] = add_f32(lf32_3[k], f32_2);
        }
      }
      f32_3 = fold_add_f32<V>(lf32_3);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_3[b] = f32_3;
  }
  if (Mode == 1) return;
  if (blocks > 1) f32_3 = combine_add_f32(part_f32_3, blocks, t);
  if (Mode == 2 && blocks == 1) f32_3 = part_f32_3[0];
  float *x2 = (float *)a.p[2] + row * (1);
  sync(t);
  if (t.thread == 0)
  x2[0] = f32_3;
  sync(t);
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) transposed_times_vector_0(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 80, n = a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[1] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) transposed_times_vector_0_row<2, 0>(a, t, row, 0, t.parts);
    else transposed_times_vector_0_row<1, 0>(a, t, row, 0, t.parts);
  }
}
extern "C" __global__ void __launch_bounds__(128) transposed_times_vector_0_parts(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 80, n = a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[1] + 0);
  for (i64 unit = t.first; unit < rows * blocks; unit += t.step) {
    if (wide) transposed_times_vector_0_row<2, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
    else transposed_times_vector_0_row<1, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
  }
}
extern "C" __global__ void __launch_bounds__(512) transposed_times_vector_0_finish(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 80, n = a.s[0], blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[1] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    transposed_times_vector_0_row<1, 2>(a, t, row, 0, a.work + row * a.work_bytes);
  }
}
