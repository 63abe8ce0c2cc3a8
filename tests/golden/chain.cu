/* chain:
graph 3
%0 = input 0 : f32 (s0,)
%1 = input 1 : f32 (s0,)
%2 = mul(%0, %1) : f32 (s0,)
%3 = constant 0.5 : f32 ()
%4 = add(%2, %3) : f32 (s0,)
%5 = abs(%4) : f32 (s0,)
%6 = mul(%5, %1) : f32 (s0,)
%7 = constant 1.5 : f32 ()
%8 = add(%6, %7) : f32 (s0,)
%9 = abs(%8) : f32 (s0,)
%10 = mul(%9, %1) : f32 (s0,)
%11 = constant 2.5 : f32 ()
%12 = add(%10, %11) : f32 (s0,)
%13 = abs(%12) : f32 (s0,)
%14 = mul(%13, %1) : f32 (s0,)
%15 = constant 3.5 : f32 ()
%16 = add(%14, %15) : f32 (s0,)
%17 = abs(%16) : f32 (s0,)
%18 = mul(%17, %1) : f32 (s0,)
%19 = constant 4.5 : f32 ()
%20 = add(%18, %19) : f32 (s0,)
%21 = abs(%20) : f32 (s0,) -> output 0
behind prelude.cu: */

/* kernel 0: rows 1 x s0 */
template <int V> FN void chain_0_step(const Operands<3> &a, i64 row, i64 col) {
  (void)row;
  const float f32_3 = f32_bits((int)0x3f000000u) /* 0.5 */;
  const float f32_7 = f32_bits((int)0x3fc00000u) /* 1.5 */;
  const float f32_11 = f32_bits((int)0x40200000u) /* 2.5 */;
  const float f32_15 = f32_bits((int)0x40600000u) /* 3.5 */;
  const float f32_19 = f32_bits((int)0x40900000u) /* 4.5 */;
      {
        float *x0 = (float *)a.p[0] + 0;
        float *x1 = (float *)a.p[1] + 0;
        float *x2 = (float *)a.p[2] + 0;
        const Vector<float, V> v0 = load<V>(x0 + col);
        const Vector<float, V> v1 = load<V>(x1 + col);
        Vector<float, V> w2;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const float f32_0 = v0.v[k];
          const float f32_1 = v1.v[k];
          const float f32_2 = f32_0 * f32_1;
          const float f32_4 = f32_2 + f32_3;
          const float f32_5 = abs_f32(f32_4);
          const float f32_6 = f32_5 * f32_1;
          const float f32_8 = f32_6 + f32_7;
          const float f32_9 = abs_f32(f32_8);
          const float f32_10 = f32_9 * f32_1;
          const float f32_12 = f32_10 + f32_11;
          const float f32_13 = abs_f32(f32_12);
          const float f32_14 = f32_13 * f32_1;
          const float f32_16 = f32_14 + f32_15;
          const float f32_17 = abs_f32(f32_16);
          const float f32_18 = f32_17 * f32_1;
          const float f32_20 = f32_18 + f32_19;
          const float f32_21 = abs_f32(f32_20);
          w2.v[k] = f32_21;
        }
        store<V>(x2 + col, w2);
      }
}
extern "C" __global__ void __launch_bounds__(256) chain_0(__grid_constant__ const Operands<3> a) {
  const i64 rows = 1, n = a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((float *)a.p[0] + 0) && aligned<4>((float *)a.p[1] + 0) && aligned<4>((float *)a.p[2] + 0)) {
    for (i64 e = first; e < n / 4; e += step) chain_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) chain_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) chain_0_step<1>(a, 0, e);
  }
  (void)rows;
}
