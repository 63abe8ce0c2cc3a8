// How the Recorder of recorder.hpp works: steps go to lists, and a flush runs them as segments. Long, because every kind of step
// finds its Tensors in the same tables.
#pragma once
#include "tt/dispatch/direct_call.hpp"
#include "tt/jit/segments.hpp"

namespace tt {
namespace jit {

TT_INLINE void Recorder::Lists::clear() {
  steps.clear();
  values.clear();
  operands.clear();
  words.clear();
  updates.clear();
  views.clear();
  if (in_table) std::fill(table.begin(), table.end(), std::pair<const detail::TensorImpl*, int>{});
  in_table = 0;
}

TT_INLINE Recorder::Recorder(SegmentStore& store, const Arguments& arguments, bool holds)
    : store_(store), arguments_(arguments), holds_(holds), lists_(spare().take()),
      mode_before_(detail::capture_mode), state_before_(DispatchState::of_this_thread()) {
  detail::register_captures();
  if (lists_->table.empty()) lists_->table.resize(64);
  if (!holds_) note_arguments();
  number_ = detail::next_capture();
  DispatchState& state = DispatchState::of_this_thread();
  state.capture = number_;
  state.include = state.include | DispatchKey::trace;
  detail::capture_mode = this;
}
TT_INLINE Recorder::~Recorder() {
  detail::capture_mode = mode_before_;
  DispatchState& state = DispatchState::of_this_thread();
  state.capture = state_before_.capture;
  state.include = state_before_.include;
  lists_->clear();
  spare().keep(lists_.release());
}

// ---- Tensors and values

TT_INLINE int& Recorder::place(const detail::TensorImpl* impl) {
  auto& table = lists_->table;
  std::size_t at = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(impl) * 0x9e3779b97f4a7c15u >> 32);
  while (table[at % table.size()].first && table[at % table.size()].first != impl) ++at;
  auto& entry = table[at % table.size()];
  if (entry.first) return entry.second;
  if (2 * ++lists_->in_table > static_cast<int>(table.size())) {
    std::vector<std::pair<const detail::TensorImpl*, int>> before(2 * table.size());
    before.swap(table);
    lists_->in_table = 1;
    for (const auto& [known, value] : before)
      if (known) place(known) = value;
    return place(impl);
  }
  entry = {impl, -1};
  return entry.second;
}
TT_INLINE int Recorder::find(const detail::TensorImpl* impl) const {
  const auto& table = lists_->table;
  std::size_t at = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(impl) * 0x9e3779b97f4a7c15u >> 32);
  while (table[at % table.size()].first && table[at % table.size()].first != impl) ++at;
  return table[at % table.size()].first ? table[at % table.size()].second : -1;
}
TT_INLINE bool Recorder::is_recorded(const Tensor& t, SourceLine at) const {
  const detail::TensorImpl& impl = t.impl();
  if (impl.trace_id < 0) return false;
  if (impl.capture != number_) TT_THROW(Error(Text("tt::compile: a Tensor of another capture was used.") << at));
  return true;
}
TT_INLINE bool Recorder::is_foreign(const Tensor& t) const {
  const detail::TensorImpl& impl = t.impl();
  if (holds_ || impl.is_number || impl.capture == number_) return false;
  return !is_own(&impl) && !(impl.storage && is_own(impl.storage));
}
/// The place of a handle or storage among those of arguments; there is a null pointer if it is none.
TT_INLINE const void*& Recorder::own_place(const void* p) const {
  std::vector<const void*>& own = lists_->own;
  std::size_t at = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(p) * 0x9e3779b97f4a7c15u >> 32);
  while (own[at & (own.size() - 1)] && own[at & (own.size() - 1)] != p) ++at;
  return own[at & (own.size() - 1)];
}
TT_INLINE void Recorder::note_arguments() {
  std::size_t room = 16;
  while (room < 4 * static_cast<std::size_t>(arguments_.count())) room *= 2;
  lists_->own.assign(room, nullptr);
  for (int k = 0; k < arguments_.count(); ++k) {
    const detail::TensorImpl& impl = arguments_[k].impl();
    for (const void* p : {static_cast<const void*>(&impl), static_cast<const void*>(impl.storage)})
      if (p) own_place(p) = p;
  }
}
TT_INLINE int Recorder::value_of(const Tensor& t, SourceLine at) {
  if (is_recorded(t, at)) return static_cast<int>(t.impl().trace_id);
  const int known = find(&t.impl());
  return known >= 0 ? known : add_input(t, at);
}
TT_INLINE int Recorder::add_input(const Tensor& t, SourceLine at) {
  const detail::TensorImpl& impl = t.impl();
  if (is_foreign(t)) detail::refuse_foreign(t, at);
  if (t.is_meta())
    TT_THROW(Error(Text("tt::compile: ") << store_.name() << ": a Tensor has no elements: it is on device meta." << at));
  Value v;
  v.tensor = t;
  v.constant = impl.is_number || (impl.is_fill && impl.capture == number_ && impl.storage && t.version() == 0 && !impl.requires_grad);
  lists_->values.push_back(static_cast<Value&&>(v));
  return place(&impl) = static_cast<int>(lists_->values.size()) - 1;
}
/// Would reading `t` see an update that is still to come?
TT_INLINE bool Recorder::conflicts(const Tensor& t) const {
  if (lists_->updates.empty() || t.impl().trace_id >= 0) return false;
  for (const Update& u : lists_->updates) {
    const Tensor& target = lists_->values[static_cast<std::size_t>(u.target)].tensor;
    if (!target.is_same(t) && overlap(target, t)) return true;
  }
  return false;
}
TT_INLINE const detail::TensorImpl* Recorder::root_of(const detail::TensorImpl* impl) const {
  for (const View& v : lists_->views)
    if (&lists_->values[static_cast<std::size_t>(v.value)].tensor.impl() == impl) return v.root;
  return impl;
}
TT_INLINE bool Recorder::has_views(const detail::TensorImpl& target) const {
  const detail::TensorImpl* root = lists_->views.empty() ? nullptr : root_of(&target);
  for (const View& v : lists_->views)
    if (v.root == root && in_use(v.value)) return true;
  return false;
}

