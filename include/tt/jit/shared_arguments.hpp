// Arguments not mapped by vmap when examples run one by one: an in-place change must be the same for all examples. The first run changes
// the argument itself; later runs get copies of its old elements, which must become equal to it.
//   SharedArguments shared;   shared.add(w);   f(x, shared(w));   shared.check(at);      // the last two for each example
#pragma once
#include <vector>

#include "tt/autograd/modes.hpp"
#include "tt/dispatch/reduction_functions.hpp"

namespace tt {
namespace detail {

class SharedArguments {
 public:
  void add(const Tensor& t) {
    const NoGrad off;
    all_.push_back({t, t.clone(), t.version(), t.impl().trace_id});
  }
  /// The Tensor to pass for the next argument in this run: itself, or a copy if the first run changed it.
  Tensor operator()(const Tensor& t) {
    if (!t.defined() || all_.empty() || !all_[next_++].changed) return t;
    return copies_.emplace_back(all_[next_ - 1].before.clone());
  }
  /// Call it after each run. Throws Error if examples change an argument in different ways, or change one that requires a gradient.
  void check(SourceLine at) {
    if (first_) look();
    std::size_t copy = 0;
    for (const One& s : all_)
      if (s.changed && (first_ ? s.given.requires_grad() : !allclose(copies_[copy++], s.given, 0, 0, true, at)))
        TT_THROW(Error(Text("tt::vmap: an argument that is not mapped is changed in place, by each example to something else: shape ") << s.given.shape() << ". Give it an axis in in_dims?" << at));
    copies_.clear();
    next_ = 0;
    first_ = false;
  }

 private:
  struct One {
    Tensor given, before;
    std::uint32_t version;
    std::int64_t recorded;  ///< its value in the recording; -1: it is concrete
    bool changed = false;
  };
  std::vector<One> all_;
  std::vector<Tensor> copies_;
  std::size_t next_ = 0;
  bool first_ = true;

  void look() {
    for (One& s : all_) s.changed = s.recorded >= 0 && s.given.impl().trace_id >= 0 && s.given.impl().trace_id != s.recorded;
    if (capture_mode && !all_.empty()) capture_mode->run_recorded();  // writes changes of concrete Tensors
    for (One& s : all_) s.changed = s.changed || (s.recorded < 0 && s.given.version() != s.version);
  }
};

}  // namespace detail
}  // namespace tt
