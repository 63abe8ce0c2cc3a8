// expect: tt: dtype is not accepted. Cast it first?
// expect: of_dtype<tt::DType::boolean
#include <tt/tt.hpp>

auto f(const tt::Array<bool, 8>& a, const tt::Array<bool, 8>& b) { return tt::eval(a - b); }
