// expect: tt: dtype is not accepted. Cast it first?
// expect: dtype_is_accepted<tt::DType::boolean
#include <tt/tt.hpp>

auto f(const tt::Array<bool, 8>& a, const tt::Array<bool, 8>& b) { return tt::eval(a - b); }