// ---- steps

TT_INLINE Recorder::Step& Recorder::add_step(const Operator* op, Kind kind, SourceLine at) {
  Step s;
  s.op = op;
  s.kind = kind;
  s.grad_enabled = DispatchState::of_this_thread().grad_enabled;
  s.operand = static_cast<int>(lists_->operands.size());
  s.result = static_cast<int>(lists_->values.size());
  s.word = static_cast<int>(lists_->words.size());
  s.at = at;
  lists_->steps.push_back(s);
  return lists_->steps.back();
}
TT_INLINE void Recorder::add_operand(Step& s, int value) {
  lists_->operands.push_back(value);
  ++s.operands;
  lists_->values[static_cast<std::size_t>(value)].last_use = static_cast<int>(lists_->steps.size()) - 1;
}
TT_INLINE Tensor Recorder::make(DType d, const Shape& s, const std::int64_t* strides, Device device, int step) {
  detail::TensorImpl* impl = detail::TensorImpl::make();
  Value v;
  v.tensor = Tensor(impl);
  v.step = step;
  impl->dtype = d;
  impl->device = device;
  impl->keys = KeySet(backend_key(device.type)) | DispatchKey::trace;
  if (strides) impl->set_strided(s, strides);
  else impl->set_dense(s);
  impl->trace_id = static_cast<std::int64_t>(lists_->values.size());
  impl->capture = number_;
  lists_->values.push_back(v);
  return v.tensor;
}

