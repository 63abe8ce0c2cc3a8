/* scale_and_shift:
graph 3
%0 = input 0 : f32 (s0,)
%1 = input 1 : f32 ()
%2 = input 2 : f32 ()
%3 = mul(%0, %1) : f32 (s0,)
%4 = add(%3, %2) : f32 (s0,) -> output 0
behind prelude.cu: */

/* kernel 0: rows 1 x s0 */
template <int V> FN void scale_and_shift_0_step(const Operands<4> &a, i64 row, i64 col) {
  (void)row;
  float *x1 = (float *)operand(a, 1) + 0;
  float *x2 = (float *)operand(a, 2) + 0;
  const float f32_1 = x1[0];
  const float f32_3 = x2[0];
      {
        float *x0 = (float *)a.p[0] + 0;
        float *x3 = (float *)a.p[3] + 0;
        const Vector<float, V> v0 = load<V>(x0 + col);
        Vector<float, V> w3;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const float f32_0 = v0.v[k];
          const float f32_2 = f32_0 * f32_1;
          const float f32_4 = f32_2 + f32_3;
          w3.v[k] = f32_4;
        }
        store<V>(x3 + col, w3);
      }
}
extern "C" __global__ void __launch_bounds__(256) scale_and_shift_0(__grid_constant__ const Operands<4> a) {
  const i64 rows = 1, n = a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((float *)a.p[0] + 0) && aligned<4>((float *)a.p[3] + 0)) {
    for (i64 e = first; e < n / 4; e += step) scale_and_shift_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) scale_and_shift_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) scale_and_shift_0_step<1>(a, 0, e);
  }
  (void)rows;
}
