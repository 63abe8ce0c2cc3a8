// Capturing: runs a function once on fake tensors (dtype and shape, no elements), which record the ops called on them. The assumptions of a
// recording are its Guards; jit/compile.hpp and jit/trace.hpp keep recordings and run them.
//   Recording r = record(f, "f", guards, options, argument, x, y);   r.graph, r.results, r.updated
#pragma once
#include <memory>

#include "tt/autograd/functional.hpp"
#include "tt/dispatch/recent_table.hpp"
#include "tt/dispatch/capture_events.hpp"

namespace tt {

/// A function that runs a graph: from its inputs to its outputs, in order.
using CompiledGraph = Callable<std::vector<Tensor>(const std::vector<Tensor>&)>;

namespace jit {

using tt::detail::each_leaf;
using tt::detail::each_number;
using tt::detail::Leaves;
using tt::detail::PlainStruct;

/// The numbers among the arguments of a call, in order.
struct Numbers {
  SmallVec<std::int64_t, 16> value;
  BitSet real;  ///< which are floating
  void push(std::int64_t v, bool floating) {
    if (floating) real.set(value.size());
    value.push_back(v);
  }
};

/// A number that identifies the types of result and arguments.
template <class... A>
std::int64_t type_number() {
  static const char place = 0;
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&place));
}

/// Do the memory ranges of both Tensors, from first to last element, overlap?
TT_INLINE bool overlap(const Tensor& x, const Tensor& y);
/// All Tensors of a call.
struct Arguments {
  SmallVec<const Tensor*, 16> tensor;
  /// Undefined Tensors among the arguments: no inputs of the graph, but the function may assign to them. `place`: index among all Tensors.
  struct Absent {
    const Tensor* tensor;
    int place;
  };
  SmallVec<Absent, 2> absent;
  /// Arguments whose sizes rarely change: Tensors that require a gradient, members of structs, and Tensors that the function holds.
  BitSet parameters;
  bool may_have_tangents = false;  ///< see autograd::may_be_dual

  Arguments() = default;
  template <class... A>
  explicit Arguments(const char* name, const A&... a) {
    int place = 0;
    (each_leaf(a, [&](const Tensor& t) {
       if (t.defined()) [[likely]] add(name, t, PlainStruct<A> || ParameterStruct<A>);
       else absent.push_back({&t, place});
       ++place;
     }), ...);
  }
  bool is_absent(int place) const {
    for (const Absent& a : absent)
      if (a.place == place) return true;
    return false;
  }
  /// The caller's Tensor at this place, which is not constant.
  Tensor& handle(int place) const {
    int before = 0;
    for (const Absent& a : absent) {
      if (a.place == place) return const_cast<Tensor&>(*a.tensor);
      before += a.place < place;
    }
    return const_cast<Tensor&>(*tensor[place - before]);
  }
  void add(const char* name, const Tensor& t, bool parameter) {
    if (t.is_meta()) [[unlikely]] refuse(name, t);
    if (parameter || t.impl().requires_grad) parameters.set(tensor.size());
    may_have_tangents = may_have_tangents || autograd::may_be_dual(t);
    tensor.push_back(&t);
  }
  /// Further inputs of the graph, which belong to the recording and live as long.
  void add_constants(const std::vector<Tensor>& constants) {
    for (const Tensor& t : constants) tensor.push_back(&t);
  }
  int count() const { return tensor.size(); }
  const Tensor& operator[](int k) const { return *tensor[k]; }
  bool share(int j, int k) const { return overlap(*tensor[j], *tensor[k]); }
  /// For each argument the first one with the same elements in the same shape, perhaps itself.
  TT_INLINE SmallVec<int, 16> first_same() const;
  /// Does the tape record ops on the arguments?
  TT_INLINE bool on_tape() const;
  TT_INLINE bool overlaps_another(int k) const;
  /// May a program write a result to the memory of argument k?
  bool lies_alone(int k) const { return tensor[k]->is_contiguous() && !overlaps_another(k); }

 private:
  [[noreturn]] TT_INLINE void refuse(const char* name, const Tensor& t) const;
};

/// Decides which calls a capture fits: all that is compared, word by word.
struct Guards {
  Signature sizes;  ///< sizes, then overlaps and other devices, gradient flags, modes, numbers
  int overlaps = 0, requires_grad = 0, modes = 0, numbers = 0;  ///< where these parts begin in `sizes.word`
  BitSet real_numbers;

