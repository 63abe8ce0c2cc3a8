// SegmentRecorder: runs one call of a compiled function with graph breaks. Ops are listed, not run. Where elements are asked for, the
// listed steps run as one segment, results that are still referenced get their elements, and the function goes on. Unlike a Tracer, which
// records once for all sizes, it records at every call: so a step costs fractions of a microsecond and builds no graph.
// One long class: the state of a call.
//   SegmentRecorder r(store, arguments, holds);   result = f(...);   r.finish(at);
#pragma once
#include <algorithm>

#include "tt/dispatch/direct_call.hpp"
#include "tt/jit/recorder.hpp"
#include "tt/jit/segments.hpp"

namespace tt {
namespace jit {

class SegmentRecorder final : public Recorder {
 public:
  SegmentRecorder(SegmentStore& store, const Arguments& arguments, bool holds) : store_(store), arguments_(arguments), holds_(holds) {
    if (!holds_) list_->note(arguments_.tensor);
  }
  /// Takes the arguments after the run, in order; a Tensor assigned to one is moved from `t`.
  void left(Tensor& t, bool constant);
  /// Assigns to the caller's arguments, all at once, and runs the remaining steps.
  void finish(SourceLine at);

  inline void record(Call& c) override;
  inline void need(const Tensor& t, const char* op, SourceLine at, detail::Use use) override;
  void will_need_history(const Tensor& t) override {
    if (is_recorded(t, {})) cuts_.push_back(list_->value(static_cast<int>(t.impl().trace_id)).step + 1);
  }
  inline void varies(const char* op, SourceLine at) override { break_at({}, op, at); }
  void break_graph(const char* op, SourceLine at) override {
    break_at({}, op, at);
    flush();
  }
  void run_recorded() override { flush(); }
  inline bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) override;
  inline void finish_update(Tensor& target, const Tensor& value, const char* op, SourceLine at) override;
  bool keeps_old(const Tensor& t) const override {
    const Tensor base = base_of(t);
    return base.impl().trace_id >= 0 || !base.impl().requires_grad;
  }
  void may_be_written(const Tensor& t) override { exposed_.push_back(t.impl().storage); }
  Device device() const override { return {}; }  // recorded Tensors have their final device
  Tensor region_input(const Tensor& t, bool) override { return t; }  // control flow is not recorded
  void open_gradient() override { marks_.push_back({}); }
  void close_gradient() override { marks_.pop_back(); }
  inline Tensor variable(const Tensor& t) override;
  inline bool gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) override;

  // ---- for segments
  /// Was a Tensor that the function has made changed in place, as a buffer that it fills? Then the tape keeps a copy of its elements for a
  /// program that reads it.
  bool may_change_again(const Tensor& t) const { return t.impl().trace_id < 0 && made_here(t) && !t.impl().is_number && t.version() > 0; }
  /// The first step of a gradient, which cannot run by itself.
  int first_gradient(int begin, int end) const {
    while (begin < end && list_->step(begin).kind != StepKind::variable && list_->step(begin).kind != StepKind::gradients) ++begin;
    return begin;
  }
  /// Runs one step through the dispatcher.
  void run_step(int step);
  /// Updates are written last: keeps their values until then.
  void keep_updates() {
    for (const Update& u : list_->updates) list_->value(u.value).last_use = list_->count();
  }
  /// Writes the updates whose values were made by steps [begin, end).
  void write_updates(int begin, int end);
  /// A recorded Tensor gets the elements and the history of another one.
  static void adopt(const Tensor& recorded, Tensor& from);

 private:
  struct Mark {
    int first = -1, count = 0;  ///< steps that made the variables of a gradient not yet taken
  };
  /// Has the function a pointer to elements of this Tensor? Then they may change after any line of the function.
  bool is_exposed(const Tensor& t) const {
    if (t.impl().trace_id >= 0) return false;
    for (const Storage* s : exposed_)
      if (s == t.impl().storage) return true;
    return false;
  }

