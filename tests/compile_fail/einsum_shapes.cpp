// expect: tt: shapes differ
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a, const tt::Array<float, 4, 5>& b) {
  return tt::eval(tt::einsum<"ij,jk->ik">(a, b));
}
