// Definitions of tracer.hpp.
#pragma once
#include "tt/dispatch/tracer.hpp"

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
  for (int k = 0; k < graph[id].shape.rank; ++k) s.push_back(graph[id].shape[k].value(values));
  Tensor t(graph[id].dtype, s, {DeviceType::meta, 0});
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

TT_INLINE int Tracer::constant_of(const Tensor& t) {
  const detail::TensorImpl& impl = t.impl();
  return with_dtype(impl.dtype, [&]<class T>(T) {
    const T v = detail::first_element<T>(impl);
    const int id = std::is_floating_point_v<T> ? graph.constant(impl.dtype, static_cast<double>(v))
                                               : graph.constant_bits(impl.dtype, encode_integer(impl.dtype, static_cast<std::int64_t>(v)));
    return graph.broadcast_to(id, shape_of(t));
  });
}

TT_INLINE void Tracer::made(const Tensor& t, const Operator* op, const Tensor* const* numbers, int count) {
  if (!op) {
    if (t.impl().numel <= most_in_text) note(t, -1);
    return;
  }
  std::vector<int> id{graph.constant(t.dtype(), 0, shape_of(t))};
  int result = -1;
  for (int k = 0; k < count; ++k) id.push_back(constant_of(*numbers[k]));
  record(*op, id, no_attributes, {}, false, &result);
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
  record(*c.op, id, c.attrs(), c.at, detaches && !state().grad_enabled, result.data());
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
  record(*c.op, id, c.attrs(), c.at, detaches && !state().grad_enabled, result.data());
  if (made_by_.size() < static_cast<std::size_t>(graph.size())) made_by_.resize(static_cast<std::size_t>(graph.size()));
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

TT_INLINE void Tracer::record(const Operator& op, std::span<const int> id, const Attributes& attributes, SourceLine at, bool detached, int* result) {
  graph.where = at;
  graph.where_is_caller = true;
  if (options_.by_value && &op == &detail::reshape_operator())
    result[0] = graph.reshape(id[0], reshaped(Shape(graph[id[0]].shape), attributes.list(0)));
  else if (options_.by_value && &op == &detail::expand_operator())
    result[0] = graph.broadcast_to(id[0], symbolic_shape(attributes.list(0)));
  else op.record(graph, op, id, attributes, result);
  guard_recorded(op, {result, static_cast<std::size_t>(op.results)}, at);
  for (int k = 0; k < attributes.expression.size() && !attributes.heeded; ++k)  // it takes them for numbers
    if (attributes.is_expression(k)) guard_size(attributes.expression[k], attributes.value[k], attributes.value[k], at);
  for (int k = 0; k < op.results && detached; ++k)
    if (is_floating(graph[result[k]].dtype)) result[k] = graph.detach(result[k]);
}

TT_INLINE void Tracer::guard_recorded(const Operator& op, std::span<const int> result, SourceLine at) {
  if (!graph.failure && graph.assumed.empty() && !options_.by_value) {
    for (const Graph::Needed& n : graph.needed) {
      if (n.extent.value(values) >= n.least) {
        guard_size(n.extent, n.least, INT64_MAX, at);
      } else {
        graph.failure = n.otherwise;
        graph.failure.number = Extent::from_code(n.otherwise.number).value(values);  // it may be an expression
        graph.failure.where = at;
        fail();
      }
    }
    graph.needed.clear();
    for (int id : result)
      for (int k = 0; k < graph[id].shape.rank; ++k) guard_corner(graph[id].shape[k], at);
    return;
  }
  if (graph.failure || !graph.assumed.empty() || !graph.needed.empty()) {
    if (!as_numbers.all) throw needed = SizesNeeded{op.name(), at, detail::sizes_needed(graph, as_numbers), guards_but_for_fixed()};
    graph.failure.where = at;
    fail();
  }
}

TT_INLINE void Tracer::guard_corner(Extent e, SourceLine at) {
  if (e.is_constant() || e.least() >= 2) return;
  const std::int64_t v = e.value(values);
  if (v >= 2) return guard_size(e, 2, INT64_MAX, at);
  guard_size(e, v, v, at);
  SizeGuard corner{e, v, v, at};
  corner.normalize();
  corners.push_back(corner);
}

TT_INLINE void Tracer::look_at_elements(const Tensor& t, SourceLine at) {
  int id = -1;
  for (const Made& m : made_)
    if (m.tensor.is_same(t)) {
      if (m.id < 0) return;  // of the program's text
      id = m.id;
    }
  if (id < 0 && is_constant(t)) return;
  if (id < 0) return fix_all(at);
  SizeSet hangs_on;
  for (int i : post_order(graph, {id})) {
    for (int k = 0; k < graph[i].shape.rank; ++k) hangs_on |= symbols_of(graph[i].shape[k]);
    if (graph[i].op == Op::extent) hangs_on |= symbols_of(Extent::from_code(graph[i].attribute));
  }
  if (fixed.empty()) fixed_at = at;
  fixed |= hangs_on;
}

TT_INLINE void Tracer::guard_size(Extent e, std::int64_t least, std::int64_t most, SourceLine at) {
  if (e.is_constant()) return;
  SizeGuard g{e, least, most, at};
  g.normalize();
  if (g.least >= g.most) {
    if (fixed.empty()) fixed_at = at;
    fixed |= symbols_of(e);
    return;
  }
  if (g.says_nothing()) return;
  for (SizeGuard& known : guards)
    if (known.extent == g.extent) {
      known.least = g.least > known.least ? g.least : known.least;
      known.most = g.most < known.most ? g.most : known.most;
      known.at = at.line ? at : known.at;
      if (known.least == known.most) fixed |= symbols_of(e);
      return;
    }
  guards.push_back(g);
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
  if (id < 0 && !is_known) fix_all({});  // made of others, it is not known how
  const Shape s = id >= 0 ? graph[id].shape : shape_of(t);
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
  Tensor v = tensor_of(graph_variable(graph, id_of(t)));
  v.impl().requires_grad = true;
  return v;
}

TT_INLINE bool Tracer::gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) {
  Vec<int> ids;
  for (int k = 0; k < count; ++k) ids.push_back(id_of(variables[k]));
  const Vec<int> d = tt::gradients(graph, id_of(value), ids);
  if (graph.failure) fail();
  for (int k = 0; k < count; ++k) result[k] = tensor_of(d[k]);
  return true;
}

