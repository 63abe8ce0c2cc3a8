/* column_sums:
graph 3
%0 = input 0 : f64 (300, 20)
%1 = prims.sum(%0) axes 0 : f64 (1, 20)
%2 = prims.reshape(%1) : f64 (20,) -> output 0
behind prelude.cu: */
TREE(double, add_f64)

/* kernel 0: cols 1 x 20 over 300 */
/* Mode 0: 32 columns; 1: part `block` of their rows, as partial results; 2: from those */
template <int Mode> FN void column_sums_0_columns(const Operands<2> &a, const Team &t, i64 row, i64 i, i64 block, char *parts, i64 place, i64 apart) {
  const i64 n = 20, inner = 300, blocks = (inner + 255) / 256;
  (void)row; (void)block;
  double sf64_1 = 0, *part_f64_1 = (double *)(parts + blocks * apart * 0) + place;
  if (Mode != 2)
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
    const i64 end = least(inner, (b + 1) * 256);
    double lf64_1[1] = {0};
    if (i < n) {
      #pragma unroll 8
      for (i64 q = b * 256; q < end; ++q) {
        const i64 at = row * inner + q;
        (void)at;
        double *x0 = (double *)a.p[0] + at * (20);
        const double f64_0 = x0[i];
        lf64_1[0] = add_f64(lf64_1[0], f64_0);
      }
    }
    sf64_1 = lf64_1[0];
    if (Mode == 1 || blocks > 1) part_f64_1[b * apart] = sf64_1;
  }
  if (Mode == 1) return;
  if (blocks > 1) sf64_1 = combine_columns_add_f64(part_f64_1, blocks, apart, t);
  else if (Mode == 2 && blocks == 1) sf64_1 = part_f64_1[0];
  const double f64_1 = sf64_1;
  if (t.warp == 0 && i < n) {
    double *x1 = (double *)a.p[1] + 0;
    x1[i] = f64_1;
  }
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) column_sums_0(__grid_constant__ const Operands<2> a) {
  const Team t = team_of(a);
  const i64 rows = 1, groups = (20 + 31) / 32, blocks = (300 + 255) / 256;
  (void)blocks;
  for (i64 unit = t.first; unit < rows * groups; unit += t.step)
    column_sums_0_columns<0>(a, t, unit / groups, unit % groups * 32 + t.lane, 0, t.parts, t.lane, 32);
}
extern "C" __global__ void __launch_bounds__(128) column_sums_0_parts(__grid_constant__ const Operands<2> a) {
  const Team t = team_of(a);
  const i64 rows = 1, groups = (20 + 31) / 32, blocks = (300 + 255) / 256;
  (void)blocks;
  for (i64 unit = t.first; unit < rows * groups * blocks; unit += t.step)
    column_sums_0_columns<1>(a, t, unit / groups / blocks, unit % groups * 32 + t.lane, unit / groups % blocks, a.work + unit / groups / blocks * a.work_bytes, unit % groups * 32 + t.lane, groups * 32);
}
extern "C" __global__ void __launch_bounds__(512) column_sums_0_finish(__grid_constant__ const Operands<2> a) {
  const Team t = team_of(a);
  const i64 rows = 1, groups = (20 + 31) / 32, blocks = (300 + 255) / 256;
  (void)blocks;
  for (i64 unit = t.first; unit < rows * groups; unit += t.step)
    column_sums_0_columns<2>(a, t, unit / groups, unit % groups * 32 + t.lane, 0, a.work + unit / groups * a.work_bytes, unit % groups * 32 + t.lane, groups * 32);
}
