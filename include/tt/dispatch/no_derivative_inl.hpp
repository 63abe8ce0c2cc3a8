// Ops without a derivative: an error if one is asked for.
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/index_kernels.hpp"

namespace tt {
namespace detail {

/// The name of the operator that replaces the gradient, and the text of its error.
struct RefusedGradient {
  const char *name, *says;
};
/// The refused gradient of F, by any argument: nothing in a graph where it is not read; else an error, as in PyTorch. Zeros would be a wrong derivative.
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
  /// Its derivative by the gradient is the op itself, for forward mode.
  static void derivative(const auto& s, const Options&) { s.out[1] = call_with<NoDerivative>(s.at, {}, s.argument[1], s.gradient[0]); }
};
/// The first gradient of a result that is defined.
const auto& given(const auto& s) {
  int k = 0;
  while (!s.gradient[k].defined()) ++k;
  return s.gradient[k];
}
/// In F's derivative: refuses the gradient by argument k. F's operator has keeps_values, so that the argument is available on the tape.
template <class F>
void refuse(const auto& s, int k) {
  const auto& x = s.argument[k];
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>)
    if (!x.requires_grad()) return;  // a graph drops gradients that are not read
  s.out[k] = call_with<NoDerivative<F>>(s.at, {}, x, given(s));
}

}  // namespace detail
}  // namespace tt