  SegmentStore& store_;
  const Arguments& arguments_;
  const bool holds_;
  int left_ = 0, place_ = 0;
  std::vector<std::pair<Tensor, Tensor>> assigned_;  ///< arguments, and Tensors assigned to them
  std::vector<std::pair<Tensor*, Tensor>> handles_;  ///< callers' handles, and the Tensors that they become
  std::vector<Mark> marks_;
  std::vector<int> cuts_;  ///< steps before which a program ends: see will_need_history
  std::vector<const Storage*> exposed_;  ///< some may be freed

  /// A Tensor for the next value, which the last step makes.
  Tensor make(DType d, const Shape& s, const std::int64_t* strides, Device device) {
    const int value = list_->add({.step = list_->count() - 1});
    return list_->value(value).tensor = stand_for(value, d, s, strides, device);
  }
  inline int value_from_outside(const Tensor& t, SourceLine at) override;
  const Tensor& target_of(const Update& u) const { return list_->value(u.target).tensor; }
  void record_view(Call& c);
  static constexpr const char* exposed_in_words = ", to whose elements the function has a pointer";
  void run_at_once(Call& c, const char* why);
  bool is_foreign(const Tensor& t) const;
  bool conflicts(const Tensor& t) const;
  Tensor last_result_like(const Tensor& t) override { return make(t.dtype(), t.impl().shape, nullptr, t.device()); }
  bool hangs_on_others(int value, int first) const;
  void break_at(const Tensor& t, const char* op, SourceLine at, const char* why = "");
  void flush();
  void mark_needed();
  void make_variables(const Mark& m);
  void make_views();
  void keep_computed();
  /// The target gets the elements of a value.
  void write(const Update& u, int value) {
    detail::write_elements(target_of(u), list_->real(value), store_.where());
    detail::advance_version(target_of(u));
  }
};

// ---- Tensors and values

inline bool SegmentRecorder::is_foreign(const Tensor& t) const {
  return !holds_ && !made_here(t) && !list_->is_noted(&t.impl()) && !(t.impl().storage && list_->is_noted(t.impl().storage));
}
inline int SegmentRecorder::value_from_outside(const Tensor& t, SourceLine at) {
  if (is_foreign(t)) refuse_foreign(t, at);
  need_no_tangent(t, at);
  if (t.is_meta())
    TT_THROW(Error(Text("tt::compile: ") << store_.name() << ": a Tensor has no elements: it is on device meta." << at));
  return list_->place(&t.impl()) = list_->add({.tensor = t, .constant = is_constant(t)});
}
/// Would reading `t` see an update that is still to come?
inline bool SegmentRecorder::conflicts(const Tensor& t) const {
  if (list_->updates.empty() || t.impl().trace_id >= 0) return false;
  for (const Update& u : list_->updates)
    if (!target_of(u).is_same(t) && overlap(target_of(u), t)) return true;
  return false;
}

// ---- steps

inline void SegmentRecorder::record(Call& c) {
  for (int k = 0; k < c.arguments; ++k)
    if (conflicts(c[k])) {
      break_at(c[k], c.op->name(), c.at, ", which shares memory with what was changed in place");
      flush();
    }
  for (int k = 0; k < c.arguments; ++k)
    if (is_exposed(c[k])) return run_at_once(c, exposed_in_words);
  if (!c.op->record) return run_at_once(c, ", which has no graph");
  if (has_effect(*c.op)) return run_at_once(c, ", which has an effect");
  if (c.op->is_view) return record_view(c);
  const Values in = values_of(c);
  const Device device = device_of(c.argument, c.arguments);
  // Dtype and shape of the results: plain elementwise ops need no graph for these.
  const Tensor* big = &c[0];
  DType dtype = big->dtype();
  bool plain = c.arguments <= detail::most_direct;
  for (int k = 1; k < c.arguments && plain; ++k)
    if (c[k].dim() > big->dim()) big = &c[k];
  for (int k = 0; k < c.arguments && plain; ++k)
    plain = c[k].impl().dtype == dtype && (c[k].dim() == 0 || c[k].impl().shape == big->impl().shape);
  if (plain && (c.op->body || c.op->primitive != Op::input)) {
    const detail::DirectCall f = detail::direct_call(*c.op, dtype);
    plain = f.function;
    dtype = f.result;
  } else {
    plain = false;
  }
  BoundFunction bound;
  if (!plain) {
    detail::check_external(c);
    bound = bind_function(c);
  }
  const bool has_history = requires_gradient(c);
  const Step& s = list_call(c, in, has_history);
  for (int k = 0; k < s.results; ++k) {
    c.result[k] = plain ? make(dtype, big->impl().shape, nullptr, device)
                        : make(bound.function->graph()[bound.function->graph().outputs[k]].dtype,
                               bound.function->output_shape(k, bound.symbols), nullptr, device);
    c.result[k].impl().requires_grad = has_history && s.grad_enabled && is_floating(c.result[k].dtype());
  }
  keep_order(c);
}

