// Definitions of tracer.hpp.
#pragma once
#include "tt/jit/graph_builder_inl.hpp"
#include "tt/jit/tracer.hpp"

namespace tt {
namespace detail {

TT_INLINE void register_captures() {
  static const bool registered = [] {
    register_kernels();
    Dispatcher::get().set_fallback(DispatchKey::trace, [](Call& c, void*) {
      if (!capture_mode) TT_THROW(Error(Text("tt::compile: a recorded Tensor was used after the capture had ended.") << c.at));
      capture_mode->record(c);
    });
    return true;
  }();
  (void)registered;
}

[[noreturn]] TT_INLINE void refuse_foreign(const Tensor& t, SourceLine at) {
  TT_THROW(Error(Text("tt::compile: a Tensor was met that is not an argument: ") << name(t.dtype()) << ' ' << t.shape()
                 << ". Pass it as one, or let the function hold it: tt::frozen(f)." << at));
}

TT_INLINE Text break_in_words(const char* op, const Tensor& t, const char* made_by) {
  Text what;
  what << op << (op[std::strlen(op) - 1] == ':' ? " " : " of ") << name(t.dtype()) << ' ' << t.shape();
  if (made_by && *made_by) what << ", made by " << made_by;
  return what;
}

}  // namespace detail

TT_INLINE Tensor Tracer::tensor_of(int id) {
  Shape s;
  const Node n = builder.graph[id];
  for (int k = 0; k < n.shape.rank; ++k) s.push_back(n.shape[k].value(builder.values));
  Tensor t(n.dtype, s, {DeviceType::meta, 0});
  t.impl().keys = t.impl().keys | DispatchKey::trace;
  t.impl().trace_id = id;
  t.impl().capture = capture_number;
  return t;
}

TT_INLINE Tensor ViewStep::of(const Tensor& t, const SymbolValues& symbols, SourceLine at) const {
  if (attributes.expression.empty()) return detail::call_unary(*op, t, attributes, at);
  Attributes now;
  for (int k = 0; k < attributes.size(); ++k) now.push(attributes.is_expression(k) ? attributes.expression[k].value(symbols) : attributes.value[k]);
  return detail::call_unary(*op, t, now, at);
}

TT_INLINE const detail::TensorImpl* Tracer::steps_to(const Tensor& t, std::vector<ViewStep>& steps) const {
  const detail::TensorImpl* at = &t.impl();
  for (std::size_t k = views_.size(); k-- > 0;)
    if (&views_[k].tensor.impl() == at) {
      steps.insert(steps.begin(), views_[k].step);
      at = views_[k].base;
    }
  return at;
}

TT_INLINE int Tracer::id_of(const Tensor& t, SourceLine at) {
  const detail::TensorImpl& impl = t.impl();
  if (impl.trace_id >= 0) {
    if (impl.capture != capture_number)
      TT_THROW(Error(Text("tt::compile: a Tensor of another capture was used.") << at));
    return static_cast<int>(impl.trace_id);
  }
  for (const Held& h : held_)
    if (h.tensor.is_same(t)) return h.id;
  if (const int id = known(t); id >= 0) return id;
  if (is_constant(t)) return constant_of(t);
  if (impl.capture == capture_number) stop(t, "a Tensor that the function makes, which is no constant:", at);
  if (options_.holds) throw TensorMet{t};
  detail::refuse_foreign(t, at);
}

TT_INLINE void Tracer::made(const Tensor& t, const Operator* op, const Tensor* const* numbers, int count) {
  if (!op) {
    if (t.impl().numel <= most_in_text) note(t, -1);
    return;
  }
  std::vector<int> id{builder.graph.constant(t.dtype(), 0, shape_of(t))};
  int result = -1;
  for (int k = 0; k < count; ++k) id.push_back(constant_of(*numbers[k]));
  record(*op, id, no_attributes, {}, &result);
  note(t, result);
}

TT_INLINE int Tracer::known(const Tensor& t) {
  for (Made& m : made_)
    if (m.tensor.is_same(t) && m.version == t.version() && !t.impl().requires_grad)  // the tape has it
      return m.id >= 0 ? m.id : m.id = text_of(t);
  return -1;
}

TT_INLINE int Tracer::text_of(const Tensor& t) {
  const Tensor elements = detail::to_device(t, Device{}, false, {});
  const std::int64_t n = t.impl().numel;
  Tensor one(t.dtype(), Shape{});
  const auto element = [&](std::int64_t k) {
    const auto size = static_cast<std::size_t>(tt::size_of(t.dtype()));
    if (n > 0) std::memcpy(one.impl().data, elements.impl().data + static_cast<std::size_t>(k) * size, size);
    else std::memset(one.impl().data, 0, size);
    return constant_of(one);
  };
  const int first = element(0);
  Graph& graph = builder.graph;
  int r = graph.broadcast_to(first, t.impl().shape);
  const Sym place = detail::flat_index({&graph, r});
  for (std::int64_t k = 1; k < n; ++k)
    if (const int other = element(k); other != first)
      r = graph.where_(graph.elementwise(Op::eq, {place.id, graph.constant_integer(DType::i64, k)}), other, r);
  return r;
}

/// An op on Tensors that are all there runs; where they are known, so is what it makes.
TT_INLINE bool Tracer::run_at_once(Call& c) {
  bool own = true, all_known = c.op->record != nullptr;
  for (int k = 0; k < c.arguments; ++k) {
    if (c[k].impl().trace_id >= 0) return false;
    own = own && made_here(c[k]);
    all_known = all_known && !c[k].impl().requires_grad;  // the tape has it
  }
  if (!own && options_.holds) return false;
  std::vector<int> id(static_cast<std::size_t>(c.arguments)), result(static_cast<std::size_t>(c.op->results));
  for (int k = 0; k < c.arguments && all_known; ++k) {
    int& in = id[static_cast<std::size_t>(k)];
    in = own ? known(c[k]) : -1;
    if (in < 0 && own && is_constant(c[k])) {
      in = constant_of(c[k]);
      if (c.op->is_view) note(c[k], in);  // the view may be written to, but then the version tells
    }
    all_known = in >= 0;
  }
  {
    const detail::PauseCapture pause;
    Dispatcher::get().call(c);
  }
  if (!own) return true;
  for (int k = 0; k < c.op->results; ++k) detail::stamp(c.result[k]);
  if (!all_known) return true;
  record(*c.op, id, c.attrs(), c.at, result.data());
  for (int k = 0; k < c.op->results; ++k) note(c.result[k], result[static_cast<std::size_t>(k)]);
  return true;
}

TT_INLINE void Tracer::record(Call& c) {
  if (run_at_once(c)) return;
  if (!c.op->record) {
    stop(c.arguments ? c[0] : Tensor(), c.op->name(), c.at);
    return;
  }
  std::vector<int> id(static_cast<std::size_t>(c.arguments)), result(static_cast<std::size_t>(c.op->results));
  bool required = false;
  for (int k = 0; k < c.arguments; ++k) {
    id[static_cast<std::size_t>(k)] = id_of(c[k], c.at);
    required = required || c[k].impl().requires_grad;
  }
  record(*c.op, id, c.attrs(), c.at, result.data());
  if (made_by_.size() < static_cast<std::size_t>(builder.graph.size())) made_by_.resize(static_cast<std::size_t>(builder.graph.size()));
  for (int r : result) made_by_[static_cast<std::size_t>(r)] = c.op->name();
  required = required && state().grad_enabled && c.op != &detail::detach_operator();
  for (int k = 0; k < c.op->results; ++k) {
    c.result[k] = tensor_of(result[static_cast<std::size_t>(k)]);
    c.result[k].impl().requires_grad = required && is_floating(c.result[k].dtype());
  }
  if (c.op->is_view) {
    c.result[0].impl().is_view = true;
    views_.push_back({c.result[0], result[0], root_of(id[0]), &c[0].impl(), {c.op, c.attrs()}});
  }
}

TT_INLINE void Tracer::look_at_elements(const Tensor& t, SourceLine at) {
  int id = -1;
  for (const Made& m : made_)
    if (m.tensor.is_same(t)) {
      if (m.id < 0) return;  // of the program's text
      id = m.id;
    }
  if (id < 0 && is_constant(t)) return;
  if (id < 0) builder.fix_all(at);
  else builder.fix_sizes_of(id, at);
}

TT_INLINE void Tracer::need(const Tensor& t, const char* op, SourceLine at) {
  const detail::TensorImpl& impl = t.impl();
  if (impl.trace_id >= 0 ? impl.capture == capture_number : options_.holds && !made_here(t) && std::strcmp(op, "data") != 0) stop(t, op, at);
  if (impl.trace_id < 0 && !made_here(t) && std::strcmp(op, "data") != 0) detail::refuse_foreign(t, at);
  if (impl.trace_id < 0 && made_here(t)) look_at_elements(t, at);
}

TT_INLINE void Tracer::may_be_written(const Tensor& t) {
  std::erase_if(made_, [&](const Made& m) { return m.tensor.is_same(t) || m.tensor.shares_storage(t); });
}

TT_INLINE Extent Tracer::size_of(const Tensor& t, int axis) {
  const detail::TensorImpl& impl = t.impl();
  int id = impl.trace_id >= 0 && impl.capture == capture_number ? static_cast<int>(impl.trace_id) : -1;
  for (const Held& h : held_)
    if (id < 0 && h.tensor.is_same(t)) id = h.id;
  bool is_known = !made_here(t) || is_constant(t);
  for (const Made& m : made_)
    if (id < 0 && m.tensor.is_same(t)) {
      id = m.id;
      is_known = true;
    }
  if (id < 0 && !is_known) builder.fix_all({});  // made of others, it is not known how
  const Shape s = id >= 0 ? builder.graph[id].shape : shape_of(t);
  return axis < 0 ? s.size() : s[axis];
}

TT_INLINE bool Tracer::begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) {
  detail::TensorImpl& impl = target.impl();
  if (impl.trace_id < 0) {
    bool held = false;
    for (const Held& h : held_) held = held || h.tensor.is_same(target);
    if (!held && !made_here(target)) (void)id_of(target, at);  // throws
    const bool is_known = !held && made_here(target) && (is_constant(target) || known(target) >= 0);
    if (is_known && (impl.is_view || shares_made(target))) stop(target, op, at);
    if (!held && !is_known) {
      if (!other) return false;
      if (other->impl().trace_id >= 0) stop(target, op, at);
      if (!made_here(*other)) {
        (void)id_of(*other, at);  // throws, if it is not held
        stop(target, op, at);     // what is held has other elements at the next call
      }
      return false;
    }
    if (held) return true;
    become(target, id_of(target, at));
  }
  if (impl.is_view || has_views(static_cast<int>(impl.trace_id))) {
    stop(target, op, at);
  }
  return true;
}

