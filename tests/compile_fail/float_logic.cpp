// expect: tt: dtype is not accepted. Cast it first?
// expect: dtype_is_accepted<tt::DType::f32
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8>& a, const tt::Array<float, 8>& b) { return tt::eval(a && b); }