/// Views are steps too; a view still in use when the segment has run becomes a true view.
inline void SegmentRecorder::record_view(Call& c) {
  const detail::TensorImpl& base = c[0].impl();
  Shape shape;
  std::int64_t strides[max_rank] = {};
  DType dtype{};
  const bool is_view = view_strides(c, shape, strides, dtype);
  const bool has_history = requires_gradient(c);
  const Step& s = list_call(c, values_of(c), has_history);
  c.result[0] = make(dtype, shape, is_view ? strides : nullptr, base.device);
  c.result[0].impl().requires_grad = has_history && s.grad_enabled;
  c.result[0].impl().inference = base.inference;
  if (is_view) note_view(c.result[0], c[0]);
}

inline void SegmentRecorder::run_at_once(Call& c, const char* why) {
  store_.note_break(c.op->name(), c.at, Text(c.op->name()) << why);
  flush();
  for (int k = 0; k < c.arguments; ++k)
    if (is_foreign(c[k])) refuse_foreign(c[k], c.at);
  const detail::PauseCapture pause;
  Dispatcher::get().call(c);
  for (int k = 0; k < c.op->results; ++k) detail::stamp(c.result[k]);
}

inline void SegmentRecorder::break_at(const Tensor& t, const char* op, SourceLine at, const char* why) {
  const Text what = break_in_words(op, t, at) << why;  // which may set `at`
  store_.note_break(op, at, what);
}

inline void SegmentRecorder::need(const Tensor& t, const char* op, SourceLine at, detail::Use use) {
  if (is_recorded(t, at)) {
    break_at(t, op, at);
    return flush();
  }
  const bool loose = use == detail::Use::untyped_pointer;
  if (!loose && is_foreign(t)) refuse_foreign(t, at);
  const bool passed = !loose && !made_here(t);
  if (passed) break_at(t, op, at);
  if (list_->steps.empty()) return;
  bool involved = false;
  for (const Update& u : list_->updates) involved = involved || overlap(target_of(u), t);
  if (use != detail::Use::reads)  // recorded steps read it, and it may be written
    for (const Value& v : list_->values) involved = involved || (v.step < 0 && overlap(v.tensor, t));
  if (!involved) return;
  if (!passed) break_at(t, op, at);
  flush();
}

// ---- in place

