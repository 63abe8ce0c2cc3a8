// Checkpoints: functions of which the tape saves only the arguments, and which backward runs again (torch.utils.checkpoint; Chen et al., Training
// Deep Nets with Sublinear Memory Cost, 2016). In a captured function a checkpoint is one node, whose gradient computes the function again.
//   Tensor y = tt::checkpoint([](const Tensor& x, const Tensor& w) { return block(x, w); }, x, w);
#pragma once
#include "tt/autograd/functional.hpp"
#include "tt/dispatch/control_flow.hpp"
#include "tt/dispatch/random.hpp"

namespace tt {
namespace autograd {

using TensorsFunction = Callable<std::vector<Tensor>(const std::vector<Tensor>&)>;
/// f(given), on the tape as one node that saves `given`.
TT_INLINE std::vector<Tensor> run_checkpoint(const TensorsFunction& f, const std::vector<Tensor>& given, SourceLine at);

#if TT_DEFINES(autograd)

struct CheckpointNode : TapeNode {
  TensorsFunction function;
  std::vector<SavedTensor> argument;
  std::vector<Edge> own_edge;
};
/// Backward as a function that may be differentiated itself: takes the arguments, then the gradients of the results `of`, and returns those of the arguments
/// in `by`.
struct CheckpointBackward {
  TensorsFunction function;
  std::vector<bool> by;
  std::vector<std::size_t> of;

  std::vector<Tensor> operator()(const std::vector<Tensor>& given_and_gradients) const {
    const auto behind = given_and_gradients.begin() + static_cast<std::ptrdiff_t>(by.size());
    std::vector<Tensor> given(given_and_gradients.begin(), behind), gradients(behind, given_and_gradients.end()), variables, results;
    bool nested = false;
    for (const Tensor& t : given_and_gradients) nested = nested || (t.requires_grad() && is_grad_enabled());
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!by[k]) continue;
      given[k] = as_variable(given[k]);
      variables.push_back(given[k]);
    }
    {
      const EnableGrad on;
      const std::vector<Tensor> made = function(given);
      for (std::size_t k = of.size(); k-- > 0;)
        if (made[of[k]].requires_grad()) results.insert(results.begin(), made[of[k]]);
        else gradients.erase(gradients.begin() + static_cast<std::ptrdiff_t>(k));
    }
    std::vector<Tensor> d(variables.size());
    if (!results.empty()) d = tt::grad(results, variables, gradients, nested, nested, {});
    for (std::size_t k = 0; k < d.size(); ++k)
      if (!d[k].defined()) d[k] = zeros_like(variables[k]);
    return d;
  }
};
inline const TapeNodeKind checkpoint_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool taped) {
      auto& n = static_cast<CheckpointNode&>(base);
      CheckpointBackward backward{n.function, {}, {}};
      std::vector<Tensor> given;
      for (std::size_t k = 0; k < n.argument.size(); ++k) {
        n.argument[k].check(n, static_cast<int>(k));
        given.push_back(taped ? n.argument[k].tensor : off_tape(n.argument[k].tensor));
        backward.by.push_back(n.own_edge[k].node != nullptr);
      }
      for (int k = 0; k < n.results; ++k) {
        if (!in[k].defined()) continue;
        backward.of.push_back(static_cast<std::size_t>(k));
        given.push_back(in[k]);
      }
      const std::vector<Tensor> d = taped ? run_checkpoint(backward, given, n.where) : backward(given);
      std::size_t next = 0;
      for (std::size_t k = 0; k < n.argument.size(); ++k)
        if (backward.by[k]) out[k] = d[next++];
    },
    [](TapeNode& n) { return release_all(static_cast<CheckpointNode&>(n).argument); },
    [](TapeNode* n) { delete static_cast<CheckpointNode*>(n); }};

