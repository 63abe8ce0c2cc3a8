// Whether this thread records its calls for backward.
//   { tt::NoGrad off; w -= 0.1 * w.grad(); }
#pragma once
#include "tt/dispatch/dispatcher.hpp"

namespace tt {
namespace autograd {

/// While it lives, this thread's calls are recorded for backward (`taped`), or not.
class StepMode {
 public:
  explicit StepMode(bool taped) : before_(DispatchState::of_this_thread()) {
    DispatchState& s = DispatchState::of_this_thread();
    s.grad_enabled = taped;
    s.exclude = taped ? s.exclude.without(DispatchKey::autograd) : s.exclude | DispatchKey::autograd;
  }
  StepMode(const StepMode&) = delete;
  ~StepMode() { DispatchState::of_this_thread() = before_; }

 private:
  DispatchState before_;
};

}  // namespace autograd
/// Nothing is recorded while it lives (torch.no_grad).
class NoGrad : autograd::StepMode {
 public:
  NoGrad() : StepMode(false) {}
};
/// Records again inside NoGrad (torch.enable_grad).
class EnableGrad : autograd::StepMode {
 public:
  EnableGrad() : StepMode(true) {}
};

}  // namespace tt
