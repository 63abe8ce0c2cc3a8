// expect: tt: x[mask] and x[indices] are copies: what is assigned to them would be lost. Use tt::where, or slices?
#include <tt/tt.hpp>

void f(tt::Tensor& x) { x[x > 0.0] = tt::ones({1}); }
