/* cross_entropy_gradient:
graph 3
%0 = input 0 : f32 (8, 10)
%1 = input 1 : i64 (8,)
%2 = prims.reshape(%1) : i64 (8, 1)
%3 = constant -100 : i64 ()
%4 = ne(%2, %3) : bool (8, 1)
%5 = cast(%4) : f32 (8, 1)
%6 = prims.reshape(%5) : f32 (8,)
%7 = prims.sum(%6) axes 0 : f32 (1,)
%8 = prims.reshape(%7) : f32 ()
%9 = constant 0 : f32 ()
%10 = eq(%8, %9) : bool ()
%11 = constant nan bits 0x7fc00000 : f32 ()
%12 = prims.amax(%0) axes 1 : f32 (8, 1)
%13 = detach(%12) : f32 (8, 1)
%14 = sub(%0, %13) : f32 (8, 10)
%15 = exp(%14) : f32 (8, 10)
%16 = prims.sum(%15) axes 1 : f32 (8, 1)
%17 = log(%16) : f32 (8, 1)
%18 = iota 1 : i64 (1, 10)
%19 = eq(%18, %2) : bool (8, 10)
%20 = where(%19, %14, %9) : f32 (8, 10)
%21 = prims.sum(%20) axes 1 : f32 (8, 1)
%22 = sub(%17, %21) : f32 (8, 1)
%23 = where(%4, %22, %9) : f32 (8, 1)
%24 = prims.reshape(%23) : f32 (8,)
%25 = prims.sum(%24) axes 0 : f32 (1,)
%26 = prims.reshape(%25) : f32 ()
%27 = div(%26, %8) : f32 ()
%28 = where(%10, %11, %27) : f32 () -> output 0
%29 = constant 1 : f32 ()
%30 = where(%10, %9, %29) : f32 ()
%31 = div(%30, %8) : f32 ()
%32 = where(%4, %31, %9) : f32 (8, 1)
%33 = neg(%32) : f32 (8, 1)
%34 = where(%19, %33, %9) : f32 (8, 10)
%35 = div(%32, %16) : f32 (8, 1)
%36 = mul(%35, %15) : f32 (8, 10)
%37 = add(%34, %36) : f32 (8, 10) -> output 1
behind prelude.cu: */
TREE(float, add_f32)
TREE(float, max_f32)
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
FN float log_f32(float v0) {
  const float v1 = 0.0f;
  const int v2 = v0 < v1;
  const float v3 = f32_bits((int)0x7fc00000u);
  const int v4 = v0 == v1;
  const float v5 = f32_bits((int)0xff800000u);
  const float v6 = f32_bits((int)0x7f800000u);
  const int v7 = v0 < v6;
  const float v8 = f32_bits((int)0x00800000u) /* 1.17549435e-38 */;
  const int v9 = v0 < v8;
  const float v10 = f32_bits((int)0x4b000000u) /* 8388608 */;
  const float v11 = v0 * v10;
  const float v12 = v9 ? v11 : v0;
  const int v13 = bits_f32(v12);
  const int v14 = (1060439283);
  const int v15 = ISUB_i32(v13, v14);
  const int v16 = v15 >> 23;
  const float v17 = (float)v16;
  const float v18 = 23.0f;
  const float v19 = v17 - v18;
  const float v20 = v9 ? v19 : v17;
  const float v21 = f32_bits((int)0x3f317200u) /* 0.693145752 */;
  const int v22 = (8388607);
  const int v23 = v15 & v22;
  const int v24 = IADD_i32(v23, v14);
  const float v25 = f32_bits(v24);
  const float v26 = 1.0f;
  const float v27 = v25 - v26;
  const float v28 = f32_bits((int)0x35bfbe8eu) /* 1.42860677e-6 */;
  const float v29 = f32_bits((int)0x3d965a07u) /* 0.073413901 */;
  const float v30 = f32_bits((int)0xbdeed967u) /* -0.1166256 */;
  const float v31 = FMA_f32(v27, v29, v30);
  const float v32 = f32_bits((int)0x3dee3af4u) /* 0.116323382 */;
  const float v33 = FMA_f32(v31, v27, v32);
  const float v34 = f32_bits((int)0xbdfddf97u) /* -0.12396162 */;
  const float v35 = FMA_f32(v33, v27, v34);
  const float v36 = f32_bits((int)0x3e11ef20u) /* 0.142513752 */;
  const float v37 = FMA_f32(v35, v27, v36);
  const float v38 = f32_bits((int)0xbe2ab144u) /* -0.16669184 */;
  const float v39 = FMA_f32(v37, v27, v38);
  const float v40 = f32_bits((int)0x3e4cce95u) /* 0.200006798 */;
  const float v41 = FMA_f32(v39, v27, v40);
  const float v42 = f32_bits((int)0xbe7ffff3u) /* -0.249999806 */;
  const float v43 = FMA_f32(v41, v27, v42);
  const float v44 = f32_bits((int)0x3eaaaaaau) /* 0.333333313 */;
  const float v45 = FMA_f32(v43, v27, v44);
  const float v46 = v45 * v27;
  const float v47 = v27 * v27;
  const float v48 = f32_bits((int)0xbf000000u) /* -0.5 */;
  const float v49 = v48 * v47;
  const float v50 = FMA_f32(v46, v47, v49);
  const float v51 = FMA_f32(v20, v28, v50);
  const float v52 = v27 + v51;
  const float v53 = FMA_f32(v20, v21, v52);
  const float v54 = v7 ? v53 : v0;
  const float v55 = v4 ? v5 : v54;
  const float v56 = v2 ? v3 : v55;
  return v56;
}

