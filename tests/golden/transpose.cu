/* transpose:
graph 3
%0 = input 0 : f32 (20, 30)
%1 = input 1 : f32 (30, 20)
%2 = prims.permute(%0) axes 1, 0 : f32 (30, 20)
%3 = sub(%2, %1) : f32 (30, 20) -> output 0
behind prelude.cu: */

/* kernel 0: rows 30 x 20 */
template <int V> FN void transpose_0_step(const Operands<3> &a, i64 row, i64 col) {
  (void)row;
      {
        float *x0 = (float *)a.p[0] + row * (1);
        float *x1 = (float *)a.p[1] + row * (20);
        float *x2 = (float *)a.p[2] + row * (20);
        const Vector<float, V> v1 = load<V>(x1 + col);
        Vector<float, V> w2;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const float f32_0 = x0[i * (30)];
          const float f32_1 = v1.v[k];
          const float f32_2 = f32_0 - f32_1;
          w2.v[k] = f32_2;
        }
        store<V>(x2 + col, w2);
      }
}
extern "C" __global__ void __launch_bounds__(256) transpose_0(__grid_constant__ const Operands<3> a) {
  const i64 rows = 30, n = 20, first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (n % 4 == 0 && aligned<4>((float *)a.p[1] + 0) && aligned<4>((float *)a.p[2] + 0)) {
    for (i64 e = first; e < rows * (n / 4); e += step) {
      i64 row, col;
      split(e, n / 4, row, col);
      transpose_0_step<4>(a, row, col * 4);
    }
  } else {
    for (i64 e = first; e < rows * (n); e += step) {
      i64 row, col;
      split(e, n, row, col);
      transpose_0_step<1>(a, row, col);
    }
  }
}
