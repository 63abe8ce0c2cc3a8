// Capturing: a function is run once on Tensors that record what is done with them. What the recording
// took for granted is in its Guards; jit/compile.hpp and jit/trace.hpp keep recordings and run them. It is long because
// guarding, recording and running all work on the arguments of one call.
//   Recording r = record(f, "f", guards, argument, count, x, y);   r.graph, r.results, r.updated
#pragma once
#include <memory>

#include "tt/autograd/functional.hpp"

namespace tt {

/// What runs a graph: from its inputs to its outputs, in order.
using CompiledGraph = Callable<std::vector<Tensor>(const std::vector<Tensor>&)>;

namespace jit {

/// A struct whose members are visible and are not those of a list.
template <class T>
concept PlainStruct = std::is_aggregate_v<T> && std::is_class_v<T> && !requires { std::tuple_size<T>::value; };

/// The Tensors of an argument or a result, in order.
template <class A, class F>
void each_leaf(A& a, const F& f) {
  using T = std::remove_cv_t<A>;
  if constexpr (std::is_same_v<T, Tensor>) f(a);
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_empty_v<T>) return;
  else if constexpr (ParameterStruct<T>) for_each_member([&](auto& leaf) { each_leaf(leaf, f); }, a);
  else if constexpr (requires { std::tuple_size<T>::value; }) std::apply([&](auto&... x) { (each_leaf(x, f), ...); }, a);
  else if constexpr (requires { std::begin(a); std::end(a); }) for (auto& x : a) each_leaf(x, f);
  else if constexpr (PlainStruct<T>) tt::detail::with_members(a, [&](auto&... m) { (each_leaf(m, f), ...); });
  else static_assert(std::is_void_v<T>, "tt::compile: arguments and results are Tensors, numbers, and structs and lists of them");
}
/// Numbers are guarded by value, lists by their length: f(its bits, is it a floating one).
template <class A, class F>
void each_number(const A& a, const F& f) {
  if constexpr (std::is_same_v<A, Tensor> || std::is_empty_v<A>) return;
  else if constexpr (std::is_floating_point_v<A>) f(std::bit_cast<std::int64_t>(static_cast<double>(a)), true);
  else if constexpr (std::is_integral_v<A> || std::is_enum_v<A>) f(static_cast<std::int64_t>(a), false);
  else if constexpr (ParameterStruct<A>) for_each_member([&](const auto& leaf) { each_number(leaf, f); }, a);
  else if constexpr (requires { std::tuple_size<A>::value; }) std::apply([&](const auto&... x) { (each_number(x, f), ...); }, a);
  else if constexpr (requires { std::begin(a); std::end(a); }) {
    std::int64_t length = 0;
    for (const auto& x : a) {
      each_number(x, f);
      ++length;
    }
    f(length, false);
  } else if constexpr (PlainStruct<A>) {
    tt::detail::with_members(a, [&](const auto&... m) { (each_number(m, f), ...); });
  }
}
/// The numbers of a call, in order.
struct Numbers {
  static constexpr std::size_t capacity = 64;
  std::int64_t value[capacity];
  std::uint64_t real = 0;  ///< which are floating, as bits
  std::size_t size = 0;
  void push(std::int64_t v, bool floating) {
    if (size == capacity) TT_THROW(Error(Text("tt::compile: a call has at most ") << capacity << " numbers."));
    if (floating) real |= std::uint64_t{1} << size;
    value[size++] = v;
  }
};

/// Tells the types of arguments apart.
template <class... A>
std::int64_t type_number() {
  static const char place = 0;
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&place));
}

/// One storage, or two over memory that overlaps.
inline bool overlap(const Tensor& x, const Tensor& y) {
  const Storage *a = x.impl().storage, *b = y.impl().storage;
  if (!a || !b || a == b) return a && a == b;
  const auto *p = static_cast<const std::byte*>(a->data), *q = static_cast<const std::byte*>(b->data);
  return p < q + b->bytes && q < p + a->bytes;
}
/// All Tensors of a call.
struct Arguments {
  const Tensor* tensor[max_inputs];
  int count = 0;

