// Capturing: a function is run once on Tensors that record what is done with them. What the recording
// took for granted is in its Guards; jit/compile.hpp and jit/trace.hpp keep recordings and run them.
//   Recording r = record(f, "f", guards, argument, count, x, y);   r.graph, r.results, r.updated
#pragma once
#include <memory>

#include "tt/autograd/functional.hpp"
#include "tt/dispatch/capture_events.hpp"

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
    if (size == capacity) [[unlikely]] refuse();
    if (floating) real |= std::uint64_t{1} << size;
    value[size++] = v;
  }

 private:
  [[noreturn]] TT_INLINE static void refuse();
};

/// Tells the types of arguments apart.
template <class... A>
std::int64_t type_number() {
  static const char place = 0;
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&place));
}

/// One storage, or two over memory that overlaps.
TT_INLINE bool overlap(const Tensor& x, const Tensor& y);
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
    if (count == max_inputs || t.is_meta()) [[unlikely]] refuse(name, t);
    tensor[count++] = &t;
  }
  const Tensor& operator[](int k) const { return *tensor[k]; }
  bool share(int j, int k) const { return overlap(*tensor[j], *tensor[k]); }
  /// The first argument that shares memory, or k.
  TT_INLINE int first_sharing(int k) const;
  /// The first argument that is the same elements in the same shape, or k.
  TT_INLINE int first_same(int k) const;
  /// Does the tape record what is done with them?
  TT_INLINE bool on_tape() const;
  TT_INLINE bool overlaps_another(int k) const;

 private:
  [[noreturn]] TT_INLINE void refuse(const char* name, const Tensor& t) const;
};

/// What one capture is good for: everything that is compared, word by word.
struct Guards {
  BasicSignature<max_inputs> sizes;  ///< behind the sizes: overlaps and other devices, what requires a gradient, modes, numbers
  int overlaps = 0, requires_grad = 0, numbers = 0;  ///< where those begin
  std::uint64_t real_numbers = 0;

  TT_INLINE Guards(const Arguments& a, const Numbers* n, unsigned as_numbers);
  bool same(const Guards& o) const { return sizes == o.sizes; }
  /// But for values of numbers among the arguments?
  TT_INLINE bool differs_in_numbers_only(const Guards& o) const;
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
  class Work;
  std::unique_ptr<Work> work_;
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
  TT_INLINE explicit Results(int count);
  Results(const Results&) = delete;
  TT_INLINE ~Results();
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

}  // namespace jit
}  // namespace tt

#if !defined(TT_COMPILED) || defined(TT_BUILD)
#include "tt/jit/capture_inl.hpp"
#endif
