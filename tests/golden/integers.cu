/* integers:
graph 3
%0 = input 0 : i64 (s0,)
%1 = input 1 : i64 (s0,)
%2 = constant 3 : i64 ()
%3 = mul(%0, %2) : i64 (s0,)
%4 = add(%3, %1) : i64 (s0,)
%5 = shift_right(%1) by 2 : i64 (s0,)
%6 = bit_xor(%4, %5) : i64 (s0,)
%7 = neg(%0) : i64 (s0,)
%8 = maximum(%6, %7) : i64 (s0,)
%9 = constant 255 : i64 ()
%10 = bit_and(%8, %9) : i64 (s0,) -> output 0
behind prelude.cu: */

/* kernel 0: rows 1 x s0 */
template <int V> FN void integers_0_step(const Operands<3> &a, i64 row, i64 col) {
  (void)row;
  const long long i64_1 = (i64)0x0000000000000003ULL;
  const long long i64_9 = (i64)0x00000000000000ffULL;
      {
        long long *x0 = (long long *)a.p[0] + 0;
        long long *x1 = (long long *)a.p[1] + 0;
        long long *x2 = (long long *)a.p[2] + 0;
        const Vector<long long, V> v0 = load<V>(x0 + col);
        const Vector<long long, V> v1 = load<V>(x1 + col);
        Vector<long long, V> w2;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const long long i64_0 = v0.v[k];
          const long long i64_2 = IMUL_i64(i64_0, i64_1);
          const long long i64_3 = v1.v[k];
          const long long i64_4 = IADD_i64(i64_2, i64_3);
          const long long i64_5 = i64_3 >> 2;
          const long long i64_6 = i64_4 ^ i64_5;
          const long long i64_7 = ISUB_i64(0, i64_0);
          const long long i64_8 = max_i64(i64_6, i64_7);
          const long long i64_10 = i64_8 & i64_9;
          w2.v[k] = i64_10;
        }
        store<V>(x2 + col, w2);
      }
}
extern "C" __global__ void __launch_bounds__(256) integers_0(__grid_constant__ const Operands<3> a) {
  const i64 rows = 1, n = a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((long long *)a.p[0] + 0) && aligned<4>((long long *)a.p[1] + 0) && aligned<4>((long long *)a.p[2] + 0)) {
    for (i64 e = first; e < n / 4; e += step) integers_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) integers_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) integers_0_step<1>(a, 0, e);
  }
  (void)rows;
}