TT_INLINE void Recorder::record(Call& c) {
  for (int k = 0; k < c.arguments; ++k)
    if (conflicts(c[k])) {
      break_at(c[k], c.op->name(), c.at, ", which shares memory with what was changed in place");
      flush();
    }
  for (int k = 0; k < c.arguments; ++k)
    if (is_exposed(c[k])) return run_at_once(c, exposed_in_words);
  if (!c.op->record) return run_at_once(c, ", which has no graph");
  if (c.op->is_view) return record_view(c);
  SmallVec<int, few_arguments> value;
  bool required = false;
  Device device;
  for (int k = 0; k < c.arguments; ++k) {
    value.push_back(value_of(c[k], c.at));
    required = required || c[k].impl().requires_grad;
    if (c[k].dim() > 0 || k == 0) device = c[k].device();
  }
  // What comes out: plain elementwise ops need no graph for that.
  const Tensor* big = &c[0];
  DType dtype = big->dtype();
  bool plain = c.arguments <= 3;
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
  if (!plain) bound = bind_function(c);
  const int number = static_cast<int>(lists_->steps.size());
  Step& s = add_step(c.op, Kind::call, c.at);
  for (int k = 0; k < c.arguments; ++k) add_operand(s, value[k]);
  for (int k = 0; k < c.attrs().size(); ++k) lists_->words.push_back(c.attrs().value[k]);
  s.words = c.attrs().size();
  s.results = c.op->results;
  s.detached = required && !s.grad_enabled;
  required = required && s.grad_enabled;
  for (int k = 0; k < s.results; ++k) {
    c.result[k] = plain ? make(dtype, big->impl().shape, nullptr, device, number)
                        : make(bound.function->graph()[bound.function->graph().outputs[k]].dtype,
                               bound.function->output_shape(k, bound.symbols), nullptr, device, number);
    c.result[k].impl().requires_grad = required && is_floating(c.result[k].dtype());
  }
}

/// Views are steps too; what is still in use when the segment has run becomes a true view.
TT_INLINE void Recorder::record_view(Call& c) {
  const detail::TensorImpl& base = c[0].impl();
  Shape shape;
  std::int64_t strides[max_rank] = {};
  bool is_view = true;
  if (c.op == &detail::reshape_operator()) {
    shape = detail::shape_attribute(c.attrs());
    is_view = detail::reshaped_strides(base, shape, strides);
  } else {
    Tensor made;
    Call view = c;
    view.result = &made;
    c.op->slot(backend_key(base.device.type)).kernel.load(std::memory_order_acquire)(view, c.op->slot(backend_key(base.device.type)).context);
    shape = made.impl().shape;
    for (int k = 0; k < shape.rank; ++k) strides[k] = made.impl().stride[k];
  }
  const int value = value_of(c[0], c.at);
  const int number = static_cast<int>(lists_->steps.size());
  Step& s = add_step(c.op, is_view ? Kind::view : Kind::call, c.at);
  add_operand(s, value);
  for (int k = 0; k < c.attrs().size(); ++k) lists_->words.push_back(c.attrs().value[k]);
  s.words = c.attrs().size();
  s.detached = base.requires_grad && !s.grad_enabled;
  const bool required = base.requires_grad && s.grad_enabled && c.op != &detail::detach_operator();
  c.result[0] = make(base.dtype, shape, is_view ? strides : nullptr, base.device, number);
  c.result[0].impl().requires_grad = required;
  c.result[0].impl().is_view = is_view;
  c.result[0].impl().inference = base.inference;
  if (is_view) lists_->views.push_back({s.result, value, &base, root_of(&base)});
}

TT_INLINE void Recorder::run_at_once(Call& c, const char* why) {
  store_.note_break(c.op->name(), c.at, Text(c.op->name()) << why);
  flush();
  for (int k = 0; k < c.arguments; ++k)
    if (is_foreign(c[k])) detail::refuse_foreign(c[k], c.at);
  const detail::PauseCapture pause;
  Dispatcher::get().call(c);
  for (int k = 0; k < c.op->results; ++k) detail::stamp(c.result[k]);
}

