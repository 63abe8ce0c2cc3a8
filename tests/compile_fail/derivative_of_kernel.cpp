// expect: tt: the derivative of an op with a kernel takes (const auto& step, const Options& options); NoOptions, if it has none
// max-lines: 40
#include <tt/tt.hpp>

struct Doubled {
  static constexpr tt::OpInfo info{.name = "doubled", .arguments = "input"};
  static void kernel(tt::Call& c, const tt::NoOptions&) { c.result[0] = c[0] * 2; }
  static void derivative(const auto& s) { s.out[0] = s.gradient[0] * 2; }
};
tt::Tensor f(const tt::Tensor& x) { return tt::call_with<Doubled>(tt::here(), {}, x); }