inline bool SegmentRecorder::begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) {
  (void)is_recorded(target, at);
  check_no_leaf(target, at);
  const Tensor base = base_of(target);
  const bool recorded = is_recorded(base, at);
  if (!recorded && is_foreign(base)) refuse_foreign(base, at);
  const char* why = nullptr;
  if (!recorded && detail::change_is_taped(base, other)) why = ", on the tape";
  else if (detail::is_changed_off_tape(base)) why = ", which requires a gradient, under NoGrad";
  else if (!recorded && base.device().type != DeviceType::cpu) why = ", on another device";
  else if (is_exposed(base) || (other && is_exposed(*other))) why = exposed_in_words;
  else if (!can_put(target, has_history(base, other))) why = ", which is a view";
  else if (!recorded) {
    for (const Value& v : list_->values)
      if (v.step < 0 && !v.tensor.is_same(base) && overlap(v.tensor, base)) why = ", which shares memory with what was read";
    detail::check_no_repeats(target, op, at);
  }
  if (!why) return true;
  break_at(target, op, at, why);
  if (other && other->impl().trace_id >= 0) (void)is_recorded(*other, at);
  flush();
  return false;
}
inline void SegmentRecorder::finish_update(Tensor& target, const Tensor& value, const char* op, SourceLine at) {
  if (value.impl().trace_id < 0 || value.impl().is_view)  // the value must own its elements
    return finish_update(target, detail::call_unary(detail::copy_operator(), value, no_attributes, at), op, at);
  const int before = value_of(target, at), now = static_cast<int>(value.impl().trace_id);
  if (list_->value(before).root >= 0) return write_through(target, value, op, at);
  if (target.impl().trace_id >= 0) {
    list_->rename(target, value);  // the target, which other handles refer to, takes the number of the value
    return renew_views(before, target, at);
  }
  list_->place(&target.impl()) = now;
  Update* known = nullptr;
  for (Update& u : list_->updates)
    if (target_of(u).is_same(target)) known = &u;
  if (known) {
    list_->earlier.push_back(*known);
    known->value = now;
  } else list_->updates.push_back({before, now});  // `before`: the target as it is in memory
  renew_views(before, target, at);
}
inline void SegmentRecorder::left(Tensor& t, bool constant) {
  const int place = place_++;
  const bool absent = arguments_.is_absent(place);
  const int number = absent ? -1 : left_++;
  if (constant || (absent ? !t.defined() : t.defined() && t.is_same(arguments_[number]))) return;
  if (absent || !t.defined() || !is_alike(t, arguments_[number])) return handles_.push_back({&arguments_.handle(place), static_cast<Tensor&&>(t)});
  if (arguments_.overlaps_another(number)) refuse_shared(store_.name(), number);
  assigned_.push_back({arguments_[number], static_cast<Tensor&&>(t)});
}
inline void SegmentRecorder::finish(SourceLine at) {
  for (auto& [target, value] : assigned_) {
    if (value.impl().trace_id < 0 || value.impl().is_view) value = value.clone(at);
  }
  for (auto& [target, value] : assigned_) {
    if (begin_update(target, &value, "assignment", at)) {
      finish_update(target, value, "assignment", at);
      continue;
    }
    const detail::PauseCapture pause;
    target.copy_(value, at);
  }
  assigned_.clear();  // a Tensor that is still held would be computed
  flush();
  for (const auto& [to, value] : handles_) *to = value;
}

// ---- gradients

inline Tensor SegmentRecorder::variable(const Tensor& t) {
  if (conflicts(t)) flush();
  list_variable(t);
  Mark& m = marks_.back();
  if (m.first < 0) m = {list_->count() - 1, 0};
  ++m.count;
  Tensor v = make(t.dtype(), t.impl().shape, t.impl().stride, t.device());
  v.impl().requires_grad = true;
  return v;
}
/// Does a value depend on a Tensor that requires a gradient and is older than step `first`?
inline bool SegmentRecorder::hangs_on_others(int value, int first) const {
  std::vector<char> read(list_->values.size(), 0);
  read[static_cast<std::size_t>(value)] = 1;
  for (int i = list_->count() - 1; i >= first; --i) {
    const Step& s = list_->step(i);
    bool reads = false;
    for (int k = 0; k < s.results; ++k) reads = reads || read[static_cast<std::size_t>(s.result + k)];
    if (!reads || s.detached || s.kind == StepKind::variable) continue;
    for (int k = 0; k < s.operands; ++k) {
      const int o = list_->operand(s, k);
      if (list_->value(o).step >= first) read[static_cast<std::size_t>(o)] = 1;
      else if (list_->value(o).tensor.impl().requires_grad && !(s.op && s.op->cuts_history)) return true;
    }
  }
  return false;
}
inline bool SegmentRecorder::gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) {
  bool recorded = value.impl().trace_id >= 0;
  for (int k = 0; k < count; ++k) recorded = recorded && variables[k].impl().trace_id >= 0;
  if (!recorded) return false;  // a graph break lies between them
  if (value.numel() != 1)
    TT_THROW(Error(describe({.mistake = Mistake::gradient_of_non_scalar, .op = "grad", .a = value.shape()})));
  bool required = false;
  int first = list_->count();
  for (int k = 0; k < count; ++k) {
    const int at = list_->value(static_cast<int>(variables[k].impl().trace_id)).step;
    if (at < first) first = at;
    required = required || list_->value(list_->operand(list_->step(at), 0)).tensor.impl().requires_grad;
  }
  required = (required || hangs_on_others(static_cast<int>(value.impl().trace_id), first)) && state().grad_enabled;
  list_gradients(value, variables, count);
  for (int k = 0; k < count; ++k) {
    result[k] = make(variables[k].dtype(), variables[k].impl().shape, nullptr, variables[k].device());
    result[k].impl().requires_grad = required;
  }
  marks_.back() = {};
  return true;
}