TT_INLINE void Recorder::break_at(const Tensor& t, const char* op, SourceLine at, const char* why) {
  const char* made_by = "";
  if (t.impl().trace_id >= 0) {
    const Value& v = lists_->values[static_cast<std::size_t>(t.impl().trace_id)];
    const Step* s = v.step >= 0 ? &lists_->steps[static_cast<std::size_t>(v.step)] : nullptr;
    if (s && s->op) made_by = s->op->name();
    if (s && !at.line) at = s->at;
  }
  store_.note_break(op, at, detail::break_in_words(op, t, made_by) << why);
}

TT_INLINE void Recorder::need(const Tensor& t, const char* op, SourceLine at) {
  if (is_recorded(t, at)) {
    break_at(t, op, at);
    return flush();
  }
  const bool loose = std::strcmp(op, "data") == 0;
  if (!loose && is_foreign(t)) detail::refuse_foreign(t, at);
  const bool passed = !loose && !t.impl().is_number && t.impl().capture != number_;
  if (passed) break_at(t, op, at);
  if (lists_->steps.empty()) return;
  bool involved = false;
  for (const Update& u : lists_->updates) involved = involved || overlap(lists_->values[static_cast<std::size_t>(u.target)].tensor, t);
  if (loose || std::strcmp(op, "data_ptr") == 0 || std::strcmp(op, "elements") == 0)  // what is recorded reads it, and it may be written
    for (const Value& v : lists_->values) involved = involved || (v.step < 0 && overlap(v.tensor, t));
  if (!involved) return;
  if (!passed) break_at(t, op, at);
  flush();
}

// ---- in place

TT_INLINE bool Recorder::begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) {
  const detail::TapeHooks& hooks = detail::tape_hooks();
  const bool recorded = is_recorded(target, at);
  if (!recorded && is_foreign(target)) detail::refuse_foreign(target, at);
  const char* why = nullptr;
  if (!recorded && hooks.needs_tape && hooks.needs_tape(target, other)) why = ", on the tape";
  else if (!recorded && target.device().type != DeviceType::cpu) why = ", on another device";
  else if (is_exposed(target) || (other && is_exposed(*other))) why = exposed_in_words;
  else if (recorded && target.impl().is_view) why = ", which is a view";
  else if (has_views(target.impl())) why = ", which has views";
  else if (!recorded) {
    for (const Value& v : lists_->values)
      if (v.step < 0 && !v.tensor.is_same(target) && overlap(v.tensor, target)) why = ", which shares memory with what was read";
    detail::check_no_repeats(target, op, at);
  }
  if (!why) return true;
  break_at(target, op, at, why);
  if (other && other->impl().trace_id >= 0) (void)is_recorded(*other, at);
  flush();
  return false;
}
TT_INLINE void Recorder::finish_update(Tensor& target, const Tensor& value, const char*, SourceLine at) {
  if (value.impl().trace_id < 0 || value.impl().is_view)  // it must own its elements
    return finish_update(target, detail::call_unary(detail::copy_operator(), value, no_attributes, at), "", at);
  const int now = static_cast<int>(value.impl().trace_id);
  detail::TensorImpl& impl = target.impl();
  if (impl.trace_id >= 0) {  // the value's place is taken by the target, which other handles know
    Tensor& of_value = lists_->values[static_cast<std::size_t>(now)].tensor;
    Tensor& of_target = lists_->values[static_cast<std::size_t>(impl.trace_id)].tensor;
    value.impl().trace_id = impl.trace_id;
    impl.trace_id = now;
    impl.requires_grad = value.impl().requires_grad;
    of_value.swap(of_target);
    return;
  }
  const int before = value_of(target, at);
  place(&impl) = now;
  int own = -1;  // the target as it lies in memory
  for (Update& u : lists_->updates)
    if (lists_->values[static_cast<std::size_t>(u.target)].tensor.is_same(target)) {
      u.value = now;
      return;
    }
  own = before;
  lists_->updates.push_back({own, now});
}
TT_INLINE void Recorder::left(Tensor& t, bool constant) {
  if (const int k = arguments_.absent_at(place_++); k >= 0) {
    if (t.defined() && !constant) defined_.push_back({arguments_.absent[k].tensor, static_cast<Tensor&&>(t)});
    return;
  }
  const Tensor& argument = arguments_[left_++];
  if (!t.is_same(argument) && !constant) assigned_.push_back({argument, static_cast<Tensor&&>(t)});
}
TT_INLINE void Recorder::finish(const char* name, SourceLine at) {
  for (auto& [target, value] : assigned_) {
    check_parameter(target, value, name);
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
  assigned_.clear();  // what is still held is computed
  flush();
  for (const auto& [to, value] : defined_) const_cast<Tensor&>(*to) = value;
}

// ---- gradients

TT_INLINE Tensor Recorder::variable(const Tensor& t) {
  if (conflicts(t)) flush();
  const int value = value_of(t, {});
  Mark& m = marks_.back();
  if (m.first < 0) m = {static_cast<int>(lists_->steps.size()), 0};
  ++m.count;
  const int number = static_cast<int>(lists_->steps.size());
  Step& s = add_step(nullptr, Kind::variable, {});
  add_operand(s, value);
  Tensor v = make(t.dtype(), t.impl().shape, nullptr, t.device(), number);
  v.impl().requires_grad = true;
  return v;
}
TT_INLINE bool Recorder::gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) {
  bool recorded = value.impl().trace_id >= 0;
  for (int k = 0; k < count; ++k) recorded = recorded && variables[k].impl().trace_id >= 0;
  if (!recorded) return false;  // a graph break lies between them
  if (value.numel() != 1)
    TT_THROW(Error(describe({.mistake = Mistake::gradient_of_non_scalar, .op = "grad", .a = value.shape()})));
  const int number = static_cast<int>(lists_->steps.size());
  Step& s = add_step(nullptr, Kind::gradients, {});
  add_operand(s, value_of(value, {}));
  s.results = count;
  bool required = false;
  for (int k = 0; k < count; ++k) {
    const int v = value_of(variables[k], {});
    add_operand(s, v);
    const Step& made = lists_->steps[static_cast<std::size_t>(lists_->values[static_cast<std::size_t>(v)].step)];
    required = required || lists_->values[static_cast<std::size_t>(lists_->operands[static_cast<std::size_t>(made.operand)])].tensor.impl().requires_grad;
  }
  required = required && s.grad_enabled;
  for (int k = 0; k < count; ++k) {
    result[k] = make(variables[k].dtype(), variables[k].impl().shape, nullptr, variables[k].device(), number);
    result[k].impl().requires_grad = required;
  }
  marks_.back() = {};
  return true;
}

