/* column_sums:
graph 3
%0 = input 0 : f64 (300, 20)
%1 = prims.sum(%0) axes 0 : f64 (1, 20)
%2 = prims.reshape(%1) : f64 (20,) -> output 0
behind prelude.c: */

/* kernel 0: cols 1 x 20 over 300 */
void column_sums_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 1; ++row)
  for (i64 col = 0; col < 20; col += 512) {
    const i64 n = 20 - col < 512 ? 20 - col : 512, inner = 300;
    int used = 0;
    unsigned long long pushed = 0;
    double tf64_1[2][512];
    for (i64 b = 0; b < inner || b == 0; b += 256) {
      const i64 end = inner < b + 256 ? inner : b + 256;
      double *const lf64_1 = tf64_1[used];
      for (i64 l = 0; l < n; ++l) lf64_1[l] = 0;
      for (i64 q = b; q < end; q += 1) {
        const i64 at = row * inner + q;
        (void)at;
        double *x0 = (double *)p[0] + at * (20);
        EACH for (i64 l = 0; l < n; ++l) {
          const i64 i = col + l;
          (void)i;
          const double f64_0 = x0[i];
          lf64_1[l] = add_f64(lf64_1[l], f64_0);
        }
      }
      ++used;
      for (unsigned long long m = pushed++; m & 1; m >>= 1) {
        --used;
        for (i64 l = 0; l < n; ++l) tf64_1[used - 1][l] = add_f64(tf64_1[used - 1][l], tf64_1[used][l]);
      }
    }
    while (used > 1) {
      --used;
      for (i64 l = 0; l < n; ++l) tf64_1[used - 1][l] = add_f64(tf64_1[used - 1][l], tf64_1[used][l]);
    }
    double *x1 = (double *)p[1] + 0;
    EACH for (i64 l = 0; l < n; ++l) {
      const i64 i = col + l;
      (void)i;
      const double f64_1 = tf64_1[0][l];
      x1[i] = f64_1;
    }
  }
}
