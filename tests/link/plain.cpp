// Built without any -march.
#include "shared.hpp"

namespace shared {

Results compute_plain(const Vector& x, const Vector& y, const Layer<tt::arrays>& l, const Matrix& m) {
  return compute(x, y, l, m);
}
std::string isa_plain() { return tt::config(); }

Matrix make_rows(int n) {
  Matrix m(n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 24; ++k) m(i, k) = static_cast<float>((i * 7 + k * 3) % 11 - 5) * 0.25f;
  m = m * 2 - m;
  return m;
}

}  // namespace shared