// ---- running what was recorded

TT_INLINE void Recorder::adopt(const Tensor& recorded, Tensor& from) {
  if (from.impl().uses.load(std::memory_order_relaxed) > 1) from = from.clone();  // somebody else's too
  detail::TensorImpl &to = recorded.impl(), &f = from.impl();
  std::swap(to.storage, f.storage);
  std::swap(to.autograd, f.autograd);
  to.data = f.data;
  to.keys = f.keys;
  to.requires_grad = f.requires_grad;
  to.inference = to.inference || f.inference;
  to.is_view = f.is_view;
  to.set_strided(Shape(f.shape), f.stride);
  to.trace_id = -1;
}

TT_INLINE void Recorder::mark_needed() {
  for (Value& v : lists_->values)
    if (v.step >= 0) v.needed = v.tensor.impl().uses.load(std::memory_order_relaxed) > 1;
  for (std::size_t k = lists_->views.size(); k-- > 0;)
    if (const View& v = lists_->views[k]; lists_->values[static_cast<std::size_t>(v.value)].needed)
      lists_->values[static_cast<std::size_t>(v.base)].needed = true;
  std::size_t kept = 0;  // a Tensor that was made here and that nobody holds any more need not be written
  for (const Update& u : lists_->updates) {
    const Tensor& t = lists_->values[static_cast<std::size_t>(u.target)].tensor;
    const detail::TensorImpl& impl = t.impl();
    if (impl.uses.load(std::memory_order_relaxed) > 1 || !impl.storage || impl.storage->uses.load(std::memory_order_relaxed) > 1)
      lists_->updates[kept++] = u;
  }
  lists_->updates.resize(kept);
}