  Arguments() = default;
  template <class... A>
  explicit Arguments(const char* name, const A&... a) {
    (each_leaf(a, [&](const Tensor& t) { add(name, t); }), ...);
  }
  void add(const char* name, const Tensor& t) {
    if (count == max_inputs)
      TT_THROW(Error(Text("tt::compile: ") << name << ": at most " << max_inputs << " Tensors can be passed."));
    if (t.is_meta())
      TT_THROW(Error(Text("tt::compile: ") << name << ": argument " << count << " has no elements: it is on device meta"
                     << (t.impl().trace_id < 0 ? "." : ", recorded by a capture.")));
    tensor[count++] = &t;
  }
  const Tensor& operator[](int k) const { return *tensor[k]; }
  bool share(int j, int k) const { return overlap(*tensor[j], *tensor[k]); }
  /// The first argument that shares memory, or k.
  int first_sharing(int k) const {
    for (int j = 0; j < k; ++j)
      if (share(j, k)) return j;
    return k;
  }
  /// The first argument that is the same elements in the same shape, or k.
  int first_same(int k) const {
    const auto& t = tensor[k]->impl();
    for (int j = 0; j < k; ++j) {
      const auto& o = tensor[j]->impl();
      if (&o == &t) return j;
      if (o.data != t.data || o.dtype != t.dtype || !(o.shape == t.shape) || o.numel == 0 || o.requires_grad || t.requires_grad) continue;
      bool same = true;
      for (int d = 0; d < t.shape.rank; ++d) same = same && (o.stride[d] == t.stride[d] || t.shape.code[d] == 1);
      if (same) return j;
    }
    return k;
  }
  /// Does the tape record what is done with them?
  bool on_tape() const {
    bool any = false;
    for (int k = 0; k < count; ++k) any = any || tensor[k]->impl().requires_grad;
    return any && DispatchState::of_this_thread().grad_enabled;
  }
  bool overlaps_another(int k) const {
    for (int j = 0; j < count; ++j)
      if (j != k && share(j, k)) return true;
    return false;
  }
};

/// What one capture is good for: everything that is compared, word by word.
struct Guards {
  BasicSignature<max_inputs> sizes;  ///< behind the sizes: overlaps and other devices, what requires a gradient, modes, numbers
  int overlaps = 0, requires_grad = 0, numbers = 0;  ///< where those begin
  std::uint64_t real_numbers = 0;

  TT_INLINE Guards(const Arguments& a, const Numbers* n, unsigned as_numbers);
  bool same(const Guards& o) const { return sizes == o.sizes; }
  /// Does the tape record what is done with the arguments?
  bool on_tape() const { return sizes.word[requires_grad] && sizes.word[requires_grad + 1] & 1; }
  bool in_inference_mode() const { return sizes.word[requires_grad + 1] & 2; }
};

/// In words, what differs between a call and an earlier capture.
TT_INLINE Text difference(const Guards& before, const Guards& now);

/// What a function did.
struct Recording {
  Graph graph;
  int results = 0;                     ///< outputs that the function returns; the rest are updates
  std::vector<int> updated;            ///< for each update: which argument
  std::shared_ptr<const void> result;  ///< the function's result without its Tensors: numbers, lengths of lists
};

/// What is said about a parameter that becomes another kind of Tensor.
TT_INLINE void check_parameter(const Tensor& before, const Tensor& after, const char* name);

