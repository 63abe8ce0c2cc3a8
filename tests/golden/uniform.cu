/* uniform:
graph 3
%0 = input 0 : f32 (4, s0)
%1 = constant 0 : i64 ()
%2 = iota 1 : i64 (1, s0)
%3 = add(%1, %2) : i64 (1, s0)
%4 = iota 0 : i64 (4, 1)
%5 = extent s0 : i64 ()
%6 = mul(%4, %5) : i64 (4, 1)
%7 = add(%3, %6) : i64 (4, s0)
%8 = constant 7 : i64 ()
%9 = philox(%7, %8) : i64 (4, s0)
%10 = shift_right_logical(%9) by 40 : i64 (4, s0)
%11 = cast(%10) : f32 (4, s0)
%12 = constant 5.96046448e-8 : f32 ()
%13 = mul(%11, %12) : f32 (4, s0) -> output 0
behind prelude.cu: */
FN long long philox_i64(long long v0, long long v1) {
  const long long v2 = (i64)0x00000000ffffffffULL;
  const long long v3 = v0 & v2;
  const long long v4 = (i64)0x00000000d2511f53ULL;
  const long long v5 = IMUL_i64(v3, v4);
  const long long v6 = (long long)((unsigned long long)v5 >> 32);
  const long long v7 = (i64)0x0000000000000000ULL;
  const long long v8 = v0 & v7;
  const long long v9 = v6 ^ v8;
  const long long v10 = (long long)((unsigned long long)v1 >> 32);
  const long long v11 = v9 ^ v10;
  const long long v12 = v11 & v2;
  const long long v13 = (i64)0x00000000cd9e8d57ULL;
  const long long v14 = IMUL_i64(v12, v13);
  const long long v15 = (long long)((unsigned long long)v14 >> 32);
  const long long v16 = v8 & v2;
  const long long v17 = IMUL_i64(v16, v13);
  const long long v18 = v15 ^ v17;
  const long long v19 = (i64)0x000000009e3779b9ULL;
  const long long v20 = IADD_i64(v1, v19);
  const long long v21 = v18 ^ v20;
  const long long v22 = v21 & v2;
  const long long v23 = IMUL_i64(v22, v4);
  const long long v24 = (long long)((unsigned long long)v23 >> 32);
  const long long v25 = (long long)((unsigned long long)v17 >> 32);
  const long long v26 = (long long)((unsigned long long)v0 >> 32);
  const long long v27 = v25 ^ v26;
  const long long v28 = v27 ^ v1;
  const long long v29 = v28 & v2;
  const long long v30 = IMUL_i64(v29, v4);
  const long long v31 = v24 ^ v30;
  const long long v32 = (i64)0x00000000bb67ae85ULL;
  const long long v33 = IADD_i64(v10, v32);
  const long long v34 = IADD_i64(v33, v32);
  const long long v35 = v31 ^ v34;
  const long long v36 = v35 & v2;
  const long long v37 = IMUL_i64(v36, v13);
  const long long v38 = (long long)((unsigned long long)v37 >> 32);
  const long long v39 = (long long)((unsigned long long)v30 >> 32);
  const long long v40 = v39 ^ v5;
  const long long v41 = v40 ^ v33;
  const long long v42 = v41 & v2;
  const long long v43 = IMUL_i64(v42, v13);
  const long long v44 = v38 ^ v43;
  const long long v45 = IADD_i64(v20, v19);
  const long long v46 = IADD_i64(v45, v19);
  const long long v47 = v44 ^ v46;
  const long long v48 = v47 & v2;
  const long long v49 = IMUL_i64(v48, v4);
  const long long v50 = (long long)((unsigned long long)v49 >> 32);
  const long long v51 = (long long)((unsigned long long)v43 >> 32);
  const long long v52 = v51 ^ v14;
  const long long v53 = v52 ^ v45;
  const long long v54 = v53 & v2;
  const long long v55 = IMUL_i64(v54, v4);
  const long long v56 = v50 ^ v55;
  const long long v57 = IADD_i64(v34, v32);
  const long long v58 = IADD_i64(v57, v32);
  const long long v59 = v56 ^ v58;
  const long long v60 = v59 & v2;
  const long long v61 = IMUL_i64(v60, v13);
  const long long v62 = (long long)((unsigned long long)v61 >> 32);
  const long long v63 = (long long)((unsigned long long)v55 >> 32);
  const long long v64 = v63 ^ v23;
  const long long v65 = v64 ^ v57;
  const long long v66 = v65 & v2;
  const long long v67 = IMUL_i64(v66, v13);
  const long long v68 = v62 ^ v67;
  const long long v69 = IADD_i64(v46, v19);
  const long long v70 = IADD_i64(v69, v19);
  const long long v71 = v68 ^ v70;
  const long long v72 = v71 & v2;
  const long long v73 = IMUL_i64(v72, v4);
  const long long v74 = (long long)((unsigned long long)v73 >> 32);
  const long long v75 = (long long)((unsigned long long)v67 >> 32);
  const long long v76 = v75 ^ v37;
  const long long v77 = v76 ^ v69;
  const long long v78 = v77 & v2;
  const long long v79 = IMUL_i64(v78, v4);
  const long long v80 = v74 ^ v79;
  const long long v81 = IADD_i64(v58, v32);
  const long long v82 = IADD_i64(v81, v32);
  const long long v83 = v80 ^ v82;
  const long long v84 = v83 & v2;
  const long long v85 = IMUL_i64(v84, v13);
  const long long v86 = (long long)((unsigned long long)v85 >> 32);
  const long long v87 = (long long)((unsigned long long)v79 >> 32);
  const long long v88 = v87 ^ v49;
  const long long v89 = v88 ^ v81;
  const long long v90 = v89 & v2;
  const long long v91 = IMUL_i64(v90, v13);
  const long long v92 = v86 ^ v91;
  const long long v93 = IADD_i64(v70, v19);
  const long long v94 = IADD_i64(v93, v19);
  const long long v95 = v92 ^ v94;
  const long long v96 = v95 & v2;
  const long long v97 = IMUL_i64(v96, v4);
  const long long v98 = (long long)((unsigned long long)v97 >> 32);
  const long long v99 = (long long)((unsigned long long)v91 >> 32);
  const long long v100 = v99 ^ v61;
  const long long v101 = v100 ^ v93;
  const long long v102 = v101 & v2;
  const long long v103 = IMUL_i64(v102, v4);
  const long long v104 = v98 ^ v103;
  const long long v105 = IADD_i64(v82, v32);
  const long long v106 = IADD_i64(v105, v32);
  const long long v107 = v104 ^ v106;
  const long long v108 = v107 & v2;
  const long long v109 = IMUL_i64(v108, v13);
  const long long v110 = (long long)((unsigned long long)v109 >> 32);
  const long long v111 = (long long)((unsigned long long)v103 >> 32);
  const long long v112 = v111 ^ v73;
  const long long v113 = v112 ^ v105;
  const long long v114 = v113 & v2;
  const long long v115 = IMUL_i64(v114, v13);
  const long long v116 = v110 ^ v115;
  const long long v117 = IADD_i64(v94, v19);
  const long long v118 = IADD_i64(v117, v19);
  const long long v119 = v116 ^ v118;
  const long long v120 = (long long)((unsigned long long)v119 << 32);
  const long long v121 = v109 & v2;
  const long long v122 = v120 | v121;
  return v122;
}

