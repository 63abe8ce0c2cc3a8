// expect: tt: condition is not bool. Compare it with something?
// expect: of_dtype<tt::DType::f32
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8>& a) { return tt::eval(tt::where(a, 1.0, a)); }