TT_INLINE bool Tracer::has_views(int id) const {
  for (const View& v : views_)
    if (v.root == root_of(id) && v.id != id && v.tensor.impl().uses.load(std::memory_order_relaxed) > 1) return true;
  return false;
}

/// The function may catch the error, as it would the op's own, and go on without the node.
[[noreturn]] TT_INLINE void Tracer::fail() {
  const Failure f = graph.failure;
  graph.failure = {};
  graph.assumed.clear();
  graph.needed.clear();
  TT_THROW(Error(describe(f)));
}

[[noreturn]] TT_INLINE void Tracer::stop(const Tensor& t, const char* op, SourceLine at) {
  const std::size_t id = t.defined() && t.impl().capture == capture_number ? static_cast<std::size_t>(t.impl().trace_id) : made_by_.size();
  const char* const made_by = id < made_by_.size() ? made_by_[id] : nullptr;
  if (!at.line && made_by) at = graph[static_cast<int>(id)].where;
  const Text what = t.defined() ? detail::break_in_words(op, t, made_by) : Text(op);
  if (broken.empty()) {
    broken = what;
    broken_at = at;
  }
  if (options_.breaks) throw GraphBreak{what, at};
  TT_THROW(Error(Text("tt::") << options_.who << what << ". Return it, and look at it outside?" << at));
}

TT_INLINE Shape Tracer::reshaped(const Shape& from, const IntList& sizes) const {
  Shape to = symbolic_shape(sizes);
  for (int k = 0; k < to.rank && to.size() != from.size(); ++k) {
    Extent others = 1, q;
    for (int j = 0; j < to.rank; ++j)
      if (j != k) others = others * to[j];
    if (divide(from.size(), others, q) && q.value(values) == sizes.value(k)) to.set(k, q);
  }
  return to;
}

}  // namespace tt
