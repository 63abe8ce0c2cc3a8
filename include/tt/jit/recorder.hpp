// Recorder: the common part of captures. Ops on recorded Tensors are not run but listed as steps, which read and make values; their results
// are fake tensors: sizes, no elements. Any range of the list can become a graph (graph_builder.hpp). A Tracer (tracer_inl.hpp) makes one
// graph of the whole function, for all sizes. A SegmentRecorder (segment_recorder_inl.hpp) lists at every call; a graph ends where elements
// are asked for, and the steps between two such places are one graph. A Tensor that has elements, and is not recorded, is called concrete.
#pragma once
#include <pthread.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tt/autograd/history.hpp"
#include "tt/core/thread_end.hpp"
#include "tt/core/word_table.hpp"
#include "tt/dispatch/capture_events.hpp"
#include "tt/dispatch/memory_order.hpp"
#include "tt/dispatch/methods.hpp"
#include "tt/jit/address_table.hpp"

namespace tt {
namespace jit {

/// put: operand 0, with its part that the op (a view) shows replaced by operand 1.
enum class StepKind : std::uint8_t { call, view, variable, gradients, put };
struct Step {
  const Operator* op = nullptr;  ///< null: variable, gradients
  StepKind kind = StepKind::call;
  bool detached = false, grad_enabled = true;
  bool keeps_history = false;  ///< of a put: operand 0 has one
  int operand = 0, operands = 0;  ///< range in the list's operands
  int result = 0, results = 1;    ///< range of values
  int word = 0, words = 0;        ///< attributes: range in the list's words
  int extent = 0, extents = 0;    ///< attributes that are expressions, of a Tracer
  SourceLine at{};
};
/// An operand or a result of steps.
struct Value {
  Tensor tensor{};        ///< if the list holds it; further references mean that the function still uses it
  Tensor real{};          ///< its elements, if not in `tensor`: a view that a later segment reads, or a copy for the tape
  int step = -1;          ///< the step that makes it; -1: none, as for an argument
  int last_use = -1;      ///< the last step that reads it
  int root = -1;          ///< of a view: its outermost base, which is no view; -1: no view
  bool constant = false;  ///< a literal of the program, or a fill not changed since
  bool needed = false;    ///< in use after the segment has run
};
struct View {
  int value, base, root;  ///< root: the outermost base, which is no view
  const detail::TensorImpl* base_impl;  ///< compared only: in a SegmentRecorder its Tensor may be destroyed, if that was no earlier view
};
/// A concrete Tensor that will be written when the listed steps have run.
struct Update {
  int target, value;
};

/// The list of steps, kept from call to call, so that a call allocates nothing here.
class StepList {
 public:
  std::vector<Step> steps;
  std::vector<Value> values;
  std::vector<View> views;
  std::vector<Update> updates;
  std::vector<Update> earlier;                 ///< values of targets before a later change: written if the later value is not computed
  std::vector<std::pair<int, int>> renamed;    ///< the new value of a changed Tensor, and the one before

  void clear() {
    steps.clear();
    values.clear();
    views.clear();
    updates.clear();
    earlier.clear();
    renamed.clear();
    operands_.clear();
    words_.clear();
    extents_.clear();
    there_.clear();
  }
  int count() const { return static_cast<int>(steps.size()); }
  const Step& step(int k) const { return steps[static_cast<std::size_t>(k)]; }
  Value& value(int k) { return values[static_cast<std::size_t>(k)]; }
  const Value& value(int k) const { return values[static_cast<std::size_t>(k)]; }
  int operand(const Step& s, int k) const { return operands_[static_cast<std::size_t>(s.operand + k)]; }
  std::int64_t word(const Step& s, int k) const { return words_[static_cast<std::size_t>(s.word + k)]; }
  Attributes attributes(const Step& s) const {
    Attributes a;
    a.value.append(words_.data() + s.word, s.words);
    for (int k = 0; k < s.extents; ++k) a.expression.push_back(extents_[static_cast<std::size_t>(s.extent + k)]);
    return a;
  }
  /// The Tensor that holds a value once it has been computed.
  const Tensor& real(int k) const { return value(k).real.defined() ? value(k).real : value(k).tensor; }

