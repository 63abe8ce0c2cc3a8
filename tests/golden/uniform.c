/* uniform:
%0 = input 0 : f32 (4, s0)
%1 = constant 0 : i64 ()
%2 = iota 1 along : i64 (1, s0)
%3 = add(%1, %2) : i64 (1, s0)
%4 = iota 0 along : i64 (4, 1)
%5 = extent : i64 ()
%6 = mul(%4, %5) : i64 (4, 1)
%7 = add(%3, %6) : i64 (4, s0)
%8 = constant 7 : i64 ()
%9 = philox(%7, %8) : i64 (4, s0)
%10 = shift_right_logical(%9) by 8 : i64 (4, s0)
%11 = cast(%10) : f32 (4, s0)
%12 = constant 5.96046448e-8 : f32 ()
%13 = mul(%11, %12) : f32 (4, s0)  -> output 0
behind prelude.c: */
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
  const long long v12 = (i64)0x00000000cd9e8d57ULL;
  const long long v13 = IMUL_i64(v11, v12);
  const long long v14 = (long long)((unsigned long long)v13 >> 32);
  const long long v15 = IMUL_i64(v8, v12);
  const long long v16 = v15 & v2;
  const long long v17 = v14 ^ v16;
  const long long v18 = v1 & v2;
  const long long v19 = (i64)0x000000009e3779b9ULL;
  const long long v20 = IADD_i64(v18, v19);
  const long long v21 = v20 & v2;
  const long long v22 = v17 ^ v21;
  const long long v23 = IMUL_i64(v22, v4);
  const long long v24 = (long long)((unsigned long long)v23 >> 32);
  const long long v25 = (long long)((unsigned long long)v15 >> 32);
  const long long v26 = (long long)((unsigned long long)v0 >> 32);
  const long long v27 = v25 ^ v26;
  const long long v28 = v27 ^ v18;
  const long long v29 = IMUL_i64(v28, v4);
  const long long v30 = v29 & v2;
  const long long v31 = v24 ^ v30;
  const long long v32 = (i64)0x00000000bb67ae85ULL;
  const long long v33 = IADD_i64(v10, v32);
  const long long v34 = v33 & v2;
  const long long v35 = IADD_i64(v34, v32);
  const long long v36 = v35 & v2;
  const long long v37 = v31 ^ v36;
  const long long v38 = IMUL_i64(v37, v12);
  const long long v39 = (long long)((unsigned long long)v38 >> 32);
  const long long v40 = (long long)((unsigned long long)v29 >> 32);
  const long long v41 = v5 & v2;
  const long long v42 = v40 ^ v41;
  const long long v43 = v42 ^ v34;
  const long long v44 = IMUL_i64(v43, v12);
  const long long v45 = v44 & v2;
  const long long v46 = v39 ^ v45;
  const long long v47 = IADD_i64(v21, v19);
  const long long v48 = v47 & v2;
  const long long v49 = IADD_i64(v48, v19);
  const long long v50 = v49 & v2;
  const long long v51 = v46 ^ v50;
  const long long v52 = IMUL_i64(v51, v4);
  const long long v53 = (long long)((unsigned long long)v52 >> 32);
  const long long v54 = (long long)((unsigned long long)v44 >> 32);
  const long long v55 = v13 & v2;
  const long long v56 = v54 ^ v55;
  const long long v57 = v56 ^ v48;
  const long long v58 = IMUL_i64(v57, v4);
  const long long v59 = v58 & v2;
  const long long v60 = v53 ^ v59;
  const long long v61 = IADD_i64(v36, v32);
  const long long v62 = v61 & v2;
  const long long v63 = IADD_i64(v62, v32);
  const long long v64 = v63 & v2;
  const long long v65 = v60 ^ v64;
  const long long v66 = IMUL_i64(v65, v12);
  const long long v67 = (long long)((unsigned long long)v66 >> 32);
  const long long v68 = (long long)((unsigned long long)v58 >> 32);
  const long long v69 = v23 & v2;
  const long long v70 = v68 ^ v69;
  const long long v71 = v70 ^ v62;
  const long long v72 = IMUL_i64(v71, v12);
  const long long v73 = v72 & v2;
  const long long v74 = v67 ^ v73;
  const long long v75 = IADD_i64(v50, v19);
  const long long v76 = v75 & v2;
  const long long v77 = IADD_i64(v76, v19);
  const long long v78 = v77 & v2;
  const long long v79 = v74 ^ v78;
  const long long v80 = IMUL_i64(v79, v4);
  const long long v81 = (long long)((unsigned long long)v80 >> 32);
  const long long v82 = (long long)((unsigned long long)v72 >> 32);
  const long long v83 = v38 & v2;
  const long long v84 = v82 ^ v83;
  const long long v85 = v84 ^ v76;
  const long long v86 = IMUL_i64(v85, v4);
  const long long v87 = v86 & v2;
  const long long v88 = v81 ^ v87;
  const long long v89 = IADD_i64(v64, v32);
  const long long v90 = v89 & v2;
  const long long v91 = IADD_i64(v90, v32);
  const long long v92 = v91 & v2;
  const long long v93 = v88 ^ v92;
  const long long v94 = IMUL_i64(v93, v12);
  const long long v95 = (long long)((unsigned long long)v94 >> 32);
  const long long v96 = (long long)((unsigned long long)v86 >> 32);
  const long long v97 = v52 & v2;
  const long long v98 = v96 ^ v97;
  const long long v99 = v98 ^ v90;
  const long long v100 = IMUL_i64(v99, v12);
  const long long v101 = v100 & v2;
  const long long v102 = v95 ^ v101;
  const long long v103 = IADD_i64(v78, v19);
  const long long v104 = v103 & v2;
  const long long v105 = IADD_i64(v104, v19);
  const long long v106 = v105 & v2;
  const long long v107 = v102 ^ v106;
  const long long v108 = IMUL_i64(v107, v4);
  const long long v109 = (long long)((unsigned long long)v108 >> 32);
  const long long v110 = (long long)((unsigned long long)v100 >> 32);
  const long long v111 = v66 & v2;
  const long long v112 = v110 ^ v111;
  const long long v113 = v112 ^ v104;
  const long long v114 = IMUL_i64(v113, v4);
  const long long v115 = v114 & v2;
  const long long v116 = v109 ^ v115;
  const long long v117 = IADD_i64(v92, v32);
  const long long v118 = v117 & v2;
  const long long v119 = IADD_i64(v118, v32);
  const long long v120 = v119 & v2;
  const long long v121 = v116 ^ v120;
  const long long v122 = IMUL_i64(v121, v12);
  const long long v123 = (long long)((unsigned long long)v122 >> 32);
  const long long v124 = (long long)((unsigned long long)v114 >> 32);
  const long long v125 = v80 & v2;
  const long long v126 = v124 ^ v125;
  const long long v127 = v126 ^ v118;
  const long long v128 = IMUL_i64(v127, v12);
  const long long v129 = v128 & v2;
  const long long v130 = v123 ^ v129;
  const long long v131 = IADD_i64(v106, v19);
  const long long v132 = v131 & v2;
  const long long v133 = IADD_i64(v132, v19);
  const long long v134 = v133 & v2;
  const long long v135 = v130 ^ v134;
  return v135;
}