/// One run of a function on stand-ins of some sizes: what it is given, and what is made of what it did. Arguments behind
/// the `passed` ones of the call are held.
class RecordingRun {
 public:
  TT_INLINE RecordingRun(const char* name, const Guards& guards, TracerOptions options, const SymbolValues& sizes,
                         const Arguments& argument, int passed);
  RecordingRun(const RecordingRun&) = delete;
  TT_INLINE ~RecordingRun();
  /// What the function gets in the place of each argument, in order.
  TT_INLINE Tensor next();
  /// A Tensor that it returned; nothing is left of it.
  TT_INLINE void returned(Tensor& t);
  /// The arguments as it left them, in order: what was assigned to a constant one is nobody's.
  TT_INLINE void left(const Tensor& t, bool constant);
  /// `result`: without its Tensors.
  TT_INLINE Recording finish(std::shared_ptr<const void> result);

 private:
  const char* name_;
  const Arguments& argument_;
  const int passed_;
  int next_ = 0, left_ = 0;
  Tracer tracer_;
  Recording recording_;
  std::vector<Tensor> stand_in_;
  std::vector<int> input_;  ///< nodes of the stand-ins

  static TracerOptions with_numbers(TracerOptions o, const Guards& guards) {
    o.as_numbers = guards.sizes.as_numbers;
    return o;
  }
  TT_INLINE void put(int number, int id, bool assigned);
};

template <class... A>
int count_leaves(const A&... a) {
  int n = 0;
  (each_leaf(a, [&](const Tensor&) { ++n; }), ...);
  return n;
}
template <class A>
void note_left(auto& run, std::remove_cvref_t<A>& a) {
  each_leaf(a, [&](Tensor& t) { run.left(t, std::is_const_v<A>); });
}
/// Runs `f` on stand-ins of these sizes and keeps what it does.
template <class F, class... A>
Recording record_once(const F& f, const char* name, const Guards& guards, const TracerOptions& options, const SymbolValues& sizes,
                      const Arguments& argument, A&... a) {
  RecordingRun run(name, guards, options, sizes, argument, count_leaves(a...));
  std::tuple<std::remove_cvref_t<A>...> traced(a...);
  std::shared_ptr<const void> kept;
  std::apply([&](auto&... x) { (each_leaf(x, [&](Tensor& t) { t = run.next(); }), ...); }, traced);
  using Result = std::invoke_result_t<const F&, A&...>;
  if constexpr (std::is_void_v<Result>) {
    std::apply(f, traced);
  } else {
    auto result = std::make_shared<std::remove_cvref_t<Result>>(std::apply(f, traced));
    each_leaf(*result, [&](Tensor& t) { run.returned(t); });
    kept = result;
  }
  std::apply([&](auto&... x) { (note_left<A>(run, x), ...); }, traced);
  return run.finish(kept);
}

/// A function, recorded once on stand-ins of the sizes that it is given.
using RecordOnce = CallableRef<Recording(const SymbolValues&)>;
/// Records it, and twice more where sizes are symbols, with others: a function that uses sizes as numbers
/// does something else then. Throws SizesNeeded if it does, with the sizes that matter. A branch that these sizes take
/// alike, such as one on a far larger size, is not found: pass what decides it as a number.
TT_INLINE Recording record(const RecordOnce& once, const Guards& guards);

/// Undefined Tensors on the stack, as many as are asked for.
class Results {
 public:
  explicit Results(int count) : count_(count) {
    for (int k = 0; k < count_; ++k) new (&(*this)[k]) Tensor;
  }
  Results(const Results&) = delete;
  ~Results() {
    for (int k = 0; k < count_; ++k) (*this)[k].~Tensor();
  }
  Tensor& operator[](int k) { return reinterpret_cast<Tensor*>(memory_)[k]; }

 private:
  int count_;
  alignas(Tensor) std::byte memory_[sizeof(Tensor) * max_outputs];
};

/// What a graph has become: a function of tt's own, or what a backend made of it.
struct Executable {
  std::shared_ptr<const GraphFunction> function;
  CompiledGraph by_backend;  ///< empty: the function runs
  const GraphFunction::Joint* joint = nullptr;  ///< on the tape: its halves run in the function's place

