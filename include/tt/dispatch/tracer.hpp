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

class Tracer {
 public:
  Graph graph;
  SymbolValues values;
  const bool constant;  ///< all sizes are numbers

  /// What is computed while gradients are disabled is detached.
  bool detaches = DispatchState::of_this_thread().grad_enabled;

  explicit Tracer(bool all_constant) : constant(all_constant), before_(current()), capture_before_(state().capture) {
    static const bool registered = [] {
      detail::register_kernels();
      Dispatcher::get().set_fallback(DispatchKey::trace, &Tracer::kernel);
      detail::inplace_hooks().has_traced_views = [](const Tensor& t) {
        return current() && current()->has_views(static_cast<int>(t.impl().trace_id));
      };
      return true;
    }();
    (void)registered;
    static std::atomic<std::uint64_t> captures = 0;
    number_ = ++captures;
    state().capture = number_;
    current() = this;
  }
  Tracer(const Tracer&) = delete;
  ~Tracer() {
    current() = before_;
    state().capture = capture_before_;
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
    if (impl.is_number || (impl.is_fill && impl.capture == number_ && impl.storage && t.version() == 0))
      return with_dtype(impl.dtype, [&]<class T>(T) {
        const T v = detail::first_element<T>(impl);
        const int id = std::is_floating_point_v<T> ? graph.constant(impl.dtype, static_cast<double>(v))
                                                   : graph.constant_bits(impl.dtype, encode_integer(impl.dtype, static_cast<std::int64_t>(v)));
        return graph.broadcast_to(id, symbolic_shape(IntList(impl.shape)));
      });
    TT_THROW(Error(Text("tt::compile: a Tensor was met that is not an argument: ") << name(impl.dtype) << ' ' << impl.shape
                   << ". Pass it as one." << at));
  }
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

  /// A view of this node's Tensor that is still held: it would not see a change in place.
  bool has_views(int id) const {
    for (const View& v : views_)
      if (v.root == root_of(id) && v.id != id && v.tensor.impl().uses.load(std::memory_order_relaxed) > 1) return true;
    return false;
  }

 private:
  struct View {
    Tensor tensor;
    int id, root;
  };
  std::vector<View> views_;
  int root_of(int id) const {
    for (const View& v : views_)
      if (v.id == id) return v.root;
    return id;
  }

  Tracer* before_;
  std::uint64_t capture_before_, number_ = 0;
  static DispatchState& state() { return DispatchState::of_this_thread(); }

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
  static void kernel(Call& c, void*) {
    Tracer* t = current();
    if (!t) TT_THROW(Error(Text("tt::compile: a recorded Tensor was used after the capture had ended.") << c.at));
    t->record(c);
  }
  void record(Call& c) {
    if (!c.op->record)
      TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": has no graph, so it cannot be captured." << c.at));
    int id[max_arguments] = {}, result[max_results] = {};
    for (int k = 0; k < c.arguments; ++k) id[k] = id_of(c[k], c.at);
    graph.where = c.at;
    graph.where_is_caller = true;
    if (c.op == &detail::reshape_operator())
      result[0] = graph.reshape(id[0], reshaped(Shape(graph[id[0]].shape), c.attrs().list(0)));
    else if (c.op == &detail::expand_operator())
      result[0] = graph.broadcast_to(id[0], symbolic_shape(c.attrs().list(0)));
    else c.op->record(graph, *c.op, id, c.attrs(), result);
    if (graph.failure || !graph.assumed.empty() || !graph.needed.empty()) {
      if (!constant) throw SizesNeeded{c.op->name(), c.at};
      graph.failure.where = c.at;
      TT_THROW(Error(describe(graph.failure)));
    }
    const bool detached = detaches && !state().grad_enabled;
    for (int k = 0; k < c.op->results; ++k)
      c.result[k] = tensor_of(detached && is_floating(graph[result[k]].dtype) ? graph.detach(result[k]) : result[k]);
    if (c.op->is_view) {
      c.result[0].impl().is_view = true;
      views_.push_back({c.result[0], result[0], root_of(id[0])});
    }
  }
};

}  // namespace tt
