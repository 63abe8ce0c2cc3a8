// expect: tt: einsum: the result has a letter that no operand has
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a) { return tt::eval(tt::einsum<"ij->k">(a)); }
