/* dtypes:
graph 3
%0 = input 0 : f64 (50,)
%1 = input 1 : i32 (50,)
%2 = cast(%0) : f32 (50,)
%3 = cast(%2) : f64 (50,)
%4 = cast(%0) : i32 (50,)
%5 = cast(%4) : f64 (50,)
%6 = sub(%3, %5) : f64 (50,) -> output 0
%7 = cast(%1) : bool (50,)
%8 = cast(%1) : f32 (50,)
%9 = neg(%8) : f32 (50,)
%10 = constant 0.5 : f32 ()
%11 = where(%7, %9, %10) : f32 (50,) -> output 1
behind prelude.cu: */

/* kernel 0: rows 1 x 50 */
template <int V> FN void dtypes_0_step(const Operands<4> &a, i64 row, i64 col) {
  (void)row;
  const float f32_3 = f32_bits((int)0x3f000000u) /* 0.5 */;
      {
        double *x0 = (double *)a.p[0] + 0;
        double *x1 = (double *)a.p[1] + 0;
        int *x2 = (int *)a.p[2] + 0;
        float *x3 = (float *)a.p[3] + 0;
        const Vector<double, V> v0 = load<V>(x0 + col);
        const Vector<int, V> v2 = load<V>(x2 + col);
        Vector<double, V> w1;
        Vector<float, V> w3;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const double f64_0 = v0.v[k];
          const float f32_0 = (float)f64_0;
          const double f64_1 = (double)f32_0;
          const int i32_0 = i32_f64(f64_0);
          const double f64_2 = (double)i32_0;
          const double f64_3 = f64_1 - f64_2;
          w1.v[k] = f64_3;
          const int i32_1 = v2.v[k];
          const int bool_0 = i32_1 != 0;
          const float f32_1 = (float)i32_1;
          const float f32_2 = neg_f32(f32_1);
          const float f32_4 = bool_0 ? f32_2 : f32_3;
          w3.v[k] = f32_4;
        }
        store<V>(x1 + col, w1);
        store<V>(x3 + col, w3);
      }
}
extern "C" __global__ void __launch_bounds__(256) dtypes_0(__grid_constant__ const Operands<4> a) {
  const i64 rows = 1, n = 50, first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((double *)a.p[0] + 0) && aligned<4>((double *)a.p[1] + 0) && aligned<4>((int *)a.p[2] + 0) && aligned<4>((float *)a.p[3] + 0)) {
    for (i64 e = first; e < n / 4; e += step) dtypes_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) dtypes_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) dtypes_0_step<1>(a, 0, e);
  }
  (void)rows;
}
