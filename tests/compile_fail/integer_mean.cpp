// expect: tt: dtype is not accepted. Cast it first?
// expect: of_dtype<tt::DType::i32
#include <tt/tt.hpp>

auto f(const tt::Array<int, 8>& a) { return tt::eval(tt::mean(a)); }