TT_INLINE void Recorder::flush() {
  if (lists_->steps.empty()) return lists_->clear();
  struct Clear {
    Lists& lists;
    ~Clear() { lists.clear(); }
  };
  const detail::PauseCapture pause;
  const Clear clear{*lists_};
  mark_needed();
  int begin = 0;
  const int end = static_cast<int>(lists_->steps.size());
  bool whole = true;
  for (const Mark& m : marks_) whole = whole && m.first < 0;
  if (!whole) keep_updates();
  for (Mark& m : marks_) {
    if (m.first < 0) continue;
    store_.run(*this, begin, m.first, false);
    make_variables(m);
    begin = m.first + m.count;
    m = {};
  }
  store_.run(*this, begin, end, true);
  write_updates(0, begin);
  make_views();
}

TT_INLINE void Recorder::write_updates(int begin, int end) {
  for (const Update& u : lists_->updates) {
    if (const int step = lists_->values[static_cast<std::size_t>(u.value)].step; step < begin || step >= end) continue;
    const Tensor& target = lists_->values[static_cast<std::size_t>(u.target)].tensor;
    detail::write_elements(target, real(u.value), store_.where());
    detail::advance_version(target);
  }
}
TT_INLINE void Recorder::make_variables(const Mark& m) {
  for (int i = m.first; i < m.first + m.count; ++i) {
    const Step& s = lists_->steps[static_cast<std::size_t>(i)];
    const autograd::StepMode mode(s.grad_enabled);
    Tensor v = autograd::as_variable(real(lists_->operands[static_cast<std::size_t>(s.operand)]));
    adopt(lists_->values[static_cast<std::size_t>(s.result)].tensor, v);
  }
}
TT_INLINE void Recorder::make_views() {
  for (const View& v : lists_->views) {
    Value& value = lists_->values[static_cast<std::size_t>(v.value)];
    if (!value.needed || value.tensor.impl().trace_id < 0) continue;
    const Step& s = lists_->steps[static_cast<std::size_t>(value.step)];
    Tensor base = lists_->values[static_cast<std::size_t>(v.base)].tensor;
    for (const Update& u : lists_->updates)
      if (const Tensor& target = lists_->values[static_cast<std::size_t>(u.target)].tensor; &target.impl() == v.base_impl) base = target;
    const Tensor* argument[] = {&base};
    const Attributes a = attributes(s);
    const autograd::StepMode mode(s.grad_enabled);
    Tensor made;
    Call c{s.op, argument, 1, &a, &made, s.at, {}};
    Dispatcher::get().call(c);
    adopt(value.tensor, made);
  }
}

TT_INLINE void Recorder::run_step(int step) {
  const Step s = lists_->steps[static_cast<std::size_t>(step)];
  SmallVec<Tensor, few_results> result(s.results);
  SmallVec<const Tensor*, few_arguments> argument(s.operands);
  const autograd::StepMode mode(s.grad_enabled);
  if (s.kind == Kind::variable || s.kind == Kind::gradients)
    TT_THROW(Error(Text("tt::compile: ") << store_.name() << ": has too many different segments to keep, and this one takes gradients, so it cannot run op by op." << s.at));
  for (int k = 0; k < s.operands; ++k) argument[k] = &real(lists_->operands[static_cast<std::size_t>(s.operand + k)]);
  const Attributes a = attributes(s);
  Call c{s.op, argument.data(), s.operands, &a, result.data(), s.at, {}};
  Dispatcher::get().call(c);
  for (int k = 0; k < s.results; ++k) {
    Value& v = lists_->values[static_cast<std::size_t>(s.result + k)];
    if (s.kind == Kind::view) v.real = result[k];
    else adopt(v.tensor, result[k]);
  }
}

}  // namespace jit
}  // namespace tt
