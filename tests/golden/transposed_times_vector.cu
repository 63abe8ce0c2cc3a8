/* transposed_times_vector:
graph 3
%0 = input 0 : f32 (s0, 80)
%1 = input 1 : f32 (s0,)
%2 = prims.permute(%0) axes 1, 0 : f32 (80, s0)
%3 = mul(%2, %1) : f32 (80, s0)
%4 = prims.sum(%3) axes 1 : f32 (80, 1)
%5 = prims.reshape(%4) : f32 (80,) -> output 0
behind prelude.cu: */
FN i64 lanes_of(i64 n) {
  i64 lanes = 1;
  while (lanes < 64 && lanes < n) lanes *= 2;
  return lanes; }
FN i64 lane_at(i64 i, i64 lanes) {
  i64 lane = 0;
  for (i64 bit = lanes / 2; bit > 0; bit /= 2, i /= 2) lane += i % 2 * bit;
  return lane; }
TREE(float, add_f32)

/* kernel 0: cols 1 x 80 over s0 */
/* Mode 0: 32 columns; 1: part `block` of their rows, as partial results; 2: from those */
template <int Mode> FN void transposed_times_vector_0_columns(const Operands<3> &a, const Team &t, i64 row, i64 i, i64 block, char *parts, i64 place, i64 apart) {
  const i64 n = 80, inner = a.s[0], blocks = (inner + 4095) / 4096 * lanes_of(inner);
  (void)row; (void)block;
  float sf32_3 = 0, *part_f32_3 = (float *)(parts + blocks * apart * 0) + place;
  if (Mode != 2)
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
    const i64 lanes = lanes_of(inner), first = b / lanes * 4096, begin = first + lane_at(b % lanes, lanes), end = least(inner, first + 4096);
    float lf32_3[1] = {0};
    if (i < n) {
      #pragma unroll 8
      for (i64 q = begin; q < end; q += 64) {
        const i64 at = row * inner + q;
        (void)at;
        float *x0 = (float *)a.p[0] + at * (80);
        float *x1 = (float *)a.p[1] + at * (1);
        const float f32_0 = x0[i];
        const float f32_1 = x1[0];
        const float f32_2 = f32_0 * f32_1;
        lf32_3[0] = add_f32(lf32_3[0], f32_2);
      }
    }
    sf32_3 = lf32_3[0];
    if (Mode == 1 || blocks > 1) part_f32_3[b * apart] = sf32_3;
  }
  if (Mode == 1) return;
  if (blocks > 1) sf32_3 = combine_columns_add_f32(part_f32_3, blocks, apart, t);
  else if (Mode == 2 && blocks == 1) sf32_3 = part_f32_3[0];
  const float f32_3 = sf32_3;
  if (t.warp == 0 && i < n) {
    float *x2 = (float *)a.p[2] + 0;
    x2[i] = f32_3;
  }
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) transposed_times_vector_0(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, groups = (80 + 31) / 32, blocks = (a.s[0] + 4095) / 4096 * lanes_of(a.s[0]);
  (void)blocks;
  for (i64 unit = t.first; unit < rows * groups; unit += t.step)
    transposed_times_vector_0_columns<0>(a, t, unit / groups, unit % groups * 32 + t.lane, 0, t.parts, t.lane, 32);
}
extern "C" __global__ void __launch_bounds__(128) transposed_times_vector_0_parts(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, groups = (80 + 31) / 32, blocks = (a.s[0] + 4095) / 4096 * lanes_of(a.s[0]);
  (void)blocks;
  for (i64 unit = t.first; unit < rows * groups * blocks; unit += t.step)
    transposed_times_vector_0_columns<1>(a, t, unit / groups / blocks, unit % groups * 32 + t.lane, unit / groups % blocks, a.work + unit / groups / blocks * a.work_bytes, unit % groups * 32 + t.lane, groups * 32);
}
extern "C" __global__ void __launch_bounds__(512) transposed_times_vector_0_finish(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, groups = (80 + 31) / 32, blocks = (a.s[0] + 4095) / 4096 * lanes_of(a.s[0]);
  (void)blocks;
  for (i64 unit = t.first; unit < rows * groups; unit += t.step)
    transposed_times_vector_0_columns<2>(a, t, unit / groups, unit % groups * 32 + t.lane, 0, a.work + unit / groups * a.work_bytes, unit % groups * 32 + t.lane, groups * 32);
}