  int add(Value v) {
    values.push_back(static_cast<Value&&>(v));
    return static_cast<int>(values.size()) - 1;
  }
  /// The caller adds its results next.
  Step& add_step(const Operator* op, StepKind kind, const SmallVec<int, few_arguments>& operands, const Attributes& a, SourceLine at) {
    Step s;
    s.op = op;
    s.kind = kind;
    s.grad_enabled = DispatchState::of_this_thread().grad_enabled;
    s.operand = static_cast<int>(operands_.size());
    s.operands = operands.size();
    s.result = static_cast<int>(values.size());
    s.word = static_cast<int>(words_.size());
    s.words = a.size();
    s.extent = static_cast<int>(extents_.size());
    s.extents = a.expression.size();
    s.at = at;
    for (const int v : operands) {
      operands_.push_back(v);
      value(v).last_use = count();
    }
    for (int k = 0; k < s.words; ++k) words_.push_back(a.value[k]);
    for (const Extent e : a.expression) extents_.push_back(e);
    steps.push_back(s);
    return steps.back();
  }

  /// The value of a concrete Tensor, by address; -1: none.
  int find(const detail::TensorImpl* impl) const { return there_.find(impl); }
  int& place(const detail::TensorImpl* impl) { return there_.place(impl); }

  /// Notes handles and storages of arguments.
  void note(const SmallVec<const Tensor*, 16>& arguments) {
    noted_.clear();
    for (const Tensor* t : arguments) {
      noted_.place(&t->impl()) = 0;
      if (t->impl().storage) noted_.place(t->impl().storage) = 0;
    }
  }
  bool is_noted(const void* p) const { return noted_.find(p) >= 0; }
  bool in_use(int k) const { return value(k).tensor.impl().uses.load(std::memory_order_relaxed) > 1; }
  int root_of(int k) const { return k < 0 || value(k).root < 0 ? k : value(k).root; }
  /// The base of a view, which may be a view too.
  int base_of(int view) const { return operand(step(value(view).step), 0); }
  /// The Tensor by which the function holds a value that is no view.
  const Tensor& handle(int k) const {
    for (const Update& u : updates)
      if (u.value == k) return value(u.target).tensor;
    return value(k).tensor;
  }
  /// The Tensors exchange their values: `t` gets the value of `other`, and `other` that of `t`.
  void rename(const Tensor& t, const Tensor& other) {
    detail::TensorImpl &to = t.impl(), &from = other.impl();
    renamed.push_back({static_cast<int>(from.trace_id), static_cast<int>(to.trace_id)});
    value(static_cast<int>(to.trace_id)).tensor.swap(value(static_cast<int>(from.trace_id)).tensor);
    std::swap(to.trace_id, from.trace_id);
    to.requires_grad = from.requires_grad;
  }

 private:
  std::vector<int> operands_;
  std::vector<std::int64_t> words_;
  std::vector<Extent> extents_;
  AddressTable there_;  ///< values of concrete Tensors
  AddressTable noted_;
};

/// Called when the first capture begins.
inline void register_captures() {
  static const bool registered = [] {
    detail::register_kernels();
    Dispatcher::get().set_fallback(DispatchKey::trace, [](Call& c, void*) {
      if (!detail::capture_mode) TT_THROW(Error(Text("tt::compile: a recorded Tensor was used after the capture had ended.") << c.at));
      detail::capture_mode->record(c);
    });
    return true;
  }();
  (void)registered;
}
/// Must its calls run even if no result is read?
inline bool has_effect(const Operator& op) { return op.external && op.external->info.effect; }
[[noreturn]] inline void refuse_foreign(const Tensor& t, SourceLine at) {
  TT_THROW(Error(Text("tt::compile: a Tensor was met that is not an argument: ") << name(t.dtype()) << ' ' << t.shape()
                 << ". Pass it as one, or let the function hold it: tt::frozen(f)." << at));
}
[[noreturn]] inline void refuse_shared(const char* name, int argument) {
  TT_THROW(Error(Text("tt::compile: ") << name << ": argument " << argument << " is changed, and shares memory with another one. "
                 "Pass a copy of one of them?"));
}
/// Throws Error for a dual: recorded steps have no tangents.
inline void need_no_tangent(const Tensor& t, SourceLine at) {
  if (autograd::has_tangent(t))
    TT_THROW(Error(Text("tt::compile: a Tensor with a tangent was met in a function that is recorded: ") << name(t.dtype()) << ' ' << t.shape() << ". Use tt::jvp there?" << at));
}
inline std::uint64_t next_capture() {
  static std::atomic<std::uint64_t> captures = 0;
  return ++captures;
}

/// Adds an output with the memory order of a recorded Tensor: `ordered` lists outputs that are not row-major.
inline void add_output(Graph& g, int node, const Tensor& as, std::vector<OrderedOutput>& ordered) {
  if (!as.impl().contiguous)
    if (const detail::MemoryOrder order(as); order.has_no_gaps(as)) {
      ordered.push_back({g.outputs.size(), {}});
      for (int d = 0; d < as.dim(); ++d) ordered.back().axis.push_back(order.axis[d]);
      node = g.permute(node, order.axis);
    }
  g.output(node);
}

/// Virtual functions of derived classes are declared inline: else the first is a key function (Itanium C++ ABI), and every file that
/// includes its definition holds the table of all of them, and the functions that they call: 1,071 functions for an addition, not 554.
class Recorder : public detail::CaptureMode {
 public:
  Recorder(const Recorder&) = delete;
  StepList& list() { return *list_; }