// ---- running the recorded steps

inline void SegmentRecorder::adopt(const Tensor& recorded, Tensor& from) {
  if (from.impl().uses.load(std::memory_order_relaxed) > 1) {  // another handle shares it
    const autograd::StepMode mode(true);
    from = from.clone();
  }
  detail::TensorImpl &to = recorded.impl(), &f = from.impl();
  std::swap(to.storage, f.storage);
  autograd::swap_histories(to, f);
  to.data = f.data;
  to.device = f.device;  // that of the program, which may have been given others too
  to.keys = f.keys;
  to.requires_grad = f.requires_grad;
  to.inference = to.inference || f.inference;
  to.is_view = f.is_view;
  if (f.base) to.become_view_of(*f.base);
  to.set_strided(Shape(f.shape), f.stride);
  to.trace_id = -1;
}

inline void SegmentRecorder::mark_needed() {
  for (Value& v : list_->values)
    if (v.step >= 0) v.needed = v.tensor.impl().uses.load(std::memory_order_relaxed) > 1;
  std::size_t kept = 0;  // updates of Tensors that were made here and that nobody holds any more are dropped
  for (const Update& u : list_->updates) {
    const Tensor& t = target_of(u);
    const detail::TensorImpl& impl = t.impl();
    if (impl.uses.load(std::memory_order_relaxed) > 1 || !impl.storage || impl.storage->uses.load(std::memory_order_relaxed) > 1)
      list_->updates[kept++] = u;
    else if (const Tensor& made = list_->value(u.value).tensor; made.impl().trace_id >= 0 && !t.is_contiguous())
      detail::MemoryOrder(t).set_strides(made.impl());  // so that views of it keep their strides
  }
  list_->updates.resize(kept);
  const auto is_written = [&](const detail::TensorImpl* base) {
    return std::any_of(list_->updates.begin(), list_->updates.end(), [&](const Update& u) { return &target_of(u).impl() == base; });
  };
  for (std::size_t k = list_->views.size(); k-- > 0;)
    if (const View& v = list_->views[k]; list_->value(v.value).needed && !is_written(v.base_impl)) list_->value(v.base).needed = true;
}

inline void SegmentRecorder::flush() {
  struct Clear {
    SegmentRecorder& r;
    ~Clear() {
      r.list_->clear();
      r.cuts_.clear();
    }
  };
  const detail::PauseCapture pause;
  const Clear clear{*this};
  if (list_->steps.empty()) return;
  mark_needed();
  int begin = 0;
  const int end = list_->count();
  std::sort(cuts_.begin(), cuts_.end());
  std::erase_if(cuts_, [&](int at) {  // none between a gradient and its variables: these are one program
    for (int i = at; i < end; ++i)
      if (const Step& s = list_->step(i); s.kind == StepKind::gradients)
        for (int k = 1; k < s.operands; ++k)
          if (list_->value(list_->operand(s, k)).step < at) return true;
    return false;
  });
  bool whole = cuts_.empty();
  for (const Mark& m : marks_) whole = whole && m.first < 0;
  if (!whole) keep_updates();
  auto cut = cuts_.begin();
  const auto run_until = [&](int stop, bool last) {
    for (; cut != cuts_.end() && *cut < stop; ++cut) {
      store_.run(*this, begin, *cut, false);
      if (*cut > begin) begin = *cut;
    }
    store_.run(*this, begin, stop, last);
  };
  try {
    for (Mark& m : marks_) {
      if (m.first < 0) continue;
      run_until(m.first, false);
      make_variables(m);
      begin = m.first + m.count;
      m = {};
    }
    run_until(end, true);
    write_updates(0, begin);
  } catch (const Exception&) {  // the function may catch it, and go on with earlier results
    keep_computed();
    throw;
  }
  make_views();
}

