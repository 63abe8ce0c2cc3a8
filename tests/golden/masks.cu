/* masks:
graph 3
%0 = input 0 : bool (s0,)
%1 = input 1 : bool (s0*s0,)
%2 = input 2 : bool (s0*s0*s0,)
%3 = input 3 : bool (s0*s0*s0*s0,)
%4 = input 4 : f32 (s0,)
%5 = input 5 : bool (s0*s0,)
%6 = input 6 : f64 (s0*s0,)
%7 = input 7 : i64 (s0*s0*s0,)
%8 = constant 0 : f32 ()
%9 = where(%0, %4, %8) : f32 (s0,) -> output 0
%10 = logical_not(%5) : bool (s0*s0,)
%11 = logical_and(%1, %10) : bool (s0*s0,)
%12 = constant 0 : f64 ()
%13 = where(%11, %6, %12) : f64 (s0*s0,) -> output 1
%14 = constant 7 : i64 ()
%15 = where(%2, %7, %14) : i64 (s0*s0*s0,) -> output 2
%16 = cast(%3) : f32 (s0*s0*s0*s0,) -> output 3
behind prelude.cu: */

/* kernel 0: rows 1 x s0 */
template <int V> FN void masks_0_step(const Operands<3> &a, i64 row, i64 col) {
  (void)row;
  const float f32_1 = 0.0f;
      {
        u8 *x0 = (u8 *)a.p[0] + 0;
        float *x1 = (float *)a.p[1] + 0;
        float *x2 = (float *)a.p[2] + 0;
        const Vector<u8, V> v0 = load<V>(x0 + col);
        const Vector<float, V> v1 = load<V>(x1 + col);
        Vector<float, V> w2;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const int bool_0 = v0.v[k];
          const float f32_0 = v1.v[k];
          const float f32_2 = bool_0 ? f32_0 : f32_1;
          w2.v[k] = f32_2;
        }
        store<V>(x2 + col, w2);
      }
}
extern "C" __global__ void __launch_bounds__(256) masks_0(__grid_constant__ const Operands<3> a) {
  const i64 rows = 1, n = a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((u8 *)a.p[0] + 0) && aligned<4>((float *)a.p[1] + 0) && aligned<4>((float *)a.p[2] + 0)) {
    for (i64 e = first; e < n / 4; e += step) masks_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) masks_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) masks_0_step<1>(a, 0, e);
  }
  (void)rows;
}

/* kernel 1: rows 1 x s0*s0 */
template <int V> FN void masks_1_step(const Operands<4> &a, i64 row, i64 col) {
  (void)row;
  const double f64_1 = 0.0;
      {
        u8 *x3 = (u8 *)a.p[0] + 0;
        u8 *x4 = (u8 *)a.p[1] + 0;
        double *x5 = (double *)a.p[2] + 0;
        double *x6 = (double *)a.p[3] + 0;
        const Vector<u8, V> v3 = load<V>(x3 + col);
        const Vector<u8, V> v4 = load<V>(x4 + col);
        const Vector<double, V> v5 = load<V>(x5 + col);
        Vector<double, V> w6;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const int bool_0 = v3.v[k];
          const int bool_1 = bool_0 ^ 1;
          const int bool_2 = v4.v[k];
          const int bool_3 = bool_2 & bool_1;
          const double f64_0 = v5.v[k];
          const double f64_2 = CHOOSE_f64(bool_3, f64_0, f64_1);
          w6.v[k] = f64_2;
        }
        store<V>(x6 + col, w6);
      }
}
extern "C" __global__ void __launch_bounds__(256) masks_1(__grid_constant__ const Operands<4> a) {
  const i64 rows = 1, n = a.s[0] * a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((u8 *)a.p[0] + 0) && aligned<4>((u8 *)a.p[1] + 0) && aligned<4>((double *)a.p[2] + 0) && aligned<4>((double *)a.p[3] + 0)) {
    for (i64 e = first; e < n / 4; e += step) masks_1_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) masks_1_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) masks_1_step<1>(a, 0, e);
  }
  (void)rows;
}

/* kernel 2: rows 1 x s0*s0*s0 */
template <int V> FN void masks_2_step(const Operands<3> &a, i64 row, i64 col) {
  (void)row;
  const long long i64_1 = (i64)0x0000000000000007ULL;
      {
        u8 *x7 = (u8 *)a.p[0] + 0;
        long long *x8 = (long long *)a.p[1] + 0;
        long long *x9 = (long long *)a.p[2] + 0;
        const Vector<u8, V> v7 = load<V>(x7 + col);
        const Vector<long long, V> v8 = load<V>(x8 + col);
        Vector<long long, V> w9;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const int bool_0 = v7.v[k];
          const long long i64_0 = v8.v[k];
          const long long i64_2 = CHOOSE_i64(bool_0, i64_0, i64_1);
          w9.v[k] = i64_2;
        }
        store<V>(x9 + col, w9);
      }
}
extern "C" __global__ void __launch_bounds__(256) masks_2(__grid_constant__ const Operands<3> a) {
  const i64 rows = 1, n = a.s[0] * a.s[0] * a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((u8 *)a.p[0] + 0) && aligned<4>((long long *)a.p[1] + 0) && aligned<4>((long long *)a.p[2] + 0)) {
    for (i64 e = first; e < n / 4; e += step) masks_2_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) masks_2_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) masks_2_step<1>(a, 0, e);
  }
  (void)rows;
}

/* kernel 3: rows 1 x s0*s0*s0*s0 */
template <int V> FN void masks_3_step(const Operands<2> &a, i64 row, i64 col) {
  (void)row;
      {
        u8 *x10 = (u8 *)a.p[0] + 0;
        float *x11 = (float *)a.p[1] + 0;
        const Vector<u8, V> v10 = load<V>(x10 + col);
        Vector<float, V> w11;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const int bool_0 = v10.v[k];
          const float f32_0 = (float)bool_0;
          w11.v[k] = f32_0;
        }
        store<V>(x11 + col, w11);
      }
}
extern "C" __global__ void __launch_bounds__(256) masks_3(__grid_constant__ const Operands<2> a) {
  const i64 rows = 1, n = a.s[0] * a.s[0] * a.s[0] * a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((u8 *)a.p[0] + 0) && aligned<4>((float *)a.p[1] + 0)) {
    for (i64 e = first; e < n / 4; e += step) masks_3_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) masks_3_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) masks_3_step<1>(a, 0, e);
  }
  (void)rows;
}
