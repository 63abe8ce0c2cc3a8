// Capture: while a Tracer is active, ops on its Tensors are recorded into one graph instead of being
// run. Its Tensors have dtype and shape but no elements; sizes are symbols where they can be.
//   Tracer t;  Tensor x = t.input(example);  Tensor y = f(x);  t.graph.output(t.id_of(y));
#pragma once
#include <vector>

#include "tt/jit/graph_builder.hpp"

namespace tt {

namespace detail {

/// When the first capture begins.
TT_INLINE void register_captures();
inline std::uint64_t next_capture() {
  static std::atomic<std::uint64_t> captures = 0;
  return ++captures;
}
[[noreturn]] TT_INLINE void refuse_foreign(const Tensor& t, SourceLine at);
/// What a graph break says: which op asked for the elements of what.
TT_INLINE Text break_in_words(const char* op, const Tensor& t, const char* made_by);

}  // namespace detail

/// How a view was made.
struct ViewStep {
  const Operator* op = nullptr;
  Attributes attributes;

  /// The same view of a Tensor that is there.
  TT_INLINE Tensor of(const Tensor& t, const SymbolValues& symbols, SourceLine at) const;
};

class Tracer final : public detail::CaptureMode {
 public:
  jit::GraphBuilder builder;
  Text broken;          ///< what the first graph break says, though the function may have caught it
  SourceLine broken_at{};
  Device runs_on{};     ///< where the function's arguments are

  /// What is computed while gradients are disabled is detached.
  bool detaches = DispatchState::of_this_thread().grad_enabled;

  explicit Tracer(TracerOptions o)
      : builder(o.as_numbers, false), options_(o), before_(current()), mode_before_(detail::capture_mode), state_before_(state()) {
    detail::register_captures();
    capture_number = detail::next_capture();
    state().capture = capture_number;
    state().include = state().include | DispatchKey::trace;  // what is met or made is known, not only computed
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
    return tensor_of(builder.graph.input(dtype, symbolic, strides));
  }
  /// A Tensor that stands for a node.
  TT_INLINE Tensor tensor_of(int id);
  /// The node of a Tensor: its own, or a constant for a number. What else was computed outside is refused.
  TT_INLINE int id_of(const Tensor& t, SourceLine at = {});
  /// From now on `t`, which was computed outside, is this node.
  void hold(const Tensor& t, int id) { held_.push_back({t, id}); }
  /// The steps that a view was made by, from the Tensor that is returned: the one it is a view of, or itself.
  TT_INLINE const detail::TensorImpl* steps_to(const Tensor& t, std::vector<ViewStep>& steps) const;

  TT_INLINE void record(Call& c) override;

  TT_INLINE void need(const Tensor& t, const char* op, SourceLine at) override;
  TT_INLINE void may_be_written(const Tensor& t) override;
  TT_INLINE Extent size_of(const Tensor& t, int axis) override;
  void guard_size(Extent e, std::int64_t least, std::int64_t most, SourceLine at) override { builder.guard_size(e, least, most, at); }
  std::uint64_t exceptions_before = detail::exceptions_made;
  TT_INLINE bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) override;
  TT_INLINE void finish_update(Tensor& target, const Tensor& value, const char*, SourceLine at) override;

  Device device() const override { return runs_on; }
  bool hears_of_factories() const override { return true; }
  TT_INLINE void made(const Tensor& t, const Operator* op, const Tensor* const* numbers, int count) override;
  void made_of_sizes(const Tensor& t, const IntList& sizes) override {
    Shape s;
    for (int k = 0; k < sizes.size(); ++k) {
      s.push_back(sizes.extent(k));
      builder.guard_corner(sizes.extent(k), {});
    }
    sized_.push_back({t, s});
  }
  void made_of_size(const Tensor& t, Extent e) override { note(t, builder.graph.extent(t.dtype(), e)); }

