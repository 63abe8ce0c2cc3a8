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
behind prelude.c: */

/* kernel 0: rows 1 x s0 */
void chain_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    const float f32_3 = f32_bits((int)0x3f000000u) /* 0.5 */;
    const float f32_7 = f32_bits((int)0x3fc00000u) /* 1.5 */;
    const float f32_11 = f32_bits((int)0x40200000u) /* 2.5 */;
    const float f32_15 = f32_bits((int)0x40600000u) /* 3.5 */;
    const float f32_19 = f32_bits((int)0x40900000u) /* 4.5 */;
    {
      float *x0 = (float *)p[0] + 0;
      float *x1 = (float *)p[1] + 0;
      float *x2 = (float *)p[2] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const float f32_0 = x0[i];
        const float f32_1 = x1[i];
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
        x2[i] = f32_21;
      }
    }
  }
}
