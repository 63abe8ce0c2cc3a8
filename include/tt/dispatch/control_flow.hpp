// Control flow that depends on elements: in eager code it runs as written; in a captured function it is one node with graphs as its
// bodies (graph/control.hpp), where a branch or a loop in C++ would end the graph.
//   y = tt::cond(x.sum() > 0, [&](const Tensor& t) { return t * w; }, [](const Tensor& t) { return -t; }, x);
//   State s = tt::while_loop([](const State& s) { return s.error > 1e-3; }, [](const State& s) { return step(s); }, first);
//   auto [state, ys] = tt::scan([&](const Tensor& h, const Tensor& x) { Tensor n = cell(h, x, w); return std::pair{n, n}; }, h, xs);
// Bodies may read other Tensors of the function, but change none in place: else the graph ends there, and the call runs as written. Results
// share no memory with operands: an operand that a body returns, or a view of one, is copied. Bodies take and return Tensors, and structs,
// tuples and lists of Tensors and of numbers that do not change; both branches return one type. While a function is captured both branches
// run, and the body of a loop twice: a body that does something else the second time, as when it keeps Tensors or numbers in C++ variables,
// becomes no graph. Names and meanings are PyTorch's (torch.cond, while_loop, scan, map).
#pragma once
#include <tuple>
#include <utility>
#include <vector>

#include "tt/core/leaves.hpp"
#include "tt/dispatch/eager.hpp"
#include "tt/dispatch/join_ops.hpp"
#include "tt/graph/control.hpp"

namespace tt {

/// The condition of cond, and the line of the call.
struct ControlOperand {
  const Tensor& tensor;
  SourceLine at;
  ControlOperand(const Tensor& t, SourceLine line = here()) : tensor(t), at(line) {}
};

namespace detail {

/// The defined Tensors of a value.
template <class A>
std::vector<const Tensor*> leaves_of(const A& a) {
  std::vector<const Tensor*> list;
  each_leaf(a, [&](const Tensor& t) {
    if (t.defined()) list.push_back(&t);
  });
  return list;
}
/// A copy of `a` with f(t) in place of each defined Tensor t.
template <class A, class F>
A with_leaves(A a, const F& f) {
  each_leaf(a, [&](Tensor& t) {
    if (t.defined()) t = f(t);
  });
  return a;
}
/// Which Tensors of a value are defined, the lengths of its lists, and its numbers: a graph cannot change these.
template <class A>
std::vector<std::int64_t> form_of(const A& a) {
  std::vector<std::int64_t> form;
  each_leaf(a, [&](const Tensor& t) { form.push_back(t.defined()); });
  each_number(a, [&](std::int64_t v, bool) { form.push_back(v); });
  return form;
}
/// Ends the graph: the recorded part runs, then the call runs as written.
inline void end_graph(const Tensor& recorded, const char* why, SourceLine at) { capture_mode->need(recorded, why, at); }
/// Runs a body while it is recorded. An Error in it ends the graph: it counts only if that body really runs.
template <class F, class... A>
auto record_body(const Tensor& recorded, SourceLine at, const F& f, const A&... a) {
  try {
    return std::decay_t<std::invoke_result_t<const F&, const A&...>>(f(a...));
  } catch (const Error& e) {
    Text why("an error in the body of a branch or a loop, \"");
    for (const char* c = e.what(); *c && *c != '\n'; ++c) why << *c;
    end_graph(recorded, (why << "\", beside:").c_str(), at);
    throw;
  }
}
/// A body that is being recorded; without results if it throws.
class RecordedRegion {
 public:
  RecordedRegion() {
    use_steps();
    capture_mode->open_region();
  }
  RecordedRegion(const RecordedRegion&) = delete;
  ~RecordedRegion() {
    if (!closed_) capture_mode->close_region(nullptr, 0);
  }
  template <class A>
  A input(const A& a, bool row = false) const {
    return with_leaves(a, [&](const Tensor& t) { return capture_mode->region_input(t, row); });
  }
  template <class R>
  void close(const R& result) {
    const std::vector<const Tensor*> list = leaves_of(result);
    for (const Tensor* t : list)
      if (!t->defined()) TT_THROW(Error(Text("tt: the body of a branch, a loop or a transform gives a Tensor that is undefined.")));
    capture_mode->close_region(list.data(), static_cast<int>(list.size()));
    closed_ = true;
  }