 protected:
  Recorder() : list_(spare().take()), number_(next_capture()), mode_before_(detail::capture_mode), state_before_(state()) {
    register_captures();
    [[maybe_unused]] static const int handled = pthread_atfork(&detail::WordTable::lock, &detail::WordTable::unlock, &detail::WordTable::unlock);
    state().capture = number_;
    state().include = state().include | DispatchKey::trace;  // calls on concrete Tensors are seen too
    detail::capture_mode = this;
  }
  ~Recorder() {
    detail::capture_mode = mode_before_;
    state().capture = state_before_.capture;
    state().include = state_before_.include;
    constexpr std::size_t most_kept = 1 << 14;
    if (list_->steps.capacity() > most_kept) return;
    list_->clear();
    spare().keep(list_.release());
  }

  std::unique_ptr<StepList> list_;
  const std::uint64_t number_;  ///< of this capture
  static DispatchState& state() { return DispatchState::of_this_thread(); }
  bool began_with_gradients() const { return state_before_.grad_enabled; }

  // ---- Tensors and values
  /// The device of a result of these, see GraphFunction::device_of.
  static Device device_of(const Tensor* const* argument, int count) {
    const auto rank = [&](int k) { return argument[k]->dim() > 0 ? 2 : argument[k]->impl().device.type != DeviceType::cpu; };
    int best = 0;
    for (int k = 1; k < count; ++k) best = rank(k) > rank(best) ? k : best;
    return count > 0 ? argument[best]->impl().device : Device{};
  }
  bool is_recorded(const Tensor& t, SourceLine at) const {
    if (t.impl().trace_id < 0) return false;
    if (t.impl().capture != number_) TT_THROW(Error(Text("tt::compile: a Tensor of another capture was used.") << at));
    return true;
  }
  bool made_here(const Tensor& t) const { return t.impl().is_number || t.impl().capture == number_ || (t.impl().capture && made_in_body(t.impl().capture)); }
  /// Is this the number of a body of a branch or a loop that is being recorded?
  virtual bool made_in_body(std::uint64_t) const { return false; }
  /// A literal of the program, or a fill that was not changed since.
  bool is_constant(const Tensor& t) const {
    const detail::TensorImpl& impl = t.impl();
    return impl.is_number || (impl.is_filled() && made_here(t) && impl.storage && t.version() == 0 && !impl.requires_grad);
  }
  /// The current value of a Tensor, or -1.
  int known_value(const Tensor& t) const {
    if (t.impl().trace_id >= 0) return t.impl().capture == number_ ? static_cast<int>(t.impl().trace_id) : -1;
    return list_->find(&t.impl());
  }
  /// Throws Error if `target` is a variable of a gradient taken inside the function, or a view of one: like leaves of the tape, it must not
  /// change.
  void check_no_leaf(const Tensor& target, SourceLine at) const {
    const int value = known_value(target);
    if (value < 0 || !DispatchState::of_this_thread().grad_enabled) return;
    const int root = list_->value(value).root, step = list_->value(root < 0 ? value : root).step;
    if (step >= 0 && list_->step(step).kind == StepKind::variable) autograd::refuse_change(root < 0 ? "a leaf" : "a view of a leaf", at);
  }
  /// known_value(t); if there is none, value_from_outside(t).
  int value_of(const Tensor& t, SourceLine at = {}) {
    if (is_recorded(t, at)) return static_cast<int>(t.impl().trace_id);
    const int known = list_->find(&t.impl());
    return known >= 0 ? known : value_from_outside(t, at);
  }
  /// The value of a Tensor that is used for the first time, or an error.
  virtual int value_from_outside(const Tensor& t, SourceLine at) = 0;
  using Values = SmallVec<int, few_arguments>;
  Values values_of(const Call& c) {
    Values v;
    for (int k = 0; k < c.arguments; ++k) v.push_back(value_of(c[k], c.at));
    return v;
  }
  Tensor stand_for(int value, DType d, const Shape& s, const std::int64_t* strides, Device device) const {
    detail::TensorImpl* impl = detail::TensorImpl::make();
    impl->dtype = d;
    impl->device = device;
    impl->keys = KeySet(backend_key(device.type)) | DispatchKey::trace;
    if (strides) impl->set_strided(s, strides);
    else impl->set_dense(s);
    impl->trace_id = value;
    impl->capture = number_;
    return Tensor(impl);
  }