/* kernel 0: rows 1 x s0 */
template <int V> FN void uniform_0_step(const Operands<1> &a, i64 row, i64 col) {
  (void)row;
  const long long i64_0 = (i64)0x0000000000000000ULL;
      {
        long long *x1 = (long long *)a.p[0] + 0;
        Vector<long long, V> w1;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const long long i64_1 = (long long)(0 + i);
          const long long i64_2 = IADD_i64(i64_0, i64_1);
          w1.v[k] = i64_2;
        }
        store<V>(x1 + col, w1);
      }
}
extern "C" __global__ void __launch_bounds__(256) uniform_0(__grid_constant__ const Operands<1> a) {
  const i64 rows = 1, n = a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((long long *)a.p[0] + 0)) {
    for (i64 e = first; e < n / 4; e += step) uniform_0_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) uniform_0_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) uniform_0_step<1>(a, 0, e);
  }
  (void)rows;
}

/* kernel 1: rows 1 x 4 */
template <int V> FN void uniform_1_step(const Operands<1> &a, i64 row, i64 col) {
  (void)row;
  const long long i64_1 = a.s[0];
      {
        long long *x3 = (long long *)a.p[0] + 0;
        Vector<long long, V> w3;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const long long i64_0 = (long long)(0 + i);
          const long long i64_2 = IMUL_i64(i64_0, i64_1);
          w3.v[k] = i64_2;
        }
        store<V>(x3 + col, w3);
      }
}
extern "C" __global__ void __launch_bounds__(256) uniform_1(__grid_constant__ const Operands<1> a) {
  const i64 rows = 1, n = 4, first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (aligned<4>((long long *)a.p[0] + 0)) {
    for (i64 e = first; e < n / 4; e += step) uniform_1_step<4>(a, 0, e * 4);
    for (i64 e = n / 4 * 4 + first; e < n; e += step) uniform_1_step<1>(a, 0, e);
  } else {
    for (i64 e = first; e < n; e += step) uniform_1_step<1>(a, 0, e);
  }
  (void)rows;
}

/* kernel 2: rows 4 x s0 */
template <int V> FN void uniform_2_step(const Operands<3> &a, i64 row, i64 col) {
  (void)row;
  long long *x5 = (long long *)a.p[1] + row * (1);
  const long long i64_1 = x5[0];
  const long long i64_3 = (i64)0x0000000000000007ULL;
  const float f32_1 = f32_bits((int)0x33800000u) /* 5.96046448e-8 */;
      {
        long long *x4 = (long long *)a.p[0] + 0;
        float *x6 = (float *)a.p[2] + row * (a.s[0]);
        const Vector<long long, V> v4 = load<V>(x4 + col);
        Vector<float, V> w6;
        #pragma unroll
        for (int k = 0; k < V; ++k) {
          const i64 i = col + k;
          (void)i;
          const long long i64_0 = v4.v[k];
          const long long i64_2 = IADD_i64(i64_0, i64_1);
          const long long i64_4 = philox_i64(i64_2, i64_3);
          const long long i64_5 = (long long)((unsigned long long)i64_4 >> 40);
          const float f32_0 = (float)i64_5;
          const float f32_2 = f32_0 * f32_1;
          w6.v[k] = f32_2;
        }
        store<V>(x6 + col, w6);
      }
}
extern "C" __global__ void __launch_bounds__(256) uniform_2(__grid_constant__ const Operands<3> a) {
  const i64 rows = 4, n = a.s[0], first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;
  if (n % 4 == 0 && aligned<4>((long long *)a.p[0] + 0) && aligned<4>((float *)a.p[2] + 0) && (a.s[0]) % 4 == 0) {
    for (i64 e = first; e < rows * (n / 4); e += step) {
      i64 row, col;
      split(e, n / 4, row, col);
      uniform_2_step<4>(a, row, col * 4);
    }
  } else {
    for (i64 e = first; e < rows * (n); e += step) {
      i64 row, col;
      split(e, n, row, col);
      uniform_2_step<1>(a, row, col);
    }
  }
}
