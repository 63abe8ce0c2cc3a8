// expect: tt: einsum: the text has another number of operands
#include <tt/tt.hpp>

auto f(const tt::Array<float, 2, 3>& a) { return tt::eval(tt::einsum<"ij,jk->ik">(a)); }
