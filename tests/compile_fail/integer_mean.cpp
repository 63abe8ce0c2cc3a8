// expect: tt: dtype is not accepted. Cast it first?
// expect: dtype_is_accepted<tt::DType::i32
#include <tt/tt.hpp>

auto f(const tt::Array<int, 8>& a) { return tt::eval(tt::mean(a)); }
