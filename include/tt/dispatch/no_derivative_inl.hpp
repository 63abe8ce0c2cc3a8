// Derivatives that nobody knows: an error where somebody asks for one.
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/index_kernels.hpp"

namespace tt {
namespace detail {

/// The name of the operator that stands for the gradient, and what its error says.
struct RefusedGradient {
  const char *name, *says;
};
/// The gradient of what F::refused says, by any argument: in a graph nothing, where nobody asks for it; else an error, as in PyTorch. Zero would be another function's.
template <class F>
struct NoDerivative {
  using Options = NoOptions;
  static constexpr OpInfo info{.name = F::refused.name, .arguments = "input, gradient"};
  static constexpr bool keeps_values = true;
  static Sym like(const Sym& x, const Sym&, const NoOptions&) { return x; }
  static void kernel(Call& c, const Options&) {
    if (!c[0].is_meta()) TT_THROW(Error(Text("tt::backward: ") << F::refused.says << ". Use detach()?" << c.at));
    c.result[0] = Tensor(c[0].dtype(), c[0].impl().shape, c[0].device());
  }
  /// It is a function of the gradient: forward mode asks for what follows from that.
  static void derivative(const auto& s, const Options&) { s.out[1] = call_with<NoDerivative>(s.at, {}, s.argument[1], s.gradient[0]); }
};
/// A gradient that is there, of one of the results.
const auto& given(const auto& s) {
  int k = 0;
  while (!s.gradient[k].defined()) ++k;
  return s.gradient[k];
}
/// In F's derivative: the gradient by argument number k is refused. F's operator says keeps_values, so that on the tape the argument is there.
template <class F>
void refuse(const auto& s, int k) {
  const auto& x = s.argument[k];
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>)
    if (!x.requires_grad()) return;  // in a graph what nobody asks for is not computed
  s.out[k] = call_with<NoDerivative<F>>(s.at, {}, x, given(s));
}

}  // namespace detail
}  // namespace tt
