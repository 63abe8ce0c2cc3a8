// Tracer: makes one graph of all that a function does, for all sizes. The function is run once on fake tensors in place of its arguments,
// which have dtype and shape but no elements. Each step is listed and recorded in the graph at once, so that sizes are symbols where they
// can be, and errors are those of the op. Tensors that the function makes (factories) are concrete, so that it can read them, and are
// values of the list too (tracer_made_inl.hpp).
//   Tracer t("f", guards, options, arguments, count);   Tensor y = f(t.next());   t.returned(y);   t.finish(result).graph
#pragma once
#include <exception>

#include "tt/jit/body_regions.hpp"
#include "tt/jit/capture_inl.hpp"
#include "tt/jit/graph_builder.hpp"
#include "tt/jit/recorder.hpp"

namespace tt {
namespace jit {

class Tracer final : public Recorder {
 public:
  Tracer(const char* name, const Guards& guards, TracerOptions options, const Arguments& argument, int passed);
  // Called by RecordingRun.
  Tensor next() { return stand_in_[static_cast<std::size_t>(next_++)]; }
  void returned(Tensor& t) {
    if (t.defined() || !options_.shares) give(t, returned_);
    else results_.list.push_back({.result = returned_});
    ++returned_;
    t = Tensor();
  }
  void left(const Tensor& t, bool constant);
  Recording finish(std::shared_ptr<const void> result);

  inline void record(Call& c) override;
  inline void need(const Tensor& t, const char* op, SourceLine at, detail::Use use) override;
  inline void varies(const char* op, SourceLine at) override { stop({}, op, at); }
  void break_graph(const char* op, SourceLine at) override { stop({}, op, at); }
  void may_be_written(const Tensor& t) override {
    std::erase_if(made_, [&](const Made& m) { return m.tensor.is_same(t) || m.tensor.shares_storage(t); });
  }
  inline Extent size_of(const Tensor& t, int axis) override;
  void guard_size(Extent e, std::int64_t least, std::int64_t most, SourceLine at) override { builder_.guard_size(e, least, most, at, options_.guards_sizes); }
  inline bool begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) override;
  inline void finish_update(Tensor& target, const Tensor& value, const char*, SourceLine at) override;
  Device device() const override { return runs_on_; }
  bool hears_of_factories() const override { return true; }
  inline void made(const Tensor& t, const Operator* op, const Tensor* const* numbers, int count) override;
  void made_of_sizes(const Tensor& t, const IntList& sizes) override {
    Shape s;
    for (int k = 0; k < sizes.size(); ++k) {
      s.push_back(sizes.extent(k));
      builder_.guard_corner(sizes.extent(k), {});
    }
    sized_.push_back({t, s});
  }
  void made_of_numbers(const Tensor& t) override { note(t, -1); }
  void made_of_size(const Tensor& t, Extent e) override { note(t, add_node(builder_.graph.extent(t.dtype(), e))); }
  // Control flow and transforms: tracer_control_inl.hpp.
  bool made_in_body(std::uint64_t capture) const override { return regions_.is_open(capture); }
  bool records_control() const override { return true; }
  bool records_effects() const override { return !regions_.any_open(); }
  inline void open_region() override;
  inline Tensor region_input(const Tensor& t, bool row) override;
  inline void close_region(const Tensor* const* result, int count) override;
  inline void control_flow(const tt::detail::ControlCall& c) override;
  inline void transform(const tt::detail::TransformCall& c) override;
  // Gradients inside of the function become part of the graph.
  void open_gradient() override {
    detaches_before_.push_back(detaches_);
    detaches_ = true;
  }
  void close_gradient() override {
    detaches_ = detaches_before_.back();
    detaches_before_.pop_back();
  }
  Tensor variable(const Tensor& t) override {
    check_scope(t, {});
    Tensor v;
    list_variable(t);
    record_last(&v);
    v.impl().set_strided(Shape(v.impl().shape), t.impl().stride);
    v.impl().requires_grad = true;
    sources_.push_back(id_of(v));
    if (t.impl().requires_grad) on_tape_.push_back(v.impl().trace_id);
    return v;
  }
  bool gradients(const Tensor& value, const Tensor* variables, int count, Tensor* result) override {
    check_scope(value, {});
    for (int k = 0; k < count; ++k) check_scope(variables[k], {});
    list_gradients(value, variables, count);
    record_last(result);
    bool required = false;
    for (int k = 0; k < count; ++k) required = required || std::find(on_tape_.begin(), on_tape_.end(), variables[k].impl().trace_id) != on_tape_.end();
    for (int k = 0; k < count; ++k) result[k].impl().requires_grad = required && state().grad_enabled;
    return true;
  }

