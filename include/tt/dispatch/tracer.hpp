// Capture: while a Tracer is active, ops on its Tensors are recorded into one graph instead of being
// run. Its Tensors have dtype and shape but no elements; sizes are symbols where they can be.
//   Tracer t;  Tensor x = t.input(example);  Tensor y = f(x);  t.graph.output(t.id_of(y));
#pragma once
#include <vector>

#include "tt/dispatch/methods.hpp"
#include "tt/graph/differentiate.hpp"

namespace tt {

/// Thrown inside a capture when something needs a size as a number: it begins again with all sizes known.
struct SizesNeeded {
  const char* why = "";
  SourceLine at{};
};
/// Thrown inside a capture where elements are needed, which it does not have.
struct GraphBreak {
  Text what;
  SourceLine at{};
};
/// Thrown inside a capture that may take Tensors that were not passed: it begins again with this one too.
struct TensorMet {
  Tensor tensor;
};

/// What a capture does beside recording.
struct TracerOptions {
  bool constant = false;   ///< all sizes are numbers
  bool breaks = false;     ///< a graph break is thrown as GraphBreak, else it is an error, which
  Text who{};              ///< begins so
  bool holds = false;      ///< Tensors that are met are held, else they are errors
};

namespace detail {

/// When the first capture begins.
inline void register_captures() {
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
inline std::uint64_t next_capture() {
  static std::atomic<std::uint64_t> captures = 0;
  return ++captures;
}
[[noreturn]] inline void refuse_foreign(const Tensor& t, SourceLine at) {
  TT_THROW(Error(Text("tt::compile: a Tensor was met that is not an argument: ") << name(t.dtype()) << ' ' << t.shape()
                 << ". Pass it as one, or let the function hold it: tt::frozen(f)." << at));
}
/// What a graph break says: which op asked for the elements of what.
inline Text break_in_words(const char* op, const Tensor& t, const char* made_by) {
  Text what;
  what << op << (op[std::strlen(op) - 1] == ':' ? " " : " of ") << name(t.dtype()) << ' ' << t.shape();
  if (made_by && *made_by) what << ", made by " << made_by;
  return what;
}

}  // namespace detail

class Tracer final : public detail::CaptureMode {
 public:
  Graph graph;
  SymbolValues values;
  const bool constant;  ///< all sizes are numbers
  Text broken;          ///< what the first graph break says, though the function may have caught it
  SourceLine broken_at{};

  /// What is computed while gradients are disabled is detached.
  bool detaches = DispatchState::of_this_thread().grad_enabled;

  explicit Tracer(TracerOptions o)
      : constant(o.constant), options_(o), before_(current()), mode_before_(detail::capture_mode), state_before_(state()) {
    detail::register_captures();
    number_ = detail::next_capture();
    state().capture = number_;
    if (options_.holds) state().include = state().include | DispatchKey::trace;  // what is met is recorded, not computed
    detail::capture_mode = this;
    current() = this;
  }
  Tracer(const Tracer&) = delete;
  ~Tracer() {
    current() = before_;
    detail::capture_mode = mode_before_;
    state().capture = state_before_.capture;
    state().include = state_before_.include;
  }
  /// The innermost one of this thread, or null.
  static Tracer*& current() {
    thread_local Tracer* tracer = nullptr;
    return tracer;
  }