 private:
  bool closed_ = false;
};
/// Does the running capture record control flow as nodes? The operands do not matter: a body may read other recorded Tensors.
inline bool records_control() { return capture_mode && capture_mode->records_control(); }
/// The first operand that is a recorded value; the first operand if none is.
inline const Tensor& recorded_one(const std::vector<const Tensor*>& operands) {
  for (const Tensor* t : operands)
    if (t->impl().trace_id >= 0) return *t;
  return *operands[0];
}
/// Makes the node of the bodies that were recorded last.
inline std::vector<Tensor> call_control(Control kind, const std::vector<const Tensor*>& operands, int carried, int xs, bool reverse, int results, SourceLine at) {
  std::vector<Tensor> r(static_cast<std::size_t>(results));
  capture_mode->control_flow({static_cast<int>(kind), region_count(kind) * times_recorded(kind), operands.data(), static_cast<int>(operands.size()), carried, xs, reverse,
                              r.data(), results, at});
  return r;
}
/// A copy of `like` whose defined Tensors are taken from a list, from `next` on.
template <class A>
A take_leaves(const A& like, const std::vector<Tensor>& list, std::size_t& next) {
  return with_leaves(like, [&](const Tensor&) { return list[next++]; });
}
/// The defined Tensors of some values; values of types without Tensors are skipped.
template <class... A>
std::vector<Tensor> operand_tensors(const A&... a) {
  std::vector<Tensor> list;
  const auto add = [&](const auto& x) {
    if constexpr (has_leaves<std::remove_cvref_t<decltype(x)>>())
      for (const Tensor* t : leaves_of(x)) list.push_back(*t);
  };
  (add(a), ...);
  return list;
}
/// Results as the node of a branch or a loop gives them: a result that shares memory with an operand or an earlier result is copied.
template <class R>
R with_own_memory(R results, std::vector<Tensor> others, SourceLine at) {
  return with_leaves(std::move(results), [&](const Tensor& t) {
    bool shared = false;
    for (const Tensor& other : others) shared = shared || t.is_same(other) || t.shares_storage(other);
    others.push_back(shared ? t.clone(at) : t);
    return others.back();
  });
}
inline bool decide(const Tensor& t, const char* op, SourceLine at) {
  if (!t.defined() || t.impl().numel != 1)
    TT_THROW(Error((t.defined() ? Text("tt::") << op << ": the condition is no single element, but of shape " << t.impl().shape : Text("tt::") << op << ": the condition is an undefined Tensor")
                   << ". Reduce it, as by any() or all()?" << at));
  return t.dtype() == DType::boolean ? t.item<bool>(at) : (t != 0).item<bool>(at);
}

}  // namespace detail

/// then(operands...) if the condition, a Tensor of one element, is not 0, else otherwise(operands...).
/// In a captured function both are recorded, on the same operands, and one runs; both must give the same dtypes and shapes.
template <class Then, class Otherwise, class... A>
auto cond(ControlOperand condition, const Then& then, const Otherwise& otherwise, const A&... operands) {
  using R = std::decay_t<std::invoke_result_t<const Then&, const A&...>>;
  static_assert(std::is_same_v<R, std::decay_t<std::invoke_result_t<const Otherwise&, const A&...>>>, "tt::cond: both branches give one type");
  const Tensor& c = condition.tensor;
  if (detail::records_control() && c.defined() && c.impl().numel == 1) {
    detail::RecordedRegion first;
    const R like = detail::record_body(c, condition.at, then, operands...);
    first.close(like);
    detail::RecordedRegion second;
    const R other = detail::record_body(c, condition.at, otherwise, operands...);
    second.close(other);
    if (detail::form_of(like) != detail::form_of(other)) detail::end_graph(c, "cond: branches give other numbers or lists, chosen by:", condition.at);
    std::size_t next = 0;
    return detail::take_leaves(like, detail::call_control(Control::cond, {&c}, 0, 0, false, static_cast<int>(detail::leaves_of(like).size()), condition.at), next);
  }
  return detail::with_own_memory<R>(detail::decide(c, "cond", condition.at) ? R(then(operands...)) : R(otherwise(operands...)), detail::operand_tensors(operands...), condition.at);
}

/// body(... body(carried)) for as long as goes_on(carried) is a Tensor of one element that is not 0. In a captured function the carried
/// value must keep its dtypes and shapes; the loop is one node. Differentiable: a gradient runs it again and keeps the values of all steps.
template <class Condition, class Body, class C>
C while_loop(const Condition& goes_on, const Body& body, C carried, SourceLine at = here()) {
  static_assert(std::is_convertible_v<std::invoke_result_t<const Body&, const C&>, C>, "tt::while_loop: the body gives what it is given");
  const std::vector<const Tensor*> operands = detail::leaves_of(carried);
  if (detail::records_control() && !operands.empty()) {
    const auto count = static_cast<int>(operands.size());
    const Tensor& recorded = detail::recorded_one(operands);
    for (int time = 0; time < times_recorded(Control::while_loop); ++time) {
      detail::RecordedRegion first;
      const Tensor condition = detail::record_body(recorded, at, goes_on, first.input(carried));
      if (!condition.defined() || condition.impl().numel != 1) detail::end_graph(recorded, "while_loop: a condition that is no single element, beside:", at);
      first.close(condition);
      detail::RecordedRegion second;
      const C next = detail::record_body(recorded, at, body, second.input(carried));
      second.close(next);
      if (detail::form_of(next) != detail::form_of(carried)) detail::end_graph(recorded, "while_loop: numbers or lists that change, beside:", at);
    }
    std::size_t at_leaf = 0;
    return detail::take_leaves(carried, detail::call_control(Control::while_loop, operands, count, 0, false, count, at), at_leaf);
  }
  std::vector<Tensor> given = detail::operand_tensors(carried);
  while (detail::decide(goes_on(std::as_const(carried)), "while_loop", at)) carried = body(std::as_const(carried));
  return detail::with_own_memory<C>(std::move(carried), std::move(given), at);
}

struct ScanOptions {
  bool reverse = false;  ///< from the last row to the first; row k of a result still belongs to row k of xs
};
/// Loops over the rows (along axis 0) of all Tensors of xs: body(carried, row) returns a pair of the next carried value and of values that
/// are stacked along a new axis 0. Returns the pair of the last carried value and of those stacks. Differentiable, on every path.
/// Throws Error when lengths differ or there is no row.
template <class Body, class C, class X>
auto scan(const Body& body, C carried, const X& xs, ScanOptions options = {}, SourceLine at = here()) {
  using Y = std::decay_t<decltype(body(std::declval<const C&>(), std::declval<const X&>()).second)>;
  const std::vector<const Tensor*> rows = detail::leaves_of(xs);
  for (const Tensor* t : rows)
    if (t->dim() == 0 || t->impl().shape.code[0] != rows[0]->impl().shape.code[0])
      TT_THROW(Error(Text("tt::scan: Tensors of other lengths along axis 0: ") << rows[0]->shape() << " and " << t->shape() << "." << at));
  const std::int64_t n = rows.empty() ? 0 : rows[0]->impl().shape.code[0];
  if (n == 0) TT_THROW(Error(Text("tt::scan: there is no row to begin with.") << at));
  std::vector<const Tensor*> operands = detail::leaves_of(carried);
  const auto count = static_cast<int>(operands.size());
  operands.insert(operands.end(), rows.begin(), rows.end());
  if (detail::records_control() && !operands.empty()) {
    const Tensor& recorded = detail::recorded_one(operands);
    std::pair<C, Y> given;
    for (int time = 0; time < times_recorded(Control::scan); ++time) {
      detail::RecordedRegion region;
      const C state = region.input(carried);
      given = detail::record_body(recorded, at, body, state, region.input(xs, true));
      region.close(given);
      if (detail::form_of(given.first) != detail::form_of(carried)) detail::end_graph(recorded, "scan: numbers or lists that change, beside:", at);
    }
    const int results = static_cast<int>(detail::leaves_of(given).size());
    if (results == 0) detail::end_graph(recorded, "scan: a body that gives no Tensor, beside:", at);
    const std::vector<Tensor> result = detail::call_control(Control::scan, operands, count, static_cast<int>(rows.size()), options.reverse, results, at);
    std::size_t next = 0;
    C last = detail::take_leaves(carried, result, next);
    return std::pair<C, Y>(std::move(last), detail::take_leaves(given.second, result, next));
  }
  std::vector<Tensor> first = detail::operand_tensors(carried, xs);
  std::vector<std::vector<Tensor>> parts;  // for each value, its rows
  Y like{};
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t row = options.reverse ? n - 1 - step : step;
    std::pair<C, Y> given = body(std::as_const(carried), detail::with_leaves(xs, [&](const Tensor& t) { return t.select(0, static_cast<int>(row), at); }));
    carried = std::move(given.first);
    const std::vector<const Tensor*> ys = detail::leaves_of(given.second);
    parts.resize(ys.size(), std::vector<Tensor>(static_cast<std::size_t>(n)));
    for (std::size_t k = 0; k < ys.size(); ++k) parts[k][static_cast<std::size_t>(row)] = *ys[k];
    like = std::move(given.second);
  }
  std::size_t k = 0;
  Y stacks = detail::with_leaves(std::move(like), [&](const Tensor&) { return stack(parts[k++], 0, at); });
  return std::pair<C, Y>(detail::with_own_memory<C>(std::move(carried), std::move(first), at), std::move(stacks));
}
/// f of each row (along axis 0) of all Tensors of xs, stacked along a new axis 0. Differentiable.
template <class F, class X>
auto map(const F& f, const X& xs, SourceLine at = here()) {
  return scan([&](const std::tuple<>& nothing, const X& row) { return std::pair{nothing, f(row)}; }, std::tuple<>{}, xs, {}, at).second;
}

}  // namespace tt
