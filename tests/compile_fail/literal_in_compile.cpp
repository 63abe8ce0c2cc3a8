// expect: tt::compile: an argument is a Tensor, a number, or a struct, std::vector, std::array, std::string, pair or tuple of these; no pointer, no C array
// max-lines: 12
#include <string>
#include <tt/tt.hpp>

tt::Tensor f(const tt::Tensor& x) {
  return tt::compile([](const tt::Tensor& y, const std::string& how) { return how == "twice" ? y * 2 : y; })(x, "twice");
}