TT_INLINE std::vector<Tensor> run_checkpoint(const TensorsFunction& f, const std::vector<Tensor>& given, SourceLine at) {
  bool needed = false;
  std::vector<Tensor> detached;
  std::vector<std::uint32_t> versions;
  for (const Tensor& t : given) {
    needed = needed || t.requires_grad();
    detached.push_back(t.requires_grad() ? off_tape(t) : t);
    versions.push_back(t.version());
  }
  if (!needed || !is_grad_enabled()) return f(given);
  std::vector<Tensor> results = f(detached);
  for (std::size_t k = 0; k < given.size(); ++k)
    if (detached[k].version() != versions[k]) TT_THROW(Error(Text("tt::checkpoint: the function changes argument ") << k << " in place. Use a copy there?" << at));
  for (const Tensor& t : results)
    if (t.requires_grad() || may_be_dual(t)) return f(given);  // through a Tensor that f holds
  auto* n = new CheckpointNode;
  NodeHandle owner = NodeHandle::of_new(n);
  n->kind = &checkpoint_kind;
  n->name = "checkpoint";
  n->where = at;
  n->results = static_cast<int>(results.size());
  n->function = f;
  n->argument.resize(given.size());
  n->own_edge.resize(given.size());
  SmallVec<const Tensor*, 16> argument;
  for (std::size_t k = 0; k < given.size(); ++k) {
    n->argument[k].save(given[k], *n);
    argument.push_back(&given[k]);
  }
  for (Tensor& t : results) t = t.detach();  // an argument, or a Tensor that f holds, keeps its history
  connect(*n, n->own_edge.data(), argument.data(), argument.size());
  ++tape_node_count();
  set_histories(static_cast<NodeHandle&&>(owner), results.data(), n->results, [&](int k) { return is_floating(results[static_cast<std::size_t>(k)].dtype()); });
  return results;
}

#endif

}  // namespace autograd

/// f(arguments...), of which the tape saves the arguments alone: backward computes `f` again. Arguments and results are Tensors, numbers,
/// and structs, tuples and lists of them. Results may depend on nothing else that requires a gradient: if a Tensor that `f` holds
/// does, `f` runs twice and is saved as usual. `f` is kept for backward: objects that it captures by reference must live so long. Random numbers of
/// the default generator are the same again in backward (which sets it back for that time, as PyTorch does: threads that draw meanwhile repeat
/// numbers); those of other generators are drawn anew.
template <class F, class... A>
auto checkpoint(const F& f, const A&... arguments) {
  using R = std::decay_t<std::invoke_result_t<const F&, const A&...>>;
  const std::tuple<A...> all(arguments...);
  const std::vector<const Tensor*> leaves = detail::leaves_of(all);
  bool required = false;
  bool dual = false;
  for (const Tensor* t : leaves) {
    required = required || t->requires_grad();
    dual = dual || autograd::may_be_dual(*t);
  }
  if (!required || dual || !is_grad_enabled()) return R(f(arguments...));
  if (detail::records_control()) {
    detail::RecordedRegion region;
    const R like = std::apply(f, region.input(all));
    region.close(like);
    std::size_t next = 0;
    return detail::take_leaves(like, detail::call_control(Control::checkpoint, leaves, 0, 0, false, static_cast<int>(detail::leaves_of(like).size()), {}), next);
  }
  if (detail::capture_mode) return R(f(arguments...));  // its graphs choose the values that they save
  std::vector<Tensor> given;
  for (const Tensor* t : leaves) given.push_back(*t);
  R like{};
  const auto places = detail::with_leaves(all, [mark = Tensor(DType::boolean, Shape{})](const Tensor&) { return mark; });
  const auto function = [f, places, &like, first = true, drawn = default_generator().get_state()](const std::vector<Tensor>& t) mutable {
    struct Again {
      Generator::State now = default_generator().get_state();
      bool applies;
      Again(bool again, const Generator::State& before) : applies(again) {
        if (applies) default_generator().set_state(before);
      }
      ~Again() {
        if (applies) default_generator().set_state(now);
      }
    } again(!first, drawn);
    std::size_t next = 0;
    R result = std::apply(f, detail::take_leaves(places, t, next));
    std::vector<Tensor> list;
    for (const Tensor* leaf : detail::leaves_of(result)) list.push_back(*leaf);
    if (first) like = std::move(result);
    first = false;
    return list;
  };
  const std::vector<Tensor> made = autograd::run_checkpoint(function, given, {});
  std::size_t next = 0;
  return detail::take_leaves(like, made, next);
}

}  // namespace tt