/* kernel 0: rows 1 x 8 */
template <int V> FN void cross_entropy_gradient_0_step(const Operands<2> &a, i64 row, i64 col) {
  (void)row;
  const long long i64_1 = (i64)0xffffffffffffff9cULL;
      {
        long long *x0 = (long long *)a.p[0] + 0;
        float *x1 = (float *)a.p[1] + 0;
        const Vector<long long, V> v0 = load<V>(x0 + col);
        Vector<float, V> w1;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const long long i64_0 = v0.v[k];
          const int bool_0 = i64_0 != i64_1;
          const float f32_0 = (float)bool_0;
          w1.v[k] = f32_0;
        }
        store<V>(x1 + col, w1);
      }
}
extern "C" __global__ void __launch_bounds__(256) cross_entropy_gradient_0(__grid_constant__ const Operands<2> a) {
  const i64 rows = 1, n = 8, first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((long long *)a.p[0] + 0) && aligned<4>((float *)a.p[1] + 0)) {
    for (i64 e = first; e < n / 4; e += step) cross_entropy_gradient_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) cross_entropy_gradient_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) cross_entropy_gradient_0_step<1>(a, 0, e);
  }
  (void)rows;
}

/* kernel 1: rows 1 x 8 */
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void cross_entropy_gradient_1_row(const Operands<3> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  const float f32_2 = 0.0f;
  const float f32_3 = 1.0f;
  float f32_1 = 0;
  float *part_f32_1 = (float *)(parts + blocks * 0);
  if (Mode != 2)
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_1[2] = {0, 0};
      float *x2 = (float *)a.p[0] + 0;
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v2 = load_pair<V>(x2, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_0 = v2.v[k];
          lf32_1[k] = add_f32(lf32_1[k], f32_0);
        }
      }
      f32_1 = fold_add_f32<V>(lf32_1);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_1[b] = f32_1;
  }
  if (Mode == 1) return;
  if (blocks > 1) f32_1 = combine_add_f32(part_f32_1, blocks, t);
  if (Mode == 2 && blocks == 1) f32_1 = part_f32_1[0];
  float *x3 = (float *)a.p[1] + 0;
  float *x4 = (float *)a.p[2] + 0;
  sync(t);
  if (t.thread == 0)
  x3[0] = f32_1;
  const int bool_0 = f32_1 == f32_2;
  const float f32_4 = bool_0 ? f32_2 : f32_3;
  const float f32_5 = f32_4 / f32_1;
  sync(t);
  if (t.thread == 0)
  x4[0] = f32_5;
  sync(t);
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) cross_entropy_gradient_1(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) cross_entropy_gradient_1_row<2, 0>(a, t, row, 0, t.parts);
    else cross_entropy_gradient_1_row<1, 0>(a, t, row, 0, t.parts);
  }
}
extern "C" __global__ void __launch_bounds__(128) cross_entropy_gradient_1_parts(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0);
  for (i64 unit = t.first; unit < rows * blocks; unit += t.step) {
    if (wide) cross_entropy_gradient_1_row<2, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
    else cross_entropy_gradient_1_row<1, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
  }
}
extern "C" __global__ void __launch_bounds__(512) cross_entropy_gradient_1_finish(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    cross_entropy_gradient_1_row<1, 2>(a, t, row, 0, a.work + row * a.work_bytes);
  }
}

