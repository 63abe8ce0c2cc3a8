/* silu:
graph 3
%0 = input 0 : f32 (1000,)
%1 = silu(%0) : f32 (1000,) -> output 0
behind prelude.cu: */
FN float exp_f32(float v0) {
  const float v1 = 89.0f;
  const float v2 = f32_bits((int)0xc3300f5cu) /* -176.059998 */;
  const float v4 = at_least_f32(v0, v2);
  const float v6 = at_most_f32(v4, v1);
  const float v7 = f32_bits((int)0x3fb8aa3bu) /* 1.44269502 */;
  const float v8 = f32_bits((int)0x4b400000u) /* 12582912 */;
  const float v9 = FMA_f32(v6, v7, v8);
  const float v10 = v9 - v8;
  const float v11 = f32_bits((int)0xb5bfbe8eu) /* -1.42860677e-6 */;
  const float v12 = f32_bits((int)0xbf317200u) /* -0.693145752 */;
  const float v13 = FMA_f32(v10, v12, v6);
  const float v14 = FMA_f32(v10, v11, v13);
  const float v15 = v14 * v14;
  const float v16 = f32_bits((int)0x3ab6aa0eu) /* 0.00139361783 */;
  const float v17 = f32_bits((int)0x3c09083du) /* 0.00836378057 */;
  const float v18 = FMA_f32(v14, v16, v17);
  const float v19 = f32_bits((int)0x3d2aaa72u) /* 0.0416664556 */;
  const float v20 = FMA_f32(v18, v14, v19);
  const float v21 = f32_bits((int)0x3e2aaa6cu) /* 0.166665733 */;
  const float v22 = FMA_f32(v20, v14, v21);
  const float v23 = f32_bits((int)0x3f000000u) /* 0.5 */;
  const float v24 = FMA_f32(v22, v14, v23);
  const float v25 = FMA_f32(v15, v24, v14);
  const int v26 = bits_f32(v9);
  const int v27 = (1262485504);
  const int v28 = ISUB_i32(v26, v27);
  const int v29 = v28 >> 1;
  const int v30 = (127);
  const int v31 = IADD_i32(v29, v30);
  const int v32 = (int)((unsigned int)v31 << 23);
  const float v33 = f32_bits(v32);
  const float v34 = FMA_f32(v25, v33, v33);
  const int v35 = ISUB_i32(v28, v29);
  const int v36 = IADD_i32(v35, v30);
  const int v37 = (int)((unsigned int)v36 << 23);
  const float v38 = f32_bits(v37);
  const float v39 = v34 * v38;
  return v39;
}

/* kernel 0: rows 1 x 1000 */
template <int V> FN void silu_0_step(const Operands<2> &a, i64 row, i64 col) {
  (void)row;
  const float f32_3 = 1.0f;
      {
        float *x0 = (float *)a.p[0] + 0;
        float *x1 = (float *)a.p[1] + 0;
        const Vector<float, V> v0 = load<V>(x0 + col);
        Vector<float, V> w1;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const float f32_0 = v0.v[k];
          const float f32_1 = -f32_0;
          const float f32_2 = exp_f32(f32_1);
          const float f32_4 = f32_3 + f32_2;
          const float f32_5 = f32_0 / f32_4;
          w1.v[k] = f32_5;
        }
        store<V>(x1 + col, w1);
      }
}
extern "C" __global__ void __launch_bounds__(256) silu_0(__grid_constant__ const Operands<2> a) {
  const i64 rows = 1, n = 1000, first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((float *)a.p[0] + 0) && aligned<4>((float *)a.p[1] + 0)) {
    for (i64 e = first; e < n / 4; e += step) silu_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) silu_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) silu_0_step<1>(a, 0, e);
  }
  (void)rows;
}