  const GraphFunction& forward() const { return joint ? *joint->forward : *function; }
};
/// Runs it on a call's arguments: `results` of its outputs to the caller, the others into the arguments `updated`.
/// Updates are on the tape, if what runs is, unless they were recorded while it was off.
TT_INLINE void execute(const Executable& e, const Arguments& argument, const SymbolValues& symbols, std::span<const int> updated,
                       int results, bool taped, bool updates_taped, const char* name, SourceLine at, Tensor* out);

/// Runs a recording: its outputs, the updates written. `plain`: neither on the tape nor in inference mode.
TT_INLINE void run_into(Tensor* out, const Recording& r, const Executable& e, const Arguments& argument, const SymbolValues& symbols,
                        bool plain, const char* name, SourceLine at);
/// The same; returns the results.
template <class R>
R run(const Recording& r, const Executable& e, const Arguments& argument, const SymbolValues& symbols, bool plain, const char* name,
      SourceLine at) {
  Results results(e.function->outputs());
  run_into(&results[0], r, e, argument, symbols, plain, name, at);
  if constexpr (!std::is_void_v<R>) {
    R result = *static_cast<const R*>(r.result.get());
    std::size_t next = 0;
    each_leaf(result, [&](Tensor& t) { t = results[static_cast<int>(next++)]; });
    return result;
  }
}

#if !defined(TT_COMPILED) || defined(TT_BUILD)

TT_INLINE Guards::Guards(const Arguments& a, const Numbers* n, unsigned as_numbers)
    : sizes(a.tensor, a.count, no_attributes, as_numbers), overlaps(sizes.words) {
  std::int64_t required = 0;
  const std::byte *begin[max_inputs], *end[max_inputs];  // of the memory of each
  for (int k = 0; k < a.count; ++k) {
    const detail::TensorImpl& t = a[k].impl();
    if (t.requires_grad) required |= std::int64_t{1} << k;
    if (t.device.type != DeviceType::cpu) sizes.push(-2 - ((std::int64_t{k} << 8 | static_cast<int>(t.device.type)) << 32 | t.device.index));
    begin[k] = t.storage ? static_cast<const std::byte*>(t.storage->data) : nullptr;
    end[k] = begin[k] + (t.storage ? t.storage->bytes + (t.storage->bytes == 0) : 0);
    int first = 0;
    while (first < k && (begin[first] >= end[k] || begin[k] >= end[first])) ++first;
    if (first != k) sizes.push((k << 8 | first) << 8 | a.first_same(k));
  }
  sizes.push(-1);
  requires_grad = sizes.words;
  sizes.push(required);
  const DispatchState& state = DispatchState::of_this_thread();
  sizes.push((state.grad_enabled ? 1 : 0) | (state.inference ? 2 : 0));
  numbers = sizes.words;
  if (!n) return;
  real_numbers = n->real;
  for (std::size_t k = 0; k < n->size; ++k) sizes.push(n->value[k]);
}