/* kernel 2: rows 8 x 10 */
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void cross_entropy_gradient_2_row(const Operands<6> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 10, blocks = (n + 4095) / 4096;
  (void)blocks;
  float *x8 = (float *)(t.rows + 0);
  long long *x6 = (long long *)a.p[1] + row * (1);
  float *x7 = (float *)a.p[2] + 0;
  const long long i64_0 = x6[0];
  const long long i64_1 = (i64)0xffffffffffffff9cULL;
  const int bool_0 = i64_0 != i64_1;
  const float f32_2 = x7[0];
  const float f32_3 = 0.0f;
  float f32_1 = f32_bits((int)0xff800000u);
  float *part_f32_1 = (float *)(parts + blocks * 0);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_1[2] = {f32_bits((int)0xff800000u), f32_bits((int)0xff800000u)};
      float *x5 = (float *)a.p[0] + row * (10);
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v5 = load_pair<V>(x5, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_0 = v5.v[k];
          lf32_1[k] = max_f32(lf32_1[k], f32_0);
        }
      }
      f32_1 = fold_max_f32<V>(lf32_1);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_1[b] = f32_1;
  }
  if (blocks > 1) f32_1 = combine_max_f32(part_f32_1, blocks, t);
  const float f32_4 = bool_0 ? f32_2 : f32_3;
  const float f32_5 = neg_f32(f32_4);
  float f32_9 = 0;
  float *part_f32_9 = (float *)(parts + blocks * 8);
  float f32_11 = 0;
  float *part_f32_11 = (float *)(parts + blocks * 16);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_9[2] = {0, 0};
      float lf32_11[2] = {0, 0};
      float *x5 = (float *)a.p[0] + row * (10);
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v5 = load_pair<V>(x5, g, end);
        Vector<float, 2> w8;
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_6 = v5.v[k];
          const float f32_7 = f32_6 - f32_1;
          const float f32_8 = exp_f32(f32_7);
          w8.v[k] = f32_8;
          lf32_9[k] = add_f32(lf32_9[k], f32_8);
          const long long i64_2 = (long long)(0 + i);
          const int bool_1 = i64_2 == i64_0;
          const float f32_10 = bool_1 ? f32_7 : f32_3;
          lf32_11[k] = add_f32(lf32_11[k], f32_10);
        }
        store_pair<V>(x8, g, end, w8);
      }
      f32_9 = fold_add_f32<V>(lf32_9);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_9[b] = f32_9;
      f32_11 = fold_add_f32<V>(lf32_11);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_11[b] = f32_11;
  }
  if (blocks > 1) f32_9 = combine_add_f32(part_f32_9, blocks, t);
  if (blocks > 1) f32_11 = combine_add_f32(part_f32_11, blocks, t);
  float *x10 = (float *)a.p[4] + row * (1);
  const float f32_12 = log_f32(f32_9);
  const float f32_13 = f32_12 - f32_11;
  const float f32_14 = bool_0 ? f32_13 : f32_3;
  sync(t);
  if (t.thread == 0)
  x10[0] = f32_14;
  const float f32_15 = f32_4 / f32_9;
  sync(t);
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float *x11 = (float *)a.p[5] + row * (10);
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v8 = load_pair<V>(x8, g, end);
        Vector<float, 2> w11;
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const long long i64_3 = (long long)(0 + i);
          const int bool_2 = i64_3 == i64_0;
          const float f32_16 = bool_2 ? f32_5 : f32_3;
          const float f32_17 = v8.v[k];
          const float f32_18 = f32_15 * f32_17;
          const float f32_19 = f32_16 + f32_18;
          w11.v[k] = f32_19;
        }
        store_pair<V>(x11, g, end, w11);
      }
  }
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) cross_entropy_gradient_2(__grid_constant__ const Operands<6> a) {
  const Team t = team_of(a);
  const i64 rows = 8, n = 10, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0) && aligned<2>((float *)a.p[5] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) cross_entropy_gradient_2_row<2, 0>(a, t, row, 0, t.parts);
    else cross_entropy_gradient_2_row<1, 0>(a, t, row, 0, t.parts);
  }
}

