// expect: tt: dtype is not accepted. Cast it first?
// expect: of_dtype<tt::DType::f32>
// expect-gcc: {"rand_like"}
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8>& a) { return tt::rand_like(a, 0.5); }