TT_INLINE RecordingRun::RecordingRun(const char* name, const Guards& guards, TracerOptions options, const SymbolValues& sizes,
                                     const Arguments& argument, int passed)
    : name_(name), argument_(argument), passed_(passed), tracer_(with_numbers(static_cast<TracerOptions&&>(options), guards)) {
  tracer_.values = sizes;
  for (int k = argument.count - 1; k >= 0; --k)
    if (argument[k].dim() > 0 || k == 0) tracer_.runs_on = argument[k].device();
  for (int k = 0; k < argument.count; ++k) {
    const Tensor own = tracer_.input(guards.sizes.dtype[k], guards.sizes.shape[k], guards.sizes.strides[k]);
    own.impl().requires_grad = argument[k].impl().requires_grad;
    const int same = argument.first_same(k);  // what is passed twice is one Tensor
    stand_in_.push_back(same == k ? own : stand_in_[static_cast<std::size_t>(same)]);
  }
  for (const Tensor& t : stand_in_) input_.push_back(tracer_.id_of(t));
  for (int k = passed; k < argument.count; ++k) tracer_.hold(argument[k], input_[static_cast<std::size_t>(k)]);
}
TT_INLINE RecordingRun::~RecordingRun() = default;
TT_INLINE Tensor RecordingRun::next() { return stand_in_[static_cast<std::size_t>(next_++)]; }
TT_INLINE void RecordingRun::returned(Tensor& t) {
  tracer_.graph.output(tracer_.id_of(t));
  ++recording_.results;
  t = Tensor();
}
/// An argument is changed, and becomes what a node is.
TT_INLINE void RecordingRun::put(int number, int id, bool assigned) {
  bool shared = false;
  for (int j = 0; j < argument_.count; ++j)
    shared = shared || (j != number && argument_.share(j, number) &&
                        (assigned || number >= passed_ || j >= passed_ || argument_.first_same(j) != argument_.first_same(number)));
  if (shared)
    TT_THROW(Error(Text("tt::compile: ") << name_ << ": argument " << number << " is changed, and shares memory with another one. "
                   "Pass a copy of one of them?"));
  const bool taped = argument_.on_tape();  // then what was saved must stay as it is
  const bool donated = !taped && argument_[number].is_contiguous() && !argument_.overlaps_another(number);
  tracer_.graph.output(id, donated ? number : -1);
  recording_.updated.push_back(number);
}
TT_INLINE void RecordingRun::left(const Tensor& t, bool constant) {
  const int number = left_++, id = tracer_.id_of(t);
  const Tensor& before = stand_in_[static_cast<std::size_t>(number)];
  const bool assigned = !t.is_same(before);  // to the handle only
  if (id == input_[static_cast<std::size_t>(number)] || (assigned && constant)) return;
  if (argument_.first_same(number) != number && !assigned) return;  // updated there
  check_parameter(before, t, name_);
  put(number, id, assigned);
}
TT_INLINE Recording RecordingRun::finish(std::shared_ptr<const void> result) {
  Graph& g = tracer_.graph;
  for (int k = passed_; k < argument_.count; ++k)
    if (const int id = tracer_.id_of(argument_[k]); id != input_[static_cast<std::size_t>(k)]) put(k, id, false);
  if (g.outputs.size() > max_outputs) g.fail({.mistake = Mistake::too_many_outputs, .op = "compile", .number = g.outputs.size()});
  if (!tracer_.broken.empty()) throw GraphBreak{tracer_.broken, tracer_.broken_at};  // which the function caught
  if (g.failure) TT_THROW(Error(describe(g.failure)));
  recording_.result = static_cast<std::shared_ptr<const void>&&>(result);
  recording_.graph = canonical(g);
  return static_cast<Recording&&>(recording_);
}