  Tensor input(DType dtype, const Shape& symbolic, const Shape& strides = {}) {
    return tensor_of(graph.input(dtype, symbolic, strides));
  }
  /// A Tensor that stands for a node.
  Tensor tensor_of(int id) {
    Shape s;
    for (int k = 0; k < graph[id].shape.rank; ++k) s.push_back(graph[id].shape[k].value(values));
    Tensor t(graph[id].dtype, s, {DeviceType::meta, 0});
    t.impl().keys = t.impl().keys | DispatchKey::trace;
    t.impl().trace_id = id;
    t.impl().capture = number_;
    return t;
  }
  /// The node of a Tensor: its own, or a constant for a number. What else was computed outside is refused.
  int id_of(const Tensor& t, SourceLine at = {}) {
    const detail::TensorImpl& impl = t.impl();
    if (impl.trace_id >= 0) {
      if (impl.capture != number_)
        TT_THROW(Error(Text("tt::compile: a Tensor of another capture was used.") << at));
      return static_cast<int>(impl.trace_id);
    }
    for (const Held& h : held_)
      if (h.tensor.is_same(t)) return h.id;
    if (is_constant(t)) return constant_of(t);
    if (impl.capture == number_) stop(t, "a Tensor that the function makes, which is no constant:", at);
    if (options_.holds) throw TensorMet{t};
    detail::refuse_foreign(t, at);
  }
  /// A Tensor whose elements are equal, as a constant.
  int constant_of(const Tensor& t) {
    const detail::TensorImpl& impl = t.impl();
    return with_dtype(impl.dtype, [&]<class T>(T) {
      const T v = detail::first_element<T>(impl);
      const int id = std::is_floating_point_v<T> ? graph.constant(impl.dtype, static_cast<double>(v))
                                                 : graph.constant_bits(impl.dtype, encode_integer(impl.dtype, static_cast<std::int64_t>(v)));
      return graph.broadcast_to(id, symbolic_shape(IntList(impl.shape)));
    });
  }
  /// From now on `t`, which was computed outside, is this node.
  void hold(const Tensor& t, int id) { held_.push_back({t, id}); }
  /// Sizes as extents: a size that a symbol has is that symbol.
  Shape symbolic_shape(const IntList& sizes) const {
    Shape s;
    for (std::int64_t n : sizes) s.push_back(extent_of(n));
    return s;
  }
  Extent extent_of(std::int64_t n) const {
    if (!constant && n > 1)
      for (int k = 0; k < max_symbols; ++k)
        if (values.value[k] == n) return Extent::symbol(k);
    return n;
  }

  void record(Call& c) override {
    if (!c.op->record) {
      stop(c.arguments ? c[0] : Tensor(), c.op->name(), c.at);
      return;
    }
    int id[max_arguments] = {}, result[max_results] = {};
    bool required = false;
    for (int k = 0; k < c.arguments; ++k) {
      id[k] = id_of(c[k], c.at);
      required = required || c[k].impl().requires_grad;
    }
    record(*c.op, id, c.attrs(), c.at, detaches && !state().grad_enabled, result);
    if (made_by_.size() < static_cast<std::size_t>(graph.size())) made_by_.resize(static_cast<std::size_t>(graph.size()));
    for (int k = 0; k < c.op->results; ++k) made_by_[static_cast<std::size_t>(result[k])] = c.op->name();
    required = required && state().grad_enabled && c.op != &detail::detach_operator();
    for (int k = 0; k < c.op->results; ++k) {
      c.result[k] = tensor_of(result[k]);
      c.result[k].impl().requires_grad = required && is_floating(c.result[k].dtype());
    }
    if (c.op->is_view) {
      c.result[0].impl().is_view = true;
      views_.push_back({c.result[0], result[0], root_of(id[0])});
    }
  }
  /// The same for nodes.
  void record(const Operator& op, const int* id, const Attributes& attributes, SourceLine at, bool detached, int* result) {
    graph.where = at;
    graph.where_is_caller = true;
    if (&op == &detail::reshape_operator())
      result[0] = graph.reshape(id[0], reshaped(Shape(graph[id[0]].shape), attributes.list(0)));
    else if (&op == &detail::expand_operator())
      result[0] = graph.broadcast_to(id[0], symbolic_shape(attributes.list(0)));
    else op.record(graph, op, id, attributes, result);
    if (graph.failure || !graph.assumed.empty() || !graph.needed.empty()) {
      if (!constant) throw SizesNeeded{op.name(), at};
      graph.failure.where = at;
      TT_THROW(Error(describe(graph.failure)));
    }
    for (int k = 0; k < op.results && detached; ++k)
      if (is_floating(graph[result[k]].dtype)) result[k] = graph.detach(result[k]);
  }

  void need(const Tensor& t, const char* op, SourceLine at) override {
    const detail::TensorImpl& impl = t.impl();
    if (impl.trace_id >= 0 ? impl.capture == number_ : options_.holds && !made_here(t) && std::strcmp(op, "data") != 0) stop(t, op, at);
    if (impl.trace_id < 0 && !made_here(t) && std::strcmp(op, "data") != 0) detail::refuse_foreign(t, at);
  }
  bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) override {
    detail::TensorImpl& impl = target.impl();
    if (impl.trace_id < 0) {
      bool held = false;
      for (const Held& h : held_) held = held || h.tensor.is_same(target);
      if (!held && !made_here(target)) (void)id_of(target, at);  // throws
      if (!held && !is_constant(target)) {
        if (!other || other->impl().trace_id < 0) return false;
        stop(target, op, at);
      }
      if (held) return true;
      become(target, id_of(target, at));  // a fresh fill
    }
    if (impl.is_view || has_views(static_cast<int>(impl.trace_id))) {
      stop(target, op, at);
    }
    return true;
  }
  void finish_update(Tensor& target, const Tensor& value, const char*, SourceLine at) override {
    const int id = id_of(value, at);
    for (Held& h : held_)
      if (h.tensor.is_same(target)) {
        h.id = id;
        return;
      }
    target.impl().trace_id = id;
    target.impl().requires_grad = value.impl().requires_grad;
  }

