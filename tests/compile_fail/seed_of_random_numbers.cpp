// expect: tt: dtype is not accepted. Cast it first?
// expect: dtype_is_accepted<tt::DType::f32,
// expect-gcc: dtype_is_accepted
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8>& a) { return tt::rand_like(a, 0.5); }
