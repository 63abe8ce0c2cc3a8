/* integers:
graph 3
%0 = input 0 : i64 (s0,)
%1 = input 1 : i64 (s0,)
%2 = constant 3 : i64 ()
%3 = mul(%0, %2) : i64 (s0,)
%4 = add(%3, %1) : i64 (s0,)
%5 = shift_right(%1) by 2 : i64 (s0,)
%6 = bit_xor(%4, %5) : i64 (s0,)
%7 = neg(%0) : i64 (s0,)
%8 = maximum(%6, %7) : i64 (s0,)
%9 = constant 255 : i64 ()
%10 = bit_and(%8, %9) : i64 (s0,) -> output 0
behind prelude.c: */

/* kernel 0: rows 1 x s0 */
void integers_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = r[0]; row < r[1]; ++row) {
    const i64 n = r[3];
    const long long i64_1 = (i64)0x0000000000000003ULL;
    const long long i64_9 = (i64)0x00000000000000ffULL;
    {
      long long *x0 = (long long *)p[0] + 0;
      long long *x1 = (long long *)p[1] + 0;
      long long *x2 = (long long *)p[2] + 0;
      EACH for (i64 i = r[2]; i < n; ++i) {
        const long long i64_0 = x0[i];
        const long long i64_2 = IMUL_i64(i64_0, i64_1);
        const long long i64_3 = x1[i];
        const long long i64_4 = IADD_i64(i64_2, i64_3);
        const long long i64_5 = i64_3 >> 2;
        const long long i64_6 = i64_4 ^ i64_5;
        const long long i64_7 = ISUB_i64(0, i64_0);
        const long long i64_8 = max_i64(i64_6, i64_7);
        const long long i64_10 = i64_8 & i64_9;
        x2[i] = i64_10;
      }
    }
  }
}
