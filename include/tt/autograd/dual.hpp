// Forward mode on the tape (torch.autograd.forward_ad): a dual Tensor carries a tangent, its derivative along some direction, and results of ops
// on duals are duals too: one pass, and nothing is saved. Outside of captures tt::jvp is this.
//   const tt::DualLevel level;
//   auto [y, dy] = tt::unpack_dual(f(tt::make_dual(x, dx)));
// Duals may be on the tape too, so there are gradients of tangents, and tangents of gradients: tt::grad(f) of a dual.
#pragma once
#include <memory>

#include "tt/autograd/modes.hpp"

namespace tt {
namespace autograd {

class DualList;
/// The open level of this thread; null: none is open.
inline std::shared_ptr<DualList>& dual_level() {
  thread_local std::shared_ptr<DualList> level;
  return level;
}
TT_LAZY std::shared_ptr<DualList> open_dual_level(SourceLine at);
TT_INLINE void close_dual_level(DualList& level);

}  // namespace autograd

/// Tangents that are made while a level lives count until it ends, in every thread; no thread may use them while it ends
/// (torch.autograd.forward_ad.dual_level). Throws Error inside another level of the thread: for derivatives of derivatives tt::jvp takes functions
/// that call tt::jvp or tt::grad.
class DualLevel {
 public:
  template <class = void>
  DualLevel(SourceLine at = here()) : level_(autograd::open_dual_level(at)) {}
  DualLevel(const DualLevel&) = delete;
  ~DualLevel() {
    if (autograd::dual_level() == level_) autograd::dual_level() = nullptr;
    autograd::close_dual_level(*level_);
  }

 private:
  std::shared_ptr<autograd::DualList> level_;
};

/// `primal`, the same elements, with a tangent of its shape and dtype (torch.autograd.forward_ad.make_dual). Throws Error where no DualLevel lives, in
/// captured functions, and for a Tensor that has a tangent already.
TT_LAZY Tensor make_dual(const Tensor& primal, const Tensor& tangent, SourceLine at = here());

/// The parts of a dual; the tangent of any other Tensor is undefined.
struct UnpackedDual {
  Tensor primal, tangent;
};
TT_LAZY UnpackedDual unpack_dual(const Tensor& t);

}  // namespace tt

#if TT_DEFINES(autograd)
#include "tt/autograd/dual_inl.hpp"
#endif