  // Gradients inside of the function become part of the graph.
  void open_gradient() override {
    detaches_before_.push_back(detaches);
    detaches = true;
  }
  void close_gradient() override {
    detaches = detaches_before_.back();
    detaches_before_.pop_back();
  }
  TT_INLINE Tensor variable(const Tensor& t) override;
  TT_INLINE bool gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) override;

 private:
  struct View {
    Tensor tensor;
    int id, root;
    const detail::TensorImpl* base;  ///< perhaps of a Tensor that is no more, and then of no earlier view
    ViewStep step;
  };
  struct Held {
    Tensor tensor;
    int id;
  };
  /// What the function makes is there, so that it can be looked at, and also a node. Changed in place it is neither.
  struct Made {
    Tensor tensor;
    int id;  ///< -1: elements of the program's text, nodes when they are used
    std::uint32_t version;
  };
  /// What is there, of sizes that are expressions.
  struct Sized {
    Tensor tensor;
    Shape shape;
  };
  static constexpr std::int64_t most_in_text = 16;
  TracerOptions options_;
  std::vector<View> views_;
  std::vector<Held> held_;
  std::vector<Made> made_;
  std::vector<Sized> sized_;
  std::vector<char> detaches_before_;
  std::vector<const char*> made_by_;  ///< the op that each node is the result of, where it is one's
  Tracer* before_;
  CaptureMode* mode_before_;
  DispatchState state_before_;
  static DispatchState& state() { return DispatchState::of_this_thread(); }

  int root_of(int id) const {
    for (const View& v : views_)
      if (v.id == id) return v.root;
    return id;
  }
  /// A view of this node's Tensor that is still held: it would not see a change in place.
  TT_INLINE bool has_views(int id) const;
  /// The shape of what is there, as it is recorded.
  Shape shape_of(const Tensor& t) const {
    for (const Sized& s : sized_)
      if (s.tensor.is_same(t)) return s.shape;
    return builder.symbolic_shape(t.impl().shape);
  }
  int constant_of(const Tensor& t) { return builder.constant(t, shape_of(t)); }
  TT_INLINE void record(const Operator& op, std::span<const int> id, const Attributes& attributes, SourceLine at, int* result) {
    builder.call(op, id, attributes, at, detaches && !state().grad_enabled, result);
  }
  /// Elements of `t`, which the function made, are looked at: the sizes that they hang on are numbers.
  TT_INLINE void look_at_elements(const Tensor& t, SourceLine at);
  /// The node of what was made here, and is as it was; -1: none.
  TT_INLINE int known(const Tensor& t);
  TT_INLINE int text_of(const Tensor& t);
  TT_INLINE bool run_at_once(Call& c);
  void note(const Tensor& t, int id) {  // what nobody else holds cannot be named any more
    std::erase_if(made_, [](const Made& m) { return m.tensor.impl().uses.load(std::memory_order_relaxed) == 1; });
    made_.push_back({t, id, t.version()});
  }
  /// Another Tensor that was made here, and is in use, over the same memory.
  bool shares_made(const Tensor& t) const {
    for (const Made& m : made_)
      if (!m.tensor.is_same(t) && m.tensor.shares_storage(t) && m.tensor.impl().uses.load(std::memory_order_relaxed) > 1) return true;
    return false;
  }
  bool made_here(const Tensor& t) const { return t.impl().is_number || t.impl().capture == capture_number; }
  /// A number of the program's text, or a fill that nothing has changed.
  bool is_constant(const Tensor& t) const {
    const detail::TensorImpl& impl = t.impl();
    return impl.is_number || (impl.is_fill && impl.capture == capture_number && impl.storage && t.version() == 0 && !impl.requires_grad);
  }
  void become(Tensor& t, int id) {
    detail::TensorImpl& impl = t.impl();
    impl.device = {DeviceType::meta, 0};
    impl.keys = KeySet(backend_key(DeviceType::meta)) | DispatchKey::trace;
    impl.is_fill = false;
    impl.trace_id = id;
  }
  [[noreturn]] TT_INLINE void stop(const Tensor& t, const char* op, SourceLine at);
};

}  // namespace tt

#if TT_DEFINES(jit)
#include "tt/jit/tracer_inl.hpp"
#endif
