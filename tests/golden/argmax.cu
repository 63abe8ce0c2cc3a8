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
behind prelude.cu: */
TREE(float, max_f32)
TREE(long long, min_i64)

/* kernel 0: rows 16 x 50 */
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void argmax_0_row(const Operands<2> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 50, blocks = (n + 4095) / 4096;
  (void)blocks;
  const long long i64_1 = (i64)0x0000000000000032ULL;
  float f32_1 = f32_bits((int)0xff800000u);
  float *part_f32_1 = (float *)(parts + blocks * 0);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_1[2] = {f32_bits((int)0xff800000u), f32_bits((int)0xff800000u)};
      float *x0 = (float *)a.p[0] + row * (50);
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
  long long i64_3 = 9223372036854775807LL;
  long long *part_i64_3 = (long long *)(parts + blocks * 8);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      long long li64_3[2] = {9223372036854775807LL, 9223372036854775807LL};
      float *x0 = (float *)a.p[0] + row * (50);
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v0 = load_pair<V>(x0, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_2 = v0.v[k];
          const int bool_0 = f32_2 == f32_1;
          const int bool_1 = f32_2 != f32_2;
          const int bool_2 = bool_0 | bool_1;
          const long long i64_0 = (long long)(0 + i);
          const long long i64_2 = CHOOSE_i64(bool_2, i64_0, i64_1);
          li64_3[k] = min_i64(li64_3[k], i64_2);
        }
      }
      i64_3 = fold_min_i64<V>(li64_3);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_i64_3[b] = i64_3;
  }
  if (blocks > 1) i64_3 = combine_min_i64(part_i64_3, blocks, t);
  long long *x2 = (long long *)a.p[1] + row * (1);
  sync(t);
  if (t.thread == 0)
  x2[0] = i64_3;
  sync(t);
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) argmax_0(__grid_constant__ const Operands<2> a) {
  const Team t = team_of(a);
  const i64 rows = 16, n = 50, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) argmax_0_row<2, 0>(a, t, row, 0, t.parts);
    else argmax_0_row<1, 0>(a, t, row, 0, t.parts);
  }
}
