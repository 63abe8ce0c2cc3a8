/* column_sums:
%0 = input 0 : f64 (300, 20)
%1 = sum(%0) axes 0 : f64 (1, 20)
%2 = reshape(%1) : f64 (20,)  -> output 0
behind prelude.c: */
TREE(double, add_f64)

/* kernel 0: cols 1 x 20 over 300 */
void column_sums_0(void *const *p, const i64 *s, const i64 *r) {
  (void)s;
  (void)r;
  for (i64 row = 0; row < 1; ++row)
  for (i64 col = 0; col < 20; col += 64) {
    const i64 n = 20 - col < 64 ? 20 - col : 64, inner = 300;
    tree_add_f64 tf64_1[64];
    double lf64_1[64];
    for (int l = 0; l < 64; ++l) tf64_1[l].used = 0, tf64_1[l].pushed = 0;
    for (i64 b = 0; b < inner || b == 0; b += 256) {
      const i64 end = inner < b + 256 ? inner : b + 256;
      for (int l = 0; l < 64; ++l) lf64_1[l] = 0;
      for (i64 q = b; q < end; ++q) {
        const i64 at = row * inner + q;
        (void)at;
        double *x0 = (double *)p[0] + at * (20);
        for (i64 l = 0; l < n; ++l) {
          const i64 i = col + l;
          (void)i;
          const double f64_0 = x0[i];
          lf64_1[l] = add_f64(lf64_1[l], f64_0);
        }
      }
      for (i64 l = 0; l < n; ++l) push_add_f64(&tf64_1[l], lf64_1[l]);
    }
    double *x1 = (double *)p[1] + 0;
    for (i64 l = 0; l < n; ++l) {
      const i64 i = col + l;
      (void)i;
      const double f64_1 = result_add_f64(&tf64_1[l], 0);
      x1[i] = f64_1;
    }
  }
}