inline void SegmentRecorder::write_updates(int begin, int end) {
  for (const Update& u : list_->updates) {
    if (const int step = list_->value(u.value).step; step < begin || step >= end) continue;
    write(u, u.value);
  }
}
/// After an error: a Tensor gets its last value that was computed. Other Tensors have no elements, and using them is an error.
inline void SegmentRecorder::keep_computed() {
  for (Mark& m : marks_) m = {};
  const auto is_computed = [&](int value) { return list_->real(value).impl().trace_id < 0; };
  for (std::size_t k = list_->renamed.size(); k-- > 0;) {
    const auto [now, before] = list_->renamed[k];
    if (list_->value(now).root >= 0 || is_computed(now) || !is_computed(before)) continue;  // views are made anew, below
    Tensor from = list_->real(before);
    adopt(list_->value(now).tensor, from);
  }
  for (const Update& u : list_->updates) {
    int value = is_computed(u.value) ? u.value : -1;
    for (const Update& e : list_->earlier)
      if (e.target == u.target && !is_computed(u.value) && is_computed(e.value)) value = e.value;
    if (value >= 0) write(u, value);
  }
  make_views();
  for (const Value& v : list_->values)
    if (v.tensor.impl().trace_id >= 0) v.tensor.impl().capture = 0;
}
inline void SegmentRecorder::make_variables(const Mark& m) {
  for (int i = m.first; i < m.first + m.count; ++i) {
    const Step& s = list_->step(i);
    const autograd::StepMode mode(s.grad_enabled);
    Tensor v = autograd::as_variable(list_->real(list_->operand(s, 0)));
    adopt(list_->value(s.result).tensor, v);
  }
}
inline void SegmentRecorder::make_views() {
  for (const View& v : list_->views) {
    Value& value = list_->value(v.value);
    if (!value.needed || value.tensor.impl().trace_id < 0) continue;
    const Step& s = list_->step(value.step);
    Tensor base = list_->value(v.base).tensor;
    for (const Update& u : list_->updates)
      if (const Tensor& target = target_of(u); &target.impl() == v.base_impl) base = target;
    if (base.impl().trace_id >= 0) continue;  // the base was not computed
    const Tensor* argument[] = {&base};
    const Attributes a = list_->attributes(s);
    const autograd::StepMode mode(s.grad_enabled);
    Tensor made;
    Call c{s.op, argument, 1, &a, &made, s.at, {}};
    Dispatcher::get().call(c);
    if (value.real.defined() && list_->updates.empty()) autograd::swap_histories(made.impl(), value.real.impl());  // a later program has read value.real
    adopt(value.tensor, made);
  }
}

inline void SegmentRecorder::run_step(int step) {
  const Step s = list_->step(step);
  SmallVec<Tensor, few_results> result(s.results);
  SmallVec<const Tensor*, few_arguments> argument(s.operands);
  const autograd::StepMode mode(s.grad_enabled);
  if (s.kind == StepKind::variable || s.kind == StepKind::gradients)
    TT_THROW(Error(Text("tt::compile: ") << store_.name() << ": has too many different segments to keep, and this one takes gradients, so it cannot run op by op." << s.at));
  for (int k = 0; k < s.operands; ++k) argument[k] = &list_->real(list_->operand(s, k));
  const Attributes a = list_->attributes(s);
  if (s.kind == StepKind::put) {
    const Tensor all = argument[0]->clone(), *base[] = {&all};
    Tensor shown;
    Call view{s.op, base, 1, &a, &shown, s.at, {}};
    Dispatcher::get().call(view);
    shown.copy_(*argument[1]);
    result[0] = all;
  } else {
    Call c{s.op, argument.data(), s.operands, &a, result.data(), s.at, {}};
    Dispatcher::get().call(c);
  }
  for (int k = 0; k < s.results; ++k) {
    Value& v = list_->value(s.result + k);
    if (s.kind == StepKind::view) v.real = result[k];
    else adopt(v.tensor, result[k]);
  }
}

}  // namespace jit
}  // namespace tt

#include "tt/jit/segments_inl.hpp"