 private:
  /// A concrete Tensor that the function made; once changed in place it is no value any more.
  struct Made {
    Tensor tensor;
    int value;  ///< -1: known elements, which become nodes when they are used
    std::uint32_t version;
  };
  /// A concrete Tensor whose sizes are expressions.
  struct Sized {
    Tensor tensor;
    Shape shape;
  };
  /// A Tensor given to the caller: perhaps an argument, or a view of one.
  struct Given {
    SharedResults::One as;
    Tensor tensor, base;  ///< base: of a view, else the same as `tensor`
    std::size_t value;       ///< of the base
    bool is_given = false;  ///< it has its output, or is made from another
  };
  static constexpr std::int64_t most_in_text = 16;
  GraphBuilder builder_;
  BodyRegions regions_;
  Vec<int> sources_;  ///< nodes that require a gradient; nodes that depend on them do, too
  std::vector<std::int64_t> on_tape_;  ///< variables of gradients, made of Tensors that require a gradient: so do these gradients
  const char* name_;
  const TracerOptions options_;
  const Arguments& argument_;
  const int passed_;  ///< arguments from this one on are held
  Device runs_on_{};  ///< device of the arguments
  int next_ = 0, returned_ = 0, left_ = 0, place_ = 0;
  std::vector<Tensor> stand_in_;
  SmallVec<int, 16> first_same_;  ///< of each argument
  std::vector<int> input_;  ///< nodes of the fake tensors
  std::vector<Made> made_;
  std::vector<Sized> sized_;
  bool detaches_ = state().grad_enabled;  ///< results made while gradients are disabled are detached
  std::vector<char> detaches_before_;
  Text broken_;  ///< message of the first graph break, as the function may have caught it
  SourceLine broken_at_{};
  std::exception_ptr thrown_;  ///< error at a Tensor from outside, as the function may have caught it
  const std::uint64_t exceptions_before_ = detail::exceptions_made;
  Recording recording_;
  SharedResults results_;
  std::vector<Given> given_;  ///< results, then Tensors assigned to arguments
  std::vector<std::pair<int, int>> updates_;  ///< nodes, and the argument whose memory each takes over, or -1
  std::vector<Tensor> assigned_;  ///< the Tensor assigned to each argument, which is written then

  Tensor last_result_like(const Tensor&) override {
    Tensor r;
    record_last(&r);
    return r;
  }
  /// Notes the view that the last step made; the list keeps both Tensors, for their strides if they are given back.
  void note_shared(const Call& c) {
    note_view(c.result[0], c[0]);
    list_->values.back().tensor = c.result[0];
    list_->value(list_->views.back().base).tensor = c[0];
  }

  // ---- values and their nodes
  inline int value_from_outside(const Tensor& t, SourceLine at) override;
  int id_of(const Tensor& t, SourceLine at = {}) {
    check_scope(t, at);
    return builder_.node(value_of(t, at));
  }
  /// Throws a graph break if `t` was made in a body that is closed: it may not have run, or have run many times.
  inline void check_scope(const Tensor& t, SourceLine at);
  inline bool is_of_body(const Tensor& t) const;
  /// Adds a value for node `id`: of no step, or a further one of step `step`.
  int add_node(int id, int step = -1) {
    const int value = list_->add({.step = step});
    builder_.set_node(value, id);
    return value;
  }
  int add_constant(const Tensor& t) { return add_node(builder_.constant(t, shape_of(t))); }
  Tensor tensor_of(int value) const;
  /// Records the last step of the list in the graph, and adds its results as values.
  void record_last();
  /// The same; sets `result` to fake tensors.
  void record_last(Tensor* result) {
    record_last();
    const Step& s = list_->steps.back();
    for (int k = 0; k < s.results; ++k) result[k] = tensor_of(s.result + k);
  }
  /// The shape of a concrete Tensor, with symbols.
  Shape shape_of(const Tensor& t) const {
    for (const Sized& s : sized_)
      if (s.tensor.is_same(t)) return s.shape;
    return builder_.symbolic_shape(t.impl().shape);
  }

