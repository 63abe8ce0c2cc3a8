/* dense:
graph 3
%0 = input 0 : f32 (s0, 64)
%1 = input 1 : f32 (64, 16)
%2 = input 2 : f32 (16,)
%3 = prims.matmul(%0, %1) : f32 (s0, 16)
%4 = add(%3, %2) : f32 (s0, 16)
%5 = relu(%4) : f32 (s0, 16) -> output 0
behind prelude.cu: */

FN float multiply_add(float a, float b, float c) { return FMA_f32(a, b, c); }
FN double multiply_add(double a, double b, double c) { return FMA_f64(a, b, c); }
FN int multiply_add(int a, int b, int c) { return IADD_i32(IMUL_i32(a, b), c); }
FN i64 multiply_add(i64 a, i64 b, i64 c) { return IADD_i64(IMUL_i64(a, b), c); }
template <class T, int S, class B, class Epilogue>
FN void matmul_tile(const T *a, i64 a_row, i64 a_inner, const B &b, bool down, i64 rows, i64 cols,
                    i64 inner, i64 row0, i64 col0, const Epilogue &epilogue) {
  enum { side = 16 * S, pitch = side + 1, depth = 16 };   /* pitch: no two of 16 neighbours in one bank */
  T *as = (T *)shared_memory, *bs = as + depth * pitch;   /* [k][row], [k][column] */
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  T sum[S][S];
  #pragma unroll
  for (int y = 0; y < S; ++y)
    #pragma unroll
    for (int x = 0; x < S; ++x) sum[y][x] = 0;
  for (i64 k0 = 0; k0 < inner; k0 += depth) {
    const int some = (int)least(depth, inner - k0);
    for (int e = threadIdx.x; e < depth * side; e += 256) {   /* neighbours in memory to neighbouring threads */
      const int k = a_inner == 1 ? e % depth : e / side, i = a_inner == 1 ? e / depth : e % side;
      as[k * pitch + i] = k < some && row0 + i < rows ? a[(row0 + i) * a_row + (k0 + k) * a_inner] : T(0);
    }
    for (int e = threadIdx.x; e < depth * side; e += 256) {
      const int k = down ? e % depth : e / side, j = down ? e / depth : e % side;
      bs[k * pitch + j] = k < some && col0 + j < cols ? b(k0 + k, col0 + j) : T(0);
    }
    __syncthreads();
    for (int k = 0; k < some; ++k) {
      T ak[S], bk[S];
      #pragma unroll
      for (int y = 0; y < S; ++y) ak[y] = as[k * pitch + ty + 16 * y];
      #pragma unroll
      for (int x = 0; x < S; ++x) bk[x] = bs[k * pitch + tx + 16 * x];
      #pragma unroll
      for (int y = 0; y < S; ++y)
        #pragma unroll
        for (int x = 0; x < S; ++x) sum[y][x] = multiply_add(ak[y], bk[x], sum[y][x]);
    }
    __syncthreads();
  }
  #pragma unroll
  for (int y = 0; y < S; ++y)
    #pragma unroll
    for (int x = 0; x < S; ++x) {
      const i64 i = row0 + ty + 16 * y, j = col0 + tx + 16 * x;
      if (i < rows && j < cols) epilogue(i, j, sum[y][x]);
    }
}

/* kernel 0: matmul s0 x 16 over 64 */
FN void dense_0_element(const Operands<4> &a, i64 row, i64 i, float sum) {
  (void)row; (void)i;
  const float f32_3 = 0.0f;
  float *x0 = (float *)a.p[0] + 0;
  float *x1 = (float *)a.p[1] + row * (16);
  const float f32_0 = sum;
  const float f32_1 = x0[i];
  const float f32_2 = f32_0 + f32_1;
  const int bool_0 = f32_2 <= f32_3;
  const float f32_4 = bool_0 ? f32_3 : f32_2;
  x1[i] = f32_4;
}
extern "C" __global__ void __launch_bounds__(256) dense_0(__grid_constant__ const Operands<4> a) {
  const i64 rows = a.s[0], cols = 16, inner = 64,
            down = (rows + 63) / 64, across = (cols + 63) / 64;
  for (i64 unit = blockIdx.x; unit < (1) * down * across; unit += gridDim.x) {
    const i64 q = unit / across / down;
    const float *b = (const float *)a.p[3] + 0;
    matmul_tile<float, 4>(
        (const float *)a.p[2] + 0, 64, 1,
        [&](i64 k, i64 j) { return b[k * (16) + j * (1)]; }, (16) == 1,
        rows, cols, inner, unit / across % down * 64, unit % across * 64,
        [&](i64 i, i64 j, float sum) { dense_0_element(a, q * rows + i, j, sum); });
  }
}
extern "C" __global__ void __launch_bounds__(256) dense_0_large(__grid_constant__ const Operands<4> a) {
  const i64 rows = a.s[0], cols = 16, inner = 64,
            down = (rows + 127) / 128, across = (cols + 127) / 128;
  for (i64 unit = blockIdx.x; unit < (1) * down * across; unit += gridDim.x) {
    const i64 q = unit / across / down;
    const float *b = (const float *)a.p[3] + 0;
    matmul_tile<float, 8>(
        (const float *)a.p[2] + 0, 64, 1,
        [&](i64 k, i64 j) { return b[k * (16) + j * (1)]; }, (16) == 1,
        rows, cols, inner, unit / across % down * 128, unit % across * 128,
        [&](i64 i, i64 j, float sum) { dense_0_element(a, q * rows + i, j, sum); });
  }
}
extern "C" __global__ void __launch_bounds__(256) dense_0_epilogue(__grid_constant__ const Operands<4> a) {
  const i64 cols = 16, all = (i64)(1) * (a.s[0]) * cols;
  for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < all; e += (i64)gridDim.x * blockDim.x) {
    const i64 row = all >> 32 ? e / cols : (unsigned)e / (unsigned)cols;
    dense_0_element(a, row, e - row * cols, ((const float *)a.work)[e]);
  }
}