  // Gradients inside of the function become part of the graph.
  void open_gradient() override {
    detaches_before_.push_back(detaches);
    detaches = true;
  }
  void close_gradient() override {
    detaches = detaches_before_.back();
    detaches_before_.pop_back();
  }
  Tensor variable(const Tensor& t) override {
    Tensor v = tensor_of(graph_variable(graph, id_of(t)));
    v.impl().requires_grad = true;
    return v;
  }
  bool gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) override {
    Vec<int> ids;
    for (int k = 0; k < count; ++k) ids.push_back(id_of(variables[k]));
    const Vec<int> d = tt::gradients(graph, id_of(value), ids);
    if (graph.failure) TT_THROW(Error(describe(graph.failure)));
    for (int k = 0; k < count; ++k) result[k] = tensor_of(d[k]);
    return true;
  }
  /// A node like `id` that is no other one.
  static int graph_variable(Graph& g, int id) {
    const Node n = g[id];
    return g.intern({.op = Op::copy, .dtype = n.dtype, .operand = {id, -1, -1, -1}, .attribute = -1 - g.size(), .shape = n.shape});
  }

 private:
  struct View {
    Tensor tensor;
    int id, root;
  };
  struct Held {
    Tensor tensor;
    int id;
  };
  TracerOptions options_;
  std::vector<View> views_;
  std::vector<Held> held_;
  std::vector<char> detaches_before_;
  std::vector<const char*> made_by_;  ///< the op that each node is the result of, where it is one's
  Tracer* before_;
  CaptureMode* mode_before_;
  DispatchState state_before_;
  std::uint64_t number_ = 0;
  static DispatchState& state() { return DispatchState::of_this_thread(); }

  int root_of(int id) const {
    for (const View& v : views_)
      if (v.id == id) return v.root;
    return id;
  }
  /// A view of this node's Tensor that is still held: it would not see a change in place.
  bool has_views(int id) const {
    for (const View& v : views_)
      if (v.root == root_of(id) && v.id != id && v.tensor.impl().uses.load(std::memory_order_relaxed) > 1) return true;
    return false;
  }
  bool made_here(const Tensor& t) const { return t.impl().is_number || t.impl().capture == number_; }
  /// A number of the program's text, or a fill that nothing has changed.
  bool is_constant(const Tensor& t) const {
    const detail::TensorImpl& impl = t.impl();
    return impl.is_number || (impl.is_fill && impl.capture == number_ && impl.storage && t.version() == 0);
  }
  void become(Tensor& t, int id) {
    detail::TensorImpl& impl = t.impl();
    impl.device = {DeviceType::meta, 0};
    impl.keys = KeySet(backend_key(DeviceType::meta)) | DispatchKey::trace;
    impl.is_fill = false;
    impl.trace_id = id;
  }
  [[noreturn]] void stop(const Tensor& t, const char* op, SourceLine at) {
    const std::size_t id = t.defined() && t.impl().capture == number_ ? static_cast<std::size_t>(t.impl().trace_id) : made_by_.size();
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

  /// a / b, if that is an extent again.
  static bool divide(Extent a, Extent b, Extent& q) {
    if (b.coefficient() == 0 || a.coefficient() % b.coefficient() != 0) return false;
    for (int k = 0; k < max_symbols; ++k)
      if (a.exponent(k) < b.exponent(k)) return false;
    const std::int64_t exponents = a.exponents() - b.exponents(), c = a.coefficient() / b.coefficient();
    q = exponents == 0 ? Extent(c) : Extent::product(c, exponents);
    return true;
  }
  /// The shape of a reshape: where a size is no symbol's, it may be what the others leave.
  Shape reshaped(const Shape& from, const IntList& sizes) const {
    Shape to = symbolic_shape(sizes);
    for (int k = 0; k < to.rank && to.size() != from.size(); ++k) {
      Extent others = 1, q;
      for (int j = 0; j < to.rank; ++j)
        if (j != k) others = others * to[j];
      if (divide(from.size(), others, q) && q.value(values) == sizes[k]) to.set(k, q);
    }
    return to;
  }
};

}  // namespace tt