  inline void give_results(Tensor* to, const Vec<int>& made, int count, SourceLine at);
  // ---- Tensors that the function makes
  /// The value of a Tensor, if it is unchanged; -1: none.
  int known(const Tensor& t);
  int text_of(const Tensor& t);
  int held(const Tensor& t);
  bool run_at_once(Call& c);
  void note(const Tensor& t, int value) {  // Tensors that nobody else holds are forgotten
    std::erase_if(made_, [](const Made& m) { return m.tensor.impl().uses.load(std::memory_order_relaxed) == 1; });
    made_.push_back({t, value, t.version()});
  }
  bool become_recorded(const Tensor& t, SourceLine at);
  /// The function reads the elements of `t`: specialises the sizes that they depend on.
  void look_at_elements(const Tensor& t, SourceLine at);

  // ---- results, and changes of arguments
  Tensor steps_to(Tensor t, std::vector<ViewStep>& steps) const;
  void give(const Tensor& t, int result);
  void put(int number, int id, const Tensor& value);
  void output(const Tensor& t);
  void output_results();
  void output_assigned();
  [[noreturn]] void stop(const Tensor& t, const char* op, SourceLine at);
};

inline Tracer::Tracer(const char* name, const Guards& guards, TracerOptions options, const Arguments& argument, int passed)
    : builder_(guards.sizes.values, guards.sizes.as_numbers, false), name_(name), options_(static_cast<TracerOptions&&>(options)), argument_(argument), passed_(passed),
      assigned_(static_cast<std::size_t>(argument.count())) {
  capture_number = number_;
  runs_on_ = device_of(argument.tensor.data(), argument.count());
  const std::vector<Signature::Input> inputs = guards.sizes.inputs();
  first_same_ = argument.first_same();
  for (int k = 0; k < argument.count(); ++k) {
    const Signature::Input& in = inputs[static_cast<std::size_t>(k)];
    const int value = add_node(builder_.graph.input(in.dtype, in.shape, in.strides));
    const int same = first_same_[k];  // an argument passed twice is one Tensor
    stand_in_.push_back(same == k ? tensor_of(value) : stand_in_[static_cast<std::size_t>(same)]);
    if (same == k) {
      detail::TensorImpl& impl = stand_in_.back().impl();
      impl.requires_grad = argument[k].impl().requires_grad;
      impl.set_strided(Shape(impl.shape), argument[k].impl().stride);
    }
    input_.push_back(id_of(stand_in_.back()));
    if (argument[k].impl().requires_grad) sources_.push_back(input_.back());
    if (k >= passed) list_->place(&argument[k].impl()) = value_of(stand_in_.back());
  }
}

// ---- values and their nodes

inline Tensor Tracer::tensor_of(int value) const {
  Shape s;
  const Node& n = builder_.graph[builder_.node(value)];
  for (int k = 0; k < n.shape.rank; ++k) s.push_back(n.shape[k].value(builder_.values));
  return stand_for(value, n.dtype, s, nullptr, {DeviceType::meta, 0});
}

inline void Tracer::record_last() {
  const int last = list_->count() - 1;
  try {
    builder_.add(*list_, last, last + 1);
  } catch (...) {
    list_->steps.pop_back();
    throw;
  }
  for (int k = 0; k < list_->step(last).results; ++k) list_->add({.step = last});
}

inline int Tracer::value_from_outside(const Tensor& t, SourceLine at) {
  if (const int value = known(t); value >= 0) return value;
  if (is_constant(t)) return add_constant(t);
  if (made_here(t)) stop(t, "a Tensor that the function makes, which is no constant:", at);
  try {
    if (options_.holds) throw TensorMet{t};
    need_no_tangent(t, at);
    refuse_foreign(t, at);
  } catch (...) {
    thrown_ = std::current_exception();
    throw;
  }
}

inline void Tracer::record(Call& c) {
  for (int k = 0; k < c.arguments && regions_.any_left(); ++k) check_scope(c[k], c.at);
  if (!has_effect(*c.op) && run_at_once(c)) return;
  if (has_effect(*c.op) && regions_.any_open()) stop(c[0], "an op with an effect, in the body of a branch, a loop or a transform,", c.at);
  if (!c.op->record) stop(c.arguments ? c[0] : Tensor(), c.op->name(), c.at);
  detail::check_external(c);
  list_call(c, values_of(c), detaches_);
  const bool required = requires_gradient(c) && state().grad_enabled;
  if (required && !began_with_gradients() && detaches_before_.empty()) stop(c[0], "EnableGrad, in a call under NoGrad, before an op", c.at);
  record_last(c.result);
  for (int k = 0; k < c.op->results; ++k) c.result[k].impl().requires_grad = required && is_floating(c.result[k].dtype());
  if (!c.op->is_view) return keep_order(c);
  Shape shape;
  DType dtype{};
  std::int64_t strides[max_rank] = {};
  if (!view_strides(c, shape, strides, dtype)) return;
  c.result[0].impl().set_strided(shape, strides);
  note_shared(c);
}

inline void Tracer::need(const Tensor& t, const char* op, SourceLine at, detail::Use use) {
  const detail::TensorImpl& impl = t.impl();
  check_scope(t, at);
  const bool foreign = impl.trace_id < 0 && !made_here(t) && use != detail::Use::untyped_pointer;
  if (impl.trace_id >= 0 ? impl.capture == number_ : foreign && options_.holds) stop(t, op, at);
  if (foreign) refuse_foreign(t, at);
  if (impl.trace_id < 0 && made_here(t)) look_at_elements(t, at);
}

inline Extent Tracer::size_of(const Tensor& t, int axis) {
  int value = t.impl().trace_id < 0 || t.impl().capture == number_ ? known_value(t) : -1;
  bool is_known = !made_here(t) || is_constant(t);
  for (const Made& m : made_)
    if (value < 0 && m.tensor.is_same(t)) {
      value = m.value;
      is_known = true;
    }
  if (value < 0 && !is_known) builder_.fix_all({});  // made from others, in an unknown way
  const Shape s = value >= 0 ? builder_.graph[builder_.node(value)].shape : shape_of(t);
  return axis < 0 ? s.size() : s[axis];
}

// ---- in place

inline bool Tracer::begin_update(Tensor& target, const Tensor* other, const char* op, SourceLine at) {
  (void)is_recorded(target, at);
  check_no_leaf(target, at);
  if (known_value(target) < 0) {  // neither recorded nor held
    if (regions_.any_open()) stop(target, op, at);
    if (!made_here(target)) (void)value_of(target, at);  // throws
    if (!is_constant(target) && known(target) < 0) {
      if (!other) return false;
      if (other->impl().trace_id >= 0) stop(target, op, at);
      if (!made_here(*other)) {
        (void)value_of(*other, at);  // throws, if it is not held
        stop(target, op, at);        // a held Tensor may have other elements at the next call
      }
      return false;
    }
    if (!become_recorded(target, at)) stop(target, op, at);
  }
  const Tensor base = base_of(target);
  for (int k = 0; k < argument_.count() && state().grad_enabled && target.impl().requires_grad; ++k)  // the error of the call itself
    if (const detail::PauseCapture pause; base.is_same(stand_in_[static_cast<std::size_t>(k)]) && argument_[k].impl().requires_grad && argument_[k].is_leaf())
      autograd::refuse_change(base.is_same(target) ? "a leaf" : "a view of a leaf", at);
  if (base.is_same(target)) detail::check_no_repeats(target, op, at);
  if (regions_.any_open() && !is_of_body(base)) stop(target, op, at);
  if (detail::is_changed_off_tape(base) || !can_put(target, has_history(base, other))) stop(target, op, at);
  return true;
}

inline void Tracer::finish_update(Tensor& target, const Tensor& value, const char* op, SourceLine at) {
  const int before = known_value(target);
  if (before >= 0 && list_->value(before).root >= 0) return write_through(target, value, op, at);
  const int from = value_of(value, at);
  const int now = add_node(builder_.node(from), list_->value(from).step);  // a value of its own: no view of anything
  if (target.impl().trace_id < 0) {
    list_->place(&target.impl()) = now;
  } else {
    target.impl().trace_id = now;
    target.impl().requires_grad = value.impl().requires_grad;
  }
  renew_views(before, target, at);
}

[[noreturn]] inline void Tracer::stop(const Tensor& t, const char* op, SourceLine at) {
  const Text what = break_in_words(op, t, at);
  if (broken_.empty() || broken_at_.line == 0) {  // an exception of the function's own has no line
    broken_ = what;
    broken_at_ = at;
  }
  if (options_.breaks) throw GraphBreak{what, at};
  TT_THROW(Error(Text("tt::") << options_.who << broken_ << ". Return it, and look at it outside?" << broken_at_));  // the first break: others may follow from it
}

// ---- results, and changes of arguments

/// The base of a view, or `t` itself, and the steps from the base to `t`.
inline Tensor Tracer::steps_to(Tensor t, std::vector<ViewStep>& steps) const {
  for (std::size_t k = list_->views.size(); k-- > 0;)
    if (const View& v = list_->views[k]; list_->value(v.value).tensor.is_same(t)) {
      const Step& made = list_->step(list_->value(v.value).step);
      steps.insert(steps.begin(), {made.op, list_->attributes(made), made.grad_enabled});
      t = list_->value(v.base).tensor;
    }
  return t;
}
inline void Tracer::give(const Tensor& t, int result) {
  check_scope(t, {});
  SharedResults::One as{.result = result};
  const Tensor base = options_.shares ? steps_to(t, as.steps) : t;
  for (int k = 0; options_.shares && as.argument < 0 && k < argument_.count(); ++k)
    if (base.is_same(stand_in_[static_cast<std::size_t>(k)]) || (k >= passed_ && base.is_same(argument_[k]))) as.argument = k;
  const auto same = std::find_if(given_.begin(), given_.end(), [&](const Given& x) { return x.base.is_same(base); });  // a constant is another value each time
  given_.push_back({static_cast<SharedResults::One&&>(as), t, base, same != given_.end() ? same->value : static_cast<std::size_t>(value_of(base))});
}
/// Argument `number` is changed: it gets the elements of node `id`. `value`: the Tensor that was assigned to it, if any.
inline void Tracer::put(int number, int id, const Tensor& value) {
  const bool assigned = value.defined();
  bool shared = false;
  for (int j = 0; j < argument_.count(); ++j)
    shared = shared || (j != number && argument_.share(j, number) &&
                        (assigned || number >= passed_ || j >= passed_ || first_same_[j] != first_same_[number]));
  if (shared && !assigned && options_.breaks)  // recorded at each call, it is known which reads come before the change
    throw GraphBreak{Text("a change of argument ") << number << ", which shares memory with another one"};
  if (shared) refuse_shared(name_, number);
  const bool taped = argument_.on_tape();  // memory saved by the tape must not change
  updates_.push_back({id, !taped && argument_.lies_alone(number) ? number : -1});
  recording_.updated.push_back(number);
  if (assigned) assigned_[static_cast<std::size_t>(number)] = value;
}
inline void Tracer::left(const Tensor& t, bool constant) {
  const int place = place_++;
  if (argument_.is_absent(place)) {
    if (!constant && t.defined()) give(t, -1 - place);
    return;
  }
  const int number = left_++;
  const Tensor& before = stand_in_[static_cast<std::size_t>(number)];
  const auto give_handle = [&] {  // the old Tensor may have been changed in place before
    if (const int own = id_of(before); first_same_[number] == number && own != input_[static_cast<std::size_t>(number)]) put(number, own, {});
    if (t.defined()) give(t, -1 - place);
    else results_.list.push_back({.result = -1 - place});
  };
  if (!t.defined()) return constant ? void() : give_handle();
  const int id = id_of(t);
  const bool assigned = !t.is_same(before);  // to the handle only
  if (id == input_[static_cast<std::size_t>(number)] || (assigned && constant)) return;
  if (first_same_[number] != number && !assigned) return;  // updated as the first one
  if (assigned && !(is_alike(before, t) && builder_.graph[id].shape == builder_.graph[input_[static_cast<std::size_t>(number)]].shape)) {
    if (!options_.shares) TT_THROW(Error(Text("tt::") << name_ << ": argument " << number << " becomes a Tensor of another shape or dtype: " << tt::name(before.dtype()) << ' '
                                         << before.shape() << " became " << tt::name(t.dtype()) << ' ' << t.shape() << ". Return it?"));
    return give_handle();
  }
  put(number, id, assigned ? t : Tensor());
}
inline void Tracer::output(const Tensor& t) {
  if (options_.shares) add_output(builder_.graph, id_of(t), t, recording_.ordered);
  else builder_.graph.output(id_of(t));
}
/// Results are outputs; of results that share memory one is an output, or their base, and the others are made from it. The old value of an
/// argument that is assigned to is an output (a copy), as the elements of the argument change. A Tensor assigned to an argument is that
/// argument.
inline void Tracer::output_results() {
  std::vector<int> given(list_->values.size()), output_of(list_->values.size(), -1);
  for (Given& x : given_) {
    if (x.as.argument >= 0 && assigned_[static_cast<std::size_t>(x.as.argument)].defined()) x.as.argument = -1;
    for (const int k : recording_.updated)
      if (const Tensor& t = assigned_[static_cast<std::size_t>(k)]; options_.shares && t.defined() && t.is_same(x.base)) x.as.argument = k;
    if (x.as.argument < 0 && options_.shares) ++given[x.value];
  }
  for (Given& x : given_) {
    if (x.as.result < 0 || x.as.argument >= 0) continue;
    if (given[x.value] > 1 && (output_of[x.value] >= 0 || !x.as.steps.empty())) continue;
    x.is_given = true;
    output(x.tensor);
    output_of[x.value] = recording_.results++;
  }
  for (Given& x : given_) {
    if (x.is_given || (x.as.argument < 0 && given[x.value] < 2)) continue;
    if (x.as.argument < 0) {
      if (output_of[x.value] < 0) {
        output(x.base);
        output_of[x.value] = recording_.results++;
      }
      x.as.output = output_of[x.value];
    }
    x.is_given = true;
    results_.list.push_back(static_cast<SharedResults::One&&>(x.as));
  }
}
/// Outputs for Tensors assigned to arguments, where they are not made from another output or argument.
inline void Tracer::output_assigned() {
  for (const Given& x : given_) {
    if (x.is_given) continue;
    output(x.tensor);
    results_.assigned.push_back(-1 - x.as.result);
  }
}
inline Recording Tracer::finish(std::shared_ptr<const void> result) {
  Graph& g = builder_.graph;
  for (int k = passed_; k < argument_.count(); ++k)
    if (const int id = id_of(argument_[k]); id != input_[static_cast<std::size_t>(k)]) put(k, id, {});
  output_results();
  for (const auto& [id, into] : updates_) g.output(id, into);
  output_assigned();
  for (const int id : builder_.effects) g.output(id);  // after all outputs that callers read
  recording_.guards = builder_.take_guards(options_.guards_sizes, detail::exceptions_made != exceptions_before_);  // a caught one may depend on any size
  if (thrown_) std::rethrow_exception(thrown_);  // which the function caught
  if (!broken_.empty()) throw GraphBreak{broken_, broken_at_};
  if (g.failure) TT_THROW(Error(describe(g.failure)));
  recording_.result = static_cast<std::shared_ptr<const void>&&>(result);
  recording_.graph = builder_.finished(argument_.on_tape());
  std::sort(results_.list.begin(), results_.list.end(), [](const SharedResults::One& a, const SharedResults::One& b) { return a.result < b.result; });
  if (!results_.list.empty() || !results_.assigned.empty()) recording_.shared = std::make_shared<const SharedResults>(static_cast<SharedResults&&>(results_));
  return static_cast<Recording&&>(recording_);
}

}  // namespace jit
}  // namespace tt

#include "tt/jit/tracer_control_inl.hpp"
#include "tt/jit/tracer_made_inl.hpp"
