// expect: tt: dtype is not accepted. Cast it first?
// expect: "linalg_vector_norm"
#include <tt/tt.hpp>

auto f(const tt::Array<std::int32_t, 3, 4>& a) {
  return tt::eval(tt::norm<1>(a));
}
