// The duals of a level of forward mode: Tensors that lose their tangent when the level ends, whoever holds them then.
//   DualList level;   Dual d(tangent, level, impl);   level.close();
#pragma once
#include <memory>
#include <vector>

#include "tt/autograd/history.hpp"

namespace tt {
namespace autograd {

class DualList;
/// The tangent of a dual Tensor (see dual.hpp), kept until its level ends.
struct Dual {
  Tensor tangent;
  std::shared_ptr<DualList> level;
  tt::detail::TensorImpl* of = nullptr;
  mutable std::atomic<bool> shared = true;  ///< others hold the tangent too, so it is not written to
  Dual *next = nullptr, *previous = nullptr;

  Dual(const Tensor& t, const std::shared_ptr<DualList>& l, tt::detail::TensorImpl& own);
  Dual(const Dual&) = delete;
  ~Dual();
};
/// The duals of a level. Tensors may go, and others be made, in any thread.
class DualList {
 public:
  DualList() = default;
  DualList(const DualList&) = delete;
  /// Does nothing when the level has ended.
  void add(Dual& d) {
    const tt::detail::FlagLock lock(busy_);
    if (!is_open()) return;
    d.of->keys = d.of->keys | DispatchKey::forward;
    d.next = first_;
    if (first_) first_->previous = &d;
    first_ = &d;
  }
  void remove(Dual& d) {
    const tt::detail::FlagLock lock(busy_);
    if (d.previous) d.previous->next = d.next;
    else if (first_ == &d) first_ = d.next;
    if (d.next) d.next->previous = d.previous;
    d.next = d.previous = nullptr;
  }
  bool is_open() const { return open_.load(std::memory_order_relaxed); }
  /// Ends the level: its Tensors are no duals any more.
  void close() {
    std::vector<Tensor> tangents;  // freed when nothing is locked
    const tt::detail::FlagLock lock(busy_);
    open_.store(false);
    while (Dual* const d = first_) {
      first_ = d->next;
      d->next = d->previous = nullptr;
      d->of->keys = d->of->keys.without(DispatchKey::forward);
      tangents.push_back(static_cast<Tensor&&>(d->tangent));
    }
  }

 private:
  tt::detail::BusyFlag busy_;
  std::atomic<bool> open_ = true;
  Dual* first_ = nullptr;
};
inline Dual::Dual(const Tensor& t, const std::shared_ptr<DualList>& l, tt::detail::TensorImpl& own) : tangent(t), level(l), of(&own) { level->add(*this); }
inline Dual::~Dual() { level->remove(*this); }

}  // namespace autograd
}  // namespace tt