  // ---- steps, without their results: the caller adds these
  /// `detaches`: results are detached where gradients are disabled.
  Step& list_call(const Call& c, const Values& operands, bool detaches) {
    Step& s = list_->add_step(c.op, StepKind::call, operands, c.attrs(), c.at);
    s.results = c.op->results;
    s.detached = detaches && !s.grad_enabled;
    return s;
  }
  void list_variable(const Tensor& t) {
    Values read;
    read.push_back(value_of(t));
    list_->add_step(nullptr, StepKind::variable, read, no_attributes, {});
  }
  void list_gradients(const Tensor& value, const Tensor* variables, int count) {
    Values read;
    read.push_back(value_of(value));
    for (int k = 0; k < count; ++k) read.push_back(value_of(variables[k]));
    list_->add_step(nullptr, StepKind::gradients, read, no_attributes, {}).results = count;
  }
  /// Do the results of a call have a history?
  static bool requires_gradient(const Call& c) {
    bool required = false;
    for (int k = 0; k < c.arguments; ++k) required = required || c[k].impl().requires_grad;
    return required && !c.op->cuts_history;
  }
  // ---- changes through views
  /// The base of a view, as the function's Tensor; `t` itself if it is no view.
  Tensor base_of(const Tensor& t) const {
    const int value = known_value(t);
    return value < 0 || list_->value(value).root < 0 ? t : list_->handle(list_->value(value).root);
  }
  /// Can a change through a view be recorded as steps? Not where elements share memory, nor, with a history, where an op cuts it.
  bool can_put(const Tensor& view, bool has_history) const {
    int v = known_value(view);
    if (v < 0 || list_->value(v).root < 0) return true;
    for (; list_->value(v).root >= 0; v = list_->base_of(v)) {
      const Operator& op = *list_->step(list_->value(v).step).op;
      if (!op.record || (op.cuts_history && has_history) || detail::has_repeats(list_->value(v).tensor.impl())) return false;
    }
    return !detail::has_repeats(list_->handle(v).impl());
  }
  /// Will `target` have a history when `other` has been written to it?
  static bool has_history(const Tensor& target, const Tensor* other) {
    return DispatchState::of_this_thread().grad_enabled && (target.impl().requires_grad || (other && other->impl().requires_grad));
  }
  /// Records a write to a view: its base, and all views of that, become new values.
  void write_through(const Tensor& view, const Tensor& elements, const char* op, SourceLine at) {
    Tensor part = elements;
    int v = known_value(view);
    for (; list_->value(v).root >= 0; v = list_->base_of(v)) {
      const Tensor base = list_->handle(list_->base_of(v));  // own handle: the list grows
      const Step& shown = list_->step(list_->value(v).step);
      Values in;
      in.push_back(value_of(base, at));
      in.push_back(value_of(part, at));
      const Attributes attributes = list_->attributes(shown);
      const bool required = has_history(base, &part);
      list_->add_step(shown.op, StepKind::put, in, attributes, at).keeps_history = has_history(base, nullptr);
      part = last_result_like(base);
      part.impl().requires_grad = required;
    }
    Tensor base = list_->handle(v);
    finish_update(base, part, op, at);
  }
  /// The result of the last step, which has the dtype and the shape of `t`.
  virtual Tensor last_result_like(const Tensor& t) = 0;
  /// `base`, which was value `before`, has another value now: makes its views in use anew.
  void renew_views(int before, const Tensor& base, SourceLine at) {
    const std::size_t count = list_->views.size();
    std::vector<int> wanted;  // bases of views in use
    std::vector<std::size_t> renewed;
    for (std::size_t k = count; k-- > 0 && list_->views[k].value > before;)  // older views are of older values
      if (const View& v = list_->views[k]; v.root == before && (list_->in_use(v.value) || std::find(wanted.begin(), wanted.end(), v.value) != wanted.end())) {
        wanted.push_back(v.base);
        renewed.push_back(k);
      }
    std::vector<std::pair<int, Tensor>> anew;
    for (std::size_t k = renewed.size(); k-- > 0;) {
      const View v = list_->views[renewed[k]];
      const Step s = list_->step(list_->value(v.value).step);
      const Tensor* argument[] = {&base};
      for (const auto& [value, tensor] : anew)
        if (value == v.base) argument[0] = &tensor;
      const Attributes attributes = list_->attributes(s);
      const autograd::StepMode mode(s.grad_enabled);
      Tensor made;
      Call c{s.op, argument, 1, &attributes, &made, at, {}};
      record(c);
      if (const Tensor& held = list_->value(v.value).tensor; list_->in_use(v.value)) {
        const Tensor handle = held;
        list_->rename(handle, made);
        made = handle;
      }
      anew.push_back({v.value, static_cast<Tensor&&>(made)});
    }
  }
  /// Shape, strides and dtype of a view of a recorded Tensor; false: the op makes a copy.
  static bool view_strides(const Call& c, Shape& shape, std::int64_t* strides, DType& dtype) {
    const detail::TensorImpl& base = c[0].impl();
    dtype = base.dtype;
    if (c.op == &detail::reshape_operator()) {
      shape = detail::shape_attribute(c.attrs());
      return detail::reshaped_strides(base, shape, strides);
    }
    Tensor made;
    Call view = c;
    view.result = &made;
    const auto& slot = c.op->slot(backend_key(base.device.type));
    slot.kernel.load(std::memory_order_acquire)(view, slot.context);
    shape = made.impl().shape;
    dtype = made.dtype();
    for (int k = 0; k < shape.rank; ++k) strides[k] = made.impl().stride[k];
    return true;
  }
  /// Gives the results of an elementwise call the memory order of its operands.
  static void keep_order(const Call& c) {
    if (!c.op->elementwise || detail::all_contiguous(c)) return;
    if (const detail::MemoryOrder order(c); !order.is_row_major())
      for (int k = 0; k < c.op->results; ++k) order.set_strides(c.result[k].impl());
  }
  /// Notes that the last step made `view`, a view of `of`.
  void note_view(const Tensor& view, const Tensor& of) {
    Step& s = list_->steps.back();
    s.kind = StepKind::view;
    view.impl().is_view = true;
    const int base = list_->operand(s, 0);
    list_->value(s.result).root = list_->root_of(base);
    list_->views.push_back({s.result, base, list_->root_of(base), &of.impl()});
  }

  /// A graph break in words: the op, and the Tensor whose elements it asked for. `at` without a line becomes that of the op that made the
  /// Tensor.
  Text break_in_words(const char* op, const Tensor& t, SourceLine& at) const {
    Text what(op);
    if (!t.defined()) return what;
    what << (op[std::strlen(op) - 1] == ':' ? " " : " of ") << name(t.dtype()) << ' ' << t.shape();
    const bool recorded = t.impl().trace_id >= 0 && t.impl().capture == number_;
    const int step = recorded ? list_->value(static_cast<int>(t.impl().trace_id)).step : -1;
    if (step < 0) return what;
    if (const Operator* const made_by = list_->step(step).op) what << ", made by " << made_by->name();
    if (!at.line) at = list_->step(step).at;
    return what;
  }

 private:
  detail::CaptureMode* mode_before_;
  DispatchState state_before_;
  static detail::Spare<StepList>& spare() {
    thread_local constinit detail::Spare<StepList> list;
    return list;
  }
};

}  // namespace jit
}  // namespace tt