  /// `fixed`: arguments whose sizes are specialised.
  TT_INLINE Guards(const Arguments& a, const Numbers* n, const SizeFacts& as_numbers, const BitSet* fixed = nullptr);
  bool same(const Guards& o) const { return sizes == o.sizes; }
  /// Does a capture with guards `o`, whose symbols stand for different sizes, also fit this call, where some sizes are equal? Then `values`
  /// are those of its symbols.
  TT_INLINE bool fits(const Guards& o, SymbolValues& values) const;
  /// Equal, but for values of numbers among the arguments?
  TT_INLINE bool differs_in_numbers_only(const Guards& o) const;
  /// Equal, but for specialised sizes?
  TT_INLINE bool differs_in_sizes_only(const Guards& o) const;
  /// Does the tape record ops on the arguments?
  bool on_tape() const {
    bool any = false;
    for (int k = requires_grad; k < modes; ++k) any = any || sizes.word[k] != 0;
    return any && sizes.word[modes] & 1;
  }
  bool in_inference_mode() const { return sizes.word[modes] & 2; }
  /// Does argument k require a gradient?
  bool requires_gradient(int k) const { return sizes.word[requires_grad + k / 64] >> k % 64 & 1; }
};

/// Throws Error where a size marked dynamic is specialised, or guarded to a smaller interval than its mark.
TT_INLINE void check_marks(const Arguments& a, const Guards& guards, const SizeSet& as_numbers, const Vec<SizeGuard>& sizes, const char* name,
                           const char* why, SourceLine at);
/// The first difference between a call and an earlier capture, in words.
TT_INLINE Text difference(const Guards& before, const Guards& now);

/// Results that are arguments or other results, or views of these, as eager gives no copies; and Tensors assigned to arguments that were
/// undefined, or of another shape or dtype.
struct SharedResults;

/// The recorded run of a function.
struct Recording {
  Graph graph;
  int results = 0;                     ///< outputs returned by the function, or bases of views that it returns; the rest: updates, assigned Tensors, effects
  std::shared_ptr<const SharedResults> shared;  ///< results that share memory, Tensors assigned to arguments; null: none
  std::vector<int> updated;            ///< the argument of each update
  std::vector<Tensor> constants;       ///< inputs of the graph behind the arguments: see detail::made_of_numbers
  Vec<SizeGuard> guards;               ///< assumptions on sizes
  std::shared_ptr<const void> result;  ///< the function's result without its Tensors: numbers, lengths of lists
  std::vector<OrderedOutput> ordered{};  ///< outputs that are not row-major in memory
  std::shared_ptr<const void> left{};    ///< the arguments after the run, without their Tensors, if the function changed numbers among them
};

template <class... A>
std::vector<std::int64_t> numbers_of(const A&... a) {
  std::vector<std::int64_t> all;
  (each_number(a, [&](std::int64_t v, bool) { all.push_back(v); }), ...);
  return all;
}
/// Writes numbers that the function changed among its arguments to the caller's arguments.
template <class... A>
void give_numbers(const std::tuple<std::remove_cvref_t<A>...>& left, const char* name, SourceLine at, A&&... a) {
  const auto give = [&](auto& to, const auto& from) {
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(to)>>)
      if (!tt::detail::take_numbers(to, from))
        TT_THROW(Error(Text("tt::compile: ") << name << " changes how many Tensors a list among its arguments has. Let it return the list?" << at));
  };
  std::apply([&](const auto&... from) { (give(a, from), ...); }, left);
}
/// Can there be numbers, or lists, among arguments?
template <class... A>
inline constexpr bool have_numbers = !(std::is_same_v<std::remove_cvref_t<A>, Tensor> && ...);

/// May elements of one be written to the other? If not, the caller's handle becomes another Tensor.
inline bool is_alike(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && a.impl().shape == b.impl().shape; }

class Tracer;
/// One run of a function on fake tensors: hands them out, takes the results, and makes the Recording.
class RecordingRun {
 public:
  TT_INLINE RecordingRun();
  RecordingRun(const RecordingRun&) = delete;
  TT_INLINE ~RecordingRun();
  /// `given`: copies of the call's arguments, for the function; those that are defined become fake tensors. Later ones in `argument` are
  /// held.
  TT_INLINE void begin(const char* name, const Guards& guards, TracerOptions options, const Arguments& argument, const Leaves& given);
  /// Takes the Tensors that the function returned, and leaves them undefined.
  TT_INLINE void returned(const Leaves& results);
  /// `left`: the arguments after the run; assignments to constant ones are ignored. `result`: without its Tensors.
  TT_INLINE Recording finish(const Leaves& left, std::shared_ptr<const void> result);