/* kernel 3: rows 1 x 8 */
/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */
template <int V, int Mode> FN void cross_entropy_gradient_3_row(const Operands<3> &a, const Team &t, i64 row, i64 block, char *parts) {
  (void)row; (void)block; (void)parts;
  const i64 n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  float *x13 = (float *)a.p[1] + 0;
  const float f32_2 = x13[0];
  const float f32_4 = 0.0f;
  const int bool_0 = f32_2 == f32_4;
  const float f32_5 = f32_bits((int)0x7fc00000u);
  float f32_1 = 0;
  float *part_f32_1 = (float *)(parts + blocks * 0);
  if (Mode != 2)
  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {
      const i64 end = least(n, (b + 1) * 4096);
      float lf32_1[2] = {0, 0};
      float *x12 = (float *)a.p[0] + 0;
      #pragma unroll 4
      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {
        const Vector<float, 2> v12 = load_pair<V>(x12, g, end);
        #pragma unroll
        for (int k = 0; k < 2; ++k) {
          const i64 i = V == 2 ? g + k : g + 32 * k;
          (void)i;
          if (V == 1 && i >= end) break;
          const float f32_0 = v12.v[k];
          lf32_1[k] = add_f32(lf32_1[k], f32_0);
        }
      }
      f32_1 = fold_add_f32<V>(lf32_1);
      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_f32_1[b] = f32_1;
  }
  if (Mode == 1) return;
  if (blocks > 1) f32_1 = combine_add_f32(part_f32_1, blocks, t);
  if (Mode == 2 && blocks == 1) f32_1 = part_f32_1[0];
  float *x14 = (float *)a.p[2] + 0;
  const float f32_3 = f32_1 / f32_2;
  const float f32_6 = bool_0 ? f32_5 : f32_3;
  sync(t);
  if (t.thread == 0)
  x14[0] = f32_6;
  sync(t);
  sync(t);
}
extern "C" __global__ void __launch_bounds__(512) cross_entropy_gradient_3(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    if (wide) cross_entropy_gradient_3_row<2, 0>(a, t, row, 0, t.parts);
    else cross_entropy_gradient_3_row<1, 0>(a, t, row, 0, t.parts);
  }
}
extern "C" __global__ void __launch_bounds__(128) cross_entropy_gradient_3_parts(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0);
  for (i64 unit = t.first; unit < rows * blocks; unit += t.step) {
    if (wide) cross_entropy_gradient_3_row<2, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
    else cross_entropy_gradient_3_row<1, 1>(a, t, unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes);
  }
}
extern "C" __global__ void __launch_bounds__(512) cross_entropy_gradient_3_finish(__grid_constant__ const Operands<3> a) {
  const Team t = team_of(a);
  const i64 rows = 1, n = 8, blocks = (n + 4095) / 4096;
  (void)blocks;
  const bool wide = n % 2 == 0 && aligned<2>((float *)a.p[0] + 0);
  for (i64 row = t.first; row < rows; row += t.step) {
    cross_entropy_gradient_3_row<1, 2>(a, t, row, 0, a.work + row * a.work_bytes);
  }
}
