// expect: tt: where: condition is not bool. Compare it with something?
// expect: condition_is_bool<tt::DType::f32
#include <tt/tt.hpp>

auto f(const tt::Array<float, 8>& a) { return tt::eval(tt::where(a, 1.0, a)); }