 private:
  std::unique_ptr<Tracer> tracer_;
};

/// Copies of arguments of types A for a function to change.
template <class... A>
using OwnArguments = std::tuple<std::remove_cvref_t<A>...>;
/// The Tensors of these copies; marked as constant where the arguments are, though the copies are not.
template <class... A>
Leaves own_leaves(OwnArguments<A...>& own) {
  Leaves all;
  std::apply([&](auto&... x) { (all.add(x, std::is_const_v<A>), ...); }, own);
  return all;
}
template <class... A>
std::vector<std::int64_t> numbers_of_all(const std::tuple<A...>& own) {
  return std::apply([](const auto&... x) { return numbers_of(x...); }, own);
}
/// The result of a function that returns void.
struct Nothing {};
/// The result of a function, called with copies of its arguments.
template <class F, class Own>
auto result_of(const F& f, Own&& own) {
  if constexpr (std::is_void_v<decltype(std::apply(f, own))>) {
    std::apply(f, own);
    return Nothing();
  } else {
    return std::apply(f, own);
  }
}
/// Runs `f` on fake tensors and records it.
template <class F, class... A>
Recording record(const F& f, const char* name, const Guards& guards, const TracerOptions& options, const Arguments& argument,
                 A&... a) {
  RecordingRun run;  // outlives the fake tensors
  OwnArguments<A...> traced(a...);
  run.begin(name, guards, options, argument, own_leaves<A...>(traced));
  using Returned = std::invoke_result_t<const F&, A&...>;  // with the constness of the arguments: a function may be overloaded on it
  using Result = std::conditional_t<std::is_void_v<Returned>, Nothing, std::decay_t<Returned>>;
  const auto result = std::make_shared<Result>(result_of(f, traced));
  run.returned(tt::detail::leaves_in(*result));
  if constexpr (!have_numbers<A...>) {
    return run.finish(own_leaves<A...>(traced), result);
  } else {
    std::shared_ptr<const void> left;
    if (numbers_of_all(traced) != numbers_of(a...)) {
      OwnArguments<A...> own(a...);
      std::apply([&](auto&... to) { give_numbers(traced, name, {}, to...); }, own);  // throws now rather than after each call
      auto copy = std::make_shared<OwnArguments<A...>>(traced);
      for (Tensor* t : tt::detail::leaves_in(*copy).tensor) *t = Tensor();
      left = copy;
    }
    Recording r = run.finish(own_leaves<A...>(traced), result);
    r.left = std::move(left);
    return r;
  }
}

/// Records a function on fake tensors that fit these guards. Throws SizesNeeded where sizes must be specialised.
using Record = CallableRef<Recording(const Guards&)>;
/// A graph that can run: as a GraphFunction of tt's own, or by the function that a backend returned.
struct Executable {
  std::shared_ptr<const GraphFunction> function;
  CompiledGraph by_backend;  ///< empty: `function` runs
  std::vector<OrderedOutput> ordered{};
  const GraphFunction::Joint* joint = nullptr;  ///< on the tape: its halves run instead of `function`

  const GraphFunction& forward() const { return joint ? *joint->forward : *function; }
};
/// Runs `e` on a call's arguments: `results` of its outputs go to the caller, the others into the arguments `updated`. Updates are on the
/// tape if `taped` and `updates_taped` (false: they were recorded off the tape).
TT_INLINE void execute(const Executable& e, const Arguments& argument, const SymbolValues& symbols, std::span<const int> updated,
                       int results, bool taped, bool updates_taped, const char* name, SourceLine at, Tensor* out);

/// Runs a recording: fills `results`, the Tensors in a copy of the function's result, and changes in place the arguments that the function
/// changes. `plain`: neither on the tape nor in inference mode.
TT_INLINE void run(const Recording& r, const Executable& e, const Arguments& argument, const SymbolValues& symbols, bool plain, const char* name,
                   SourceLine at, const Leaves& results);
/// The same; returns the result.
template <class R>
R run(const Recording& r, const Executable& e, const Arguments& argument, const SymbolValues& symbols, bool plain, const char* name,
      SourceLine at) {
  if constexpr (std::is_void_v<R>) {
    run(r, e, argument, symbols, plain, name, at, {});
  } else {
    R result = *static_cast<const R*>(r.result.get());
    run(r, e, argument, symbols, plain, name, at, tt::detail::leaves_in(result));
    return result;
  }
}

}  // namespace jit
}  // namespace tt

#if TT_DEFINES(jit)
#include "tt/jit/capture_inl.hpp"
#endif