inline bool same_graph(const Recording& a, const Recording& b) {
  const Graph &g = a.graph, &h = b.graph;
  if (g.size() != h.size() || g.outputs.size() != h.outputs.size() || a.updated != b.updated) return false;
  for (int k = 0; k < g.outputs.size(); ++k)
    if (g.outputs[k] != h.outputs[k]) return false;
  for (int i = 0; i < g.size(); ++i)
    if (!(g[i] == h[i])) return false;
  return true;
}
/// Sizes that are tried besides the real one: the next, of other parity, and about twice as large a one.
inline constexpr int tried_factors[] = {1, 2};
constexpr std::int64_t tried_size(std::int64_t size, int factor) { return factor * size + 1; }
/// Does the function do the same with these sizes?
inline bool same_with(const SymbolValues& sizes, const RecordOnce& once, const Recording& r) {
  try {
    return same_graph(r, once(sizes));
  } catch (const TensorMet&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {  // with other sizes it cannot run at all
    return false;
  }
}
/// The symbols, as bits, whose sizes it uses as numbers: it does something else when one of them alone changes.
inline unsigned sizes_used(const RecordOnce& once, const Guards& guards, const Recording& r) {
  const auto& sizes = guards.sizes;
  unsigned used = sizes.as_numbers;
  for (int s = 0; s < sizes.symbols; ++s)
    for (const int factor : tried_factors) {
      if (used >> s & 1) continue;
      SymbolValues other = sizes.values;
      other.value[s] = tried_size(other.value[s], factor);
      for (int k = 0; k < sizes.symbols; ++k)  // a size of its own, of the same parity
        if (k != s && other.value[k] == other.value[s]) {
          other.value[s] += 2;
          k = -1;
        }
      if (!same_with(other, once, r)) used |= 1u << s;
    }
  return used == sizes.as_numbers ? all_sizes : used;
}
TT_INLINE Recording record(const RecordOnce& once, const Guards& guards) {
  Recording r = once(guards.sizes.values);
  if (guards.sizes.symbols == 0) return r;
  for (const int factor : tried_factors) {
    SymbolValues other = guards.sizes.values;
    for (int s = 0; s < guards.sizes.symbols; ++s)
      if (!(guards.sizes.as_numbers >> s & 1)) other.value[s] = tried_size(other.value[s], factor);
    if (!same_with(other, once, r)) throw SizesNeeded{"the function itself", {}, sizes_used(once, guards, r)};
  }
  return r;
}

TT_INLINE void run_into(Tensor* out, const Recording& r, const Executable& e, const Arguments& argument, const SymbolValues& symbols,
                        bool plain, const char* name, SourceLine at) {
  if (plain && r.updated.empty() && !e.by_backend) return e.function->run(argument.tensor, symbols, out);
  const bool taped = !plain && argument.on_tape();
  execute(e, argument, symbols, r.updated, r.results, taped, taped, name, at, out);
}

TT_INLINE Text difference(const Guards& before, const Guards& now) {
  Text t;
  const auto &a = before.sizes, &b = now.sizes;
  if (a.is_constant()) return t << "all sizes were needed as numbers, and they are others";
  if (a.arguments != b.arguments) return t << "there are " << b.arguments << " Tensors, were " << a.arguments;
  for (int k = 0; k < b.arguments; ++k) {
    if (b.dtype[k] != a.dtype[k]) return t << "argument " << k << " is " << name(b.dtype[k]) << ", was " << name(a.dtype[k]);
    if (b.shape[k].rank != a.shape[k].rank)
      return t << "argument " << k << " has rank " << b.shape[k].rank << ", had " << a.shape[k].rank;
    if (!(b.shape[k] == a.shape[k]))
      return t << "argument " << k << " has sizes " << b.shape[k] << ", had " << a.shape[k]
               << " (equal sizes share a symbol; 0 and 1 are themselves)";
    if (!(b.strides[k] == a.strides[k])) return t << "argument " << k << " lies otherwise in memory";
  }
  const auto same = [&](int from, int to, int other_from, int other_to) {
    if (to - from != other_to - other_from) return false;
    for (int k = 0; k < to - from; ++k)
      if (a.word[from + k] != b.word[other_from + k]) return false;
    return true;
  };
  const auto devices = [](const Guards& g) {  // a sum that tells them apart
    std::uint64_t h = 0;
    for (int k = g.overlaps; k < g.requires_grad - 1; ++k)
      if (g.sizes.word[k] < 0) h = (h ^ static_cast<std::uint64_t>(g.sizes.word[k])) * 0x9e3779b97f4a7c15u;
    return h;
  };
  if (devices(before) != devices(now)) return t << "an argument is on another device";
  if (!same(before.overlaps, before.requires_grad, now.overlaps, now.requires_grad)) return t << "arguments share memory otherwise";
  if (const std::int64_t was = a.word[before.requires_grad], is = b.word[now.requires_grad]; was != is)
    for (int k = 0; k < b.arguments; ++k)
      if ((was ^ is) >> k & 1) return t << "argument " << k << (is >> k & 1 ? " requires a gradient, did not" : " requires no gradient, did");
  if (const std::int64_t was = a.word[before.requires_grad + 1], is = b.word[now.requires_grad + 1]; was != is) {
    if ((was ^ is) & 2) return t << "inference mode is " << (is & 2 ? "on, was off" : "off, was on");
    return t << "gradients are " << (is & 1 ? "enabled, were not" : "disabled, were not");
  }
  if (a.words - before.numbers != b.words - now.numbers || (a.words > before.numbers && a.word[before.numbers] != b.word[now.numbers]))
    return t << "arguments have other types";
  const auto number = [&](std::int64_t v, std::uint64_t real, int k) {
    char s[32];
    if (real >> k & 1) std::snprintf(s, sizeof s, "%.9g", std::bit_cast<double>(v));
    else std::snprintf(s, sizeof s, "%lld", static_cast<long long>(v));
    t << s;
  };
  for (int k = 1; k < b.words - now.numbers; ++k) {
    const std::int64_t was = a.word[before.numbers + k], is = b.word[now.numbers + k];
    if (was == is) continue;
    t << "number " << k - 1 << " is ";
    number(is, now.real_numbers, k);
    t << ", was ";
    number(was, before.real_numbers, k);
    return t;
  }
  return t << "the arguments differ";
}

TT_INLINE void check_parameter(const Tensor& before, const Tensor& after, const char* name) {
  if (before.dtype() != after.dtype() || !(before.shape() == after.shape()))
    TT_THROW(Error(Text("tt::compile: ") << name << ": a parameter changes its shape or dtype: " << tt::name(before.dtype()) << ' '
                   << before.shape() << " became " << tt::name(after.dtype()) << ' ' << after.shape() << "."));
}

TT_INLINE void execute(const Executable& e, const Arguments& argument, const SymbolValues& symbols, std::span<const int> updated,
                       int results, bool taped, bool updates_taped, const char* name, SourceLine at, Tensor* out) {
  const auto target = [&](std::size_t u) { return Tensor(argument[updated[u]]); };
  const Tensor* tensor[max_inputs];
  for (int k = 0; k < argument.count; ++k) tensor[k] = &argument[k];
  std::vector<Tensor> old;  // the tape saves what was there before an update, in memory of its own
  if (taped) old.reserve(updated.size());
  for (std::size_t u = 0; u < updated.size(); ++u) {
    detail::check_no_repeats(target(u), name, at);
    if (!taped) continue;
    old.push_back(target(u).clone(at));
    for (int k = 0; k < argument.count; ++k)
      if (argument.first_same(k) == argument.first_same(updated[u])) tensor[k] = &old.back();
  }
  if (e.by_backend) {
    std::vector<Tensor> given;
    for (int k = 0; k < argument.count; ++k) given.push_back(*tensor[k]);
    std::vector<Tensor> made = e.by_backend(given);
    if (static_cast<int>(made.size()) != e.function->outputs())
      TT_THROW(Error(Text("tt::compile: ") << name << ": the backend gave " << static_cast<int>(made.size()) << " Tensors, the graph has "
                     << e.function->outputs() << " outputs." << at));
    for (std::size_t k = 0; k < made.size(); ++k) out[k] = made[k];
  } else if (taped) {
    autograd::run_on_tape(*e.function, e.function, symbols, name, at, tensor, argument.count, out);
  } else {
    e.function->run(tensor, symbols, out);
  }
  if (DispatchState::of_this_thread().inference)
    for (int k = 0; k < results; ++k) out[k].impl().inference = true;
  for (std::size_t u = 0; u < updated.size(); ++u) {
    Tensor to = target(u);
    const Tensor& value = out[results + static_cast<int>(u)];
    const bool on_tape = taped && updates_taped && (value.requires_grad() || to.requires_grad());
    if (on_tape && !value.is_same(to)) detail::tape_hooks().check(to, at);
    if (!value.is_same(to)) detail::write_elements(to, value, at);
    detail::advance_version(to);
    if (on_tape && !value.is_same(to)) detail::tape_hooks().adopt(to, value);
  }
}

#endif

}  // namespace jit
}  // namespace tt