TT_INLINE void Tracer::finish_update(Tensor& target, const Tensor& value, const char*, SourceLine at) {
  const int id = id_of(value, at);
  for (Held& h : held_)
    if (h.tensor.is_same(target)) {
      h.id = id;
      return;
    }
  target.impl().trace_id = id;
  target.impl().requires_grad = value.impl().requires_grad;
}

TT_INLINE Tensor Tracer::variable(const Tensor& t) {
  Tensor v = tensor_of(builder.variable(id_of(t)));
  v.impl().requires_grad = true;
  return v;
}

TT_INLINE bool Tracer::gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) {
  Vec<int> ids;
  for (int k = 0; k < count; ++k) ids.push_back(id_of(variables[k]));
  std::vector<int> id(static_cast<std::size_t>(count));
  builder.gradients(id_of(value), ids, id.data());
  for (int k = 0; k < count; ++k) result[k] = tensor_of(id[static_cast<std::size_t>(k)]);
  return true;
}

TT_INLINE bool Tracer::has_views(int id) const {
  for (const View& v : views_)
    if (v.root == root_of(id) && v.id != id && v.tensor.impl().uses.load(std::memory_order_relaxed) > 1) return true;
  return false;
}

[[noreturn]] TT_INLINE void Tracer::stop(const Tensor& t, const char* op, SourceLine at) {
  const std::size_t id = t.defined() && t.impl().capture == capture_number ? static_cast<std::size_t>(t.impl().trace_id) : made_by_.size();
  const char* const made_by = id < made_by_.size() ? made_by_[id] : nullptr;
  if (!at.line && made_by) at = builder.graph[static_cast<int>(id)].where;
  const Text what = t.defined() ? detail::break_in_words(op, t, made_by) : Text(op);
  if (broken.empty()) {
    broken = what;
    broken_at = at;
  }
  if (options_.breaks) throw GraphBreak{what, at};
  TT_THROW(Error(Text("tt::") << options_.who << what << ". Return it, and look at it outside?" << at));
}

}  // namespace tt