/* kernel 0: rows 1 x s0 */
void uniform_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    const long long i64_0 = (i64)0x0000000000000000ULL;
    {
      long long *x1 = (long long *)p[0] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const long long i64_1 = (long long)(0 + i);
        const long long i64_2 = IADD_i64(i64_0, i64_1);
        x1[i] = i64_2;
      }
    }
  }
}

/* kernel 1: rows 1 x 4 */
void uniform_1(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 1; ++row) {
    const i64 n = 4;
    const long long i64_1 = s[0];
    {
      long long *x3 = (long long *)p[0] + 0;
      EACH for (i64 i = 0; i < n; ++i) {
        const long long i64_0 = (long long)(0 + i);
        const long long i64_2 = IMUL_i64(i64_0, i64_1);
        x3[i] = i64_2;
      }
    }
  }
}

/* kernel 2: rows 4 x s0 */
void uniform_2(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    long long *x5 = (long long *)p[1] + row * (1);
    const long long i64_1 = x5[0];
    const long long i64_3 = (i64)0x0000000000000007ULL;
    const float f32_1 = f32_bits((int)0x33800000u) /* 5.96046448e-8 */;
    {
      long long *x4 = (long long *)p[0] + 0;
      float *x6 = (float *)p[2] + row * (s[0]);
      EACH for (i64 i = r[2]; i < n; ++i) {
        const long long i64_0 = x4[i];
        const long long i64_2 = IADD_i64(i64_0, i64_1);
        const long long i64_4 = philox_i64(i64_2, i64_3);
        const long long i64_5 = (long long)((unsigned long long)i64_4 >> 8);
        const float f32_0 = (float)i64_5;
        const float f32_2 = f32_0 * f32_1;
        x6[i] = f32_2;
      }
    }
  }
}
