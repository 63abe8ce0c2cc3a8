// Tensors created inside a captured function (factories, scalars, and results of ops on these alone): concrete, so that the function can
// read them, and also values of the graph. Up to 16 elements become constants of the graph; more are a further input.
#pragma once
#include "tt/jit/tracer_inl.hpp"

namespace tt {
namespace jit {

inline void Tracer::made(const Tensor& t, const Operator* op, const Tensor* const* numbers, int count) {
  if (!op) {
    if (t.impl().numel <= most_in_text) note(t, -1);
    return;
  }
  Values in;
  in.push_back(add_node(builder_.graph.constant(t.dtype(), 0, shape_of(t))));
  for (int k = 0; k < count; ++k) in.push_back(add_constant(*numbers[k]));
  list_call({.op = op}, in, false);
  record_last();
  note(t, list_->steps.back().result);
}

inline int Tracer::known(const Tensor& t) {
  for (Made& m : made_)
    if (m.tensor.is_same(t) && m.version == t.version() && !t.impl().requires_grad) {  // else it is the tape's
      const bool few = t.impl().numel <= most_in_text;
      if (m.value < 0 && !few && regions_.any_open()) return -1;
      return m.value >= 0 ? m.value : m.value = add_node(few ? text_of(t) : held(t));
    }
  return -1;
}

/// A further input of the graph, which gets a copy of these elements at every call.
inline int Tracer::held(const Tensor& t) {
  const detail::PauseCapture pause;
  recording_.constants.push_back(t.clone());
  return builder_.graph.input(t.dtype(), t.impl().shape);
}

inline int Tracer::text_of(const Tensor& t) {
  const Tensor elements = detail::to_device(t, Device{}, false, {}).contiguous();
  const std::int64_t n = t.impl().numel;
  Tensor one(t.dtype(), Shape{});
  const auto element = [&](std::int64_t k) {
    const auto size = static_cast<std::size_t>(tt::size_of(t.dtype()));
    if (n > 0) std::memcpy(one.impl().data, elements.impl().data + static_cast<std::size_t>(k) * size, size);
    else std::memset(one.impl().data, 0, size);
    return builder_.constant(one, {});
  };
  const int first = element(0);
  Graph& graph = builder_.graph;
  int r = graph.broadcast_to(first, t.impl().shape);
  const Sym place = detail::flat_index({&graph, r});
  for (std::int64_t k = 1; k < n; ++k)
    if (const int other = element(k); other != first)
      r = graph.where_(graph.elementwise(Op::eq, {place.id, graph.constant_integer(DType::i64, k)}), other, r);
  return r;
}

/// Runs an op whose operands are all concrete; if they are known values, so are its results.
inline bool Tracer::run_at_once(Call& c) {
  bool own = true, all_known = c.op->record != nullptr;
  for (int k = 0; k < c.arguments; ++k) {
    if (c[k].impl().trace_id >= 0) return false;
    own = own && made_here(c[k]);
    all_known = all_known && !c[k].impl().requires_grad;  // else it is the tape's
  }
  if (!own && options_.holds) return false;
  Values in;
  for (int k = 0; k < c.arguments && all_known; ++k) {
    int value = own ? known(c[k]) : -1;
    if (value < 0 && own && is_constant(c[k])) {
      value = add_constant(c[k]);
      if (c.op->is_view) note(c[k], value);  // the view may be written to, but then the version tells
    }
    all_known = value >= 0;
    in.push_back(value);
  }
  Attributes numbers;  // an op that runs at once gets numbers, no symbols of this capture
  const Attributes* const given = c.attributes;
  if (!given->expression.empty()) {
    numbers = *given;
    numbers.expression = {};
    c.attributes = &numbers;
  }
  {
    const detail::PauseCapture pause;
    Dispatcher::get().call(c);
  }
  c.attributes = given;
  if (!own) return true;
  for (int k = 0; k < c.op->results; ++k) detail::stamp(c.result[k]);
  if (!all_known) return true;
  list_call(c, in, detaches_);
  record_last();
  for (int k = 0; k < c.op->results; ++k) note(c.result[k], list_->steps.back().result + k);
  if (c.op->is_view && c.result[0].shares_storage(c[0])) note_shared(c);
  return true;
}

/// Turns a concrete Tensor, its base and all views of that into recorded Tensors with their known values. False: some of the memory belongs
/// to a Tensor that was made in an unknown way.
inline bool Tracer::become_recorded(const Tensor& t, SourceLine at) {
  const int root = list_->root_of(value_of(t, at));
  std::vector<std::pair<Tensor, int>> all{{list_->value(root).tensor.defined() ? list_->value(root).tensor : t, root}};
  for (const View& v : list_->views)
    if (v.root == root) all.push_back({list_->value(v.value).tensor, v.value});
  const auto is_one = [&](const Tensor& o) { return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first.is_same(o); }); };
  if (!is_one(t)) return false;
  for (const Made& m : made_)
    if (m.tensor.shares_storage(t) && !is_one(m.tensor) && m.tensor.impl().uses.load(std::memory_order_relaxed) > 1) return false;
  for (const auto& [tensor, value] : all) {
    detail::TensorImpl& impl = tensor.impl();
    impl.trace_id = value;
    impl.device = {DeviceType::meta, 0};
    impl.keys = KeySet(backend_key(DeviceType::meta)) | DispatchKey::trace;
    impl.forget_fill();
  }
  return true;
}

inline void Tracer::look_at_elements(const Tensor& t, SourceLine at) {
  int value = -1;
  for (const Made& m : made_)
    if (m.tensor.is_same(t)) {
      if (m.value < 0) return;  // made of literals and guarded numbers
      value = m.value;
    }
  if (value >= 0) builder_.fix_sizes_of(builder_.node(value), at);
  else if (!is_constant(t)) builder_.fix_all(at);
}

}  // namespace jit
}  // namespace tt
