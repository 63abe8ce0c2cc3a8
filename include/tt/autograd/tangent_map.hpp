// A function's derivative at one point as a function of tangents, by the tape: for many tangents (tt::linearize), and for derivatives inside of a
// DualLevel. Values computed under NoGrad are constant here, as the tape does not see them.
//   const TangentMap map(f, std::tuple{x});   map.value;   map(std::tuple{dx})
#pragma once
#include <vector>

#include "tt/autograd/dual.hpp"
#include "tt/autograd/functional.hpp"
#include "tt/dispatch/control_flow.hpp"

namespace tt {
namespace detail {

/// Has it a history, or has its tangent one?
inline bool is_taped(const Tensor& t) { return (t.requires_grad() || autograd::has_taped_tangent(t)) && is_grad_enabled(); }
/// Without a history, and its tangent, too.
inline Tensor wholly_off_tape(const Tensor& t) {
  if (!autograd::has_taped_tangent(t)) return autograd::off_tape(t);
  const UnpackedDual both = unpack_dual(t);
  return make_dual(both.primal.detach(), both.tangent.detach());
}
/// The derivative of f at one point, a function of tangents, by the tape: the reverse rule, which is linear in the adjoint, differentiated by the adjoint.
template <class F, class A>
class TangentMap {
 public:
  using Result = std::decay_t<decltype(std::apply(std::declval<const F&>(), std::declval<const A&>()))>;
  Result value;

  TangentMap(const F& f, const A& primals) : value(std::apply(f, primals)) {  // with a history if an argument has one, or a Tensor that f holds
    each_leaf(value, [&](const Tensor& v) { taped_ = taped_ || is_taped(v); });
    const EnableGrad on;
    std::vector<Tensor> x, y;
    const A variables = with_leaves(primals, [&](const Tensor& p) { return is_floating(p.dtype()) ? x.emplace_back(autograd::as_variable(p)) : p; });
    result_ = std::apply(f, variables);
    each_leaf(result_, [&](const Tensor& v) {
      if (!autograd::has_history(v)) return;
      y.push_back(v);
      adjoints_.push_back(zeros_like(v).requires_grad_());
    });
    if (!y.empty()) flows_ = tt::grad(y, x, adjoints_, true, true, {});
  }
  Result operator()(const A& tangents) const {
    bool taped = taped_;
    std::vector<Tensor> along(adjoints_.size()), flows, directions;
    std::size_t place = 0;
    each_leaf(tangents, [&](const Tensor& t) {
      taped = taped || is_taped(t);
      if (!is_floating(t.dtype())) return;
      if (const std::size_t k = place++; k < flows_.size() && flows_[k].defined() && flows_[k].requires_grad()) {
        flows.push_back(flows_[k]);
        directions.push_back(t);
      }
    });
    const EnableGrad on;
    if (!flows.empty()) along = tt::grad(flows, adjoints_, directions, true, true, {});
    std::size_t next = 0;
    return with_leaves(result_, [&](const Tensor& v) {
      if (!v.requires_grad()) return zeros_like(v);
      const Tensor own = along[next++], d = own.defined() ? own : zeros_like(v);
      return taped ? d : wholly_off_tape(d);
    });
  }

 private:
  Result result_;
  std::vector<Tensor> adjoints_, flows_;  ///< variables, and the adjoints of the primals as functions of these
  bool taped_ = false;
};

}  // namespace detail
}  // namespace tt
