/* slice:
graph 3
%0 = input 0 : f32 (20, 30)
%1 = prims.slice(%0) axis 0 from 3 step 1 : f32 (12, 30)
%2 = prims.slice(%1) axis 1 from 28 step -2 : f32 (12, 10)
%3 = constant 2 : f32 ()
%4 = mul(%2, %3) : f32 (12, 10) -> output 0
behind prelude.cu: */

/* kernel 0: rows 12 x 10 */
template <int V> FN void slice_0_step(const Operands<2> &a, i64 row, i64 col) {
  (void)row;
  const float f32_1 = 2.0f;
      {
        float *x0 = (float *)a.p[0] + 118 + row * (30);
        float *x1 = (float *)a.p[1] + row * (10);
        Vector<float, V> w1;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const float f32_0 = x0[i * BACK(-2)];
          const float f32_2 = f32_0 * f32_1;
          w1.v[k] = f32_2;
        }
        store<V>(x1 + col, w1);
      }
}
extern "C" __global__ void __launch_bounds__(256) slice_0(__grid_constant__ const Operands<2> a) {
  const i64 rows = 12, n = 10, first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (n % 4 == 0 && aligned<4>((float *)a.p[1] + 0) && (10) % 4 == 0) {
    for (i64 e = first; e < rows * (n / 4); e += step) {
      i64 row, col;
      split(e, n / 4, row, col);
      slice_0_step<4>(a, row, col * 4);
    }
  } else {
    for (i64 e = first; e < rows * (n); e += step) {
      i64 row, col;
      split(e, n, row, col);
      slice_0_step<1>(a, row, col);
    }
  }
}
