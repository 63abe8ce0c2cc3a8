// fuse: a function compiled at compile time. It is run once on symbols inside the compiler; the graph is differentiated where asked, scheduled into few
// kernels, and becomes SIMD code.
//   auto step = tt::fuse([](auto& w, auto x, auto y) {
//     auto [loss, d] = tt::value_and_grad(model_loss)(w, x, y);
//     w -= 0.1 * d;
//     return loss;
//   });
//   tt::Array<float> loss = step(w, x, y);
// A parameter taken as `auto&` and assigned is updated in place. Arguments are Arrays and views of them, expressions, numbers (which widen nothing beside
// Arrays) and parameter structs of Arrays; results are nothing, one value, a tuple of values, or a parameter struct. Thread-safe: a fused function holds no
// state; each thread has its own arena.
#pragma once
#include <tuple>

#include "tt/core/members.hpp"
#include "tt/expr/expression.hpp"
#include "tt/expr/transform.hpp"

namespace tt {
namespace detail {

// ---- arguments

/// The Arrays of a parameter struct, as a list of types.
template <class... L>
struct ArrayList {};
template <class... L>
ArrayList<std::remove_reference_t<L>...> list_of(const std::tuple<L...>&);
template <class S>
using leaf_list = decltype(list_of(leaves(std::declval<S&>())));

/// An argument type as the recorder sees it; const arguments cannot be updated in place.
template <class A>
struct Argument;
template <class A>
concept FusedArgument = requires { sizeof(Argument<std::remove_cvref_t<A>>); };
template <class T, std::int64_t... E>
struct Argument<Array<T, E...>> {
  using Symbolic = Sym;
  static constexpr Sym record(Recorder& r) { return r.input<T, E...>(); }
};
template <class T, std::int64_t... E>
struct Argument<ArrayView<T, E...>> {
  using Symbolic = Sym;
  static constexpr Sym record(Recorder& r) { return OperandRecorder<ArrayLeaf<ArrayView<T, E...>>>::record(r); }
};
template <class T>
  requires std::is_arithmetic_v<T>
struct Argument<T> {
  using Symbolic = Sym;
  static constexpr Sym record(Recorder& r) { return r.number<T>(); }
};
template <ParameterStruct S>
struct Argument<S> {
  using Symbolic = rebind_kind<symbols, S>;
  static constexpr Symbolic record(Recorder& r) { return record_leaves(r, leaf_list<S>{}); }
  template <class... L>
  static constexpr Symbolic record_leaves(Recorder& r, ArrayList<L...>) {
    const Sym s[] = {Argument<L>::record(r)...};  // braces: left to right
    Symbolic out{};
    int k = 0;
    for_each_member([&](Sym& leaf) { leaf = s[k++]; }, out);
    return out;
  }
};

// ---- recording

/// Makes the symbols of a result the graph's outputs, in order.
template <class R>
constexpr void add_outputs(Graph& g, const R& r) {
  const auto add = [&](const Sym& s, bool if_unknown) {
    const Shape& shape = s.shape();
    g.output(s.id, -1, shape.is_constant() ? !is_stored_inline(s.dtype(), shape) : if_unknown);
  };
  if constexpr (std::is_same_v<R, Sym>) add(r, true);
  else if constexpr (ParameterStruct<R>)
    for_each_member([&](const Sym& s) { add(s, false); }, r);  // a member is an Array of a declared type, perhaps stored inline
  else std::apply([&](const auto&... x) { (add_outputs(g, x), ...); }, r);
}

template <class F, class... A>
struct FunctionModel {
  using Result = decltype(std::apply(F{}, std::declval<std::tuple<typename A::Symbolic...>&>()));

  static constexpr void record(Graph& g, Recorder& r) {
    std::tuple<typename A::Symbolic...> args{A::record(r)...};  // braces: left to right
    const Vec<int> before = ids_of(args);
    if constexpr (std::is_void_v<Result>) std::apply(F{}, args);
    else add_outputs(g, std::apply(F{}, args));
    const Vec<int> after = ids_of(args);
    for (int k = 0; k < before.size(); ++k)
      if (before[k] != after[k]) update(g, before[k], after[k]);
  }
  static constexpr Vec<int> ids_of(const std::tuple<typename A::Symbolic...>& args) {
    Vec<int> ids;
    std::apply([&](const auto&... a) { (collect_leaves(a, ids), ...); }, args);
    return ids;
  }
  /// A parameter that was assigned: its new value becomes an output written into the parameter's memory.
  static constexpr void update(Graph& g, int was, int is) {
    const Shape old = g[was].shape, given = g[is].shape;
    const auto otherwise = [&] { return Failure{.mistake = Mistake::parameter_changes_shape, .op = "fuse", .a = old, .b = given}; };
    const BroadcastResult r = g.broadcast(old, given, otherwise);
    if (g[is].dtype != g[was].dtype || !r.ok || !(r.shape == old)) g.fail(otherwise(), is);
    else g.output(g.broadcast_to(is, old), static_cast<int>(g[was].attribute));
  }
};

// ---- results

template <class P, int K>
struct OutputOf {
  static constexpr OutputInfo value = interface_of<P>.output[K];
};

template <int... Count>
constexpr int sum_before(std::size_t k) {
  constexpr int count[] = {Count..., 0};
  int n = 0;
  for (std::size_t j = 0; j < k; ++j) n += count[j];
  return n;
}

/// Makes the Arrays of a result; First: the number of its first output.
template <class P, int First, class R>
struct ResultMaker;
template <class P, int First>
struct ResultMaker<P, First, Sym> {
  static constexpr int count = 1;
  using Type = array_of<OutputOf<P, First>>;
  static Type make([[maybe_unused]] const SymbolValues& symbols) {
    if constexpr (Type::is_inline) {
      return Type();
    } else if constexpr (Type::is_static) {
      return Type(Uninitialized{});
    } else {
      std::int64_t shape[max_rank] = {};
      extents_of(ResultShape<P, First>::value, symbols, shape);
      return Type(Uninitialized{}, shape);
    }
  }
};
template <class P, int First, ParameterStruct R>
struct ResultMaker<P, First, R> {
  static constexpr int count = std::tuple_size_v<decltype(leaves(std::declval<R&>()))>;
  using Type = rebind_kind<arrays, R>;
  static Type make(const SymbolValues& symbols) {
    Type result;
    int k = First;
    for_each_member([&]<class A>(A& leaf) {
      const OutputInfo& o = interface_of<P>.output[k++];
      std::int64_t shape[max_rank] = {};
      bool same = o.dtype == A::dtype && o.shape.rank == A::rank;
      for (int i = 0; same && i < A::rank; ++i) {
        shape[i] = o.shape[i].value(symbols);
        same = A::Extents::value[i] == dyn || A::Extents::value[i] == shape[i];
      }
      if (!same)
        TT_THROW(Error(Text("tt::fuse: a member of the returned struct is ")
                       << name(o.dtype) << ' ' << o.shape << ", not what it is declared as."));
      if constexpr (!A::is_static) leaf = A(Uninitialized{}, shape);
    }, result);
    return result;
  }
};
template <class P, int First, class... R>
struct ResultMaker<P, First, std::tuple<R...>> {
  static constexpr int count = (0 + ... + ResultMaker<P, 0, R>::count);
  static auto make(const SymbolValues& s) { return all(s, std::index_sequence_for<R...>{}); }
  template <std::size_t... I>
  static auto all(const SymbolValues& s, std::index_sequence<I...>) {
    return std::make_tuple(
        ResultMaker<P, First + sum_before<ResultMaker<P, 0, R>::count...>(I), R>::make(s)...);
  }
};
template <class P, int First, class A, class B>
struct ResultMaker<P, First, std::pair<A, B>> : ResultMaker<P, First, std::tuple<A, B>> {};

// ---- the call

/// Addresses of all memory that a program reads and writes, and the run-time extents.
template <int Externals>
struct Bindings {
  void* external[Externals > 0 ? Externals : 1];
  std::size_t bytes[Externals > 0 ? Externals : 1];
  std::int64_t extent[max_symbols] = {};
  int count = 0, dynamic = 0;

  template <class T>
  void add_memory(const T* data, std::int64_t n) {
    bytes[count] = static_cast<std::size_t>(n) * sizeof(T);
    external[count++] = const_cast<void*>(static_cast<const void*>(data));
  }
  template <class A>
  void add(A& a) {
    if constexpr (std::is_arithmetic_v<A>) {
      add_memory(&a, 1);
    } else if constexpr (ArrayLike<A>) {
      add_memory(a.data(), a.size());
      for (int k = 0; k < A::rank; ++k)
        if (A::Extents::value[k] == dyn) extent[dynamic++] = a.extent(k);
    } else if constexpr (ParameterStruct<A>) {
      for_each_member([&](auto& leaf) { add(leaf); }, a);
    } else {
      std::apply([&](auto&... x) { (add(x), ...); }, a);
    }
  }
};

template <class A>
constexpr int leaf_count() {
  if constexpr (ParameterStruct<A>) return std::tuple_size_v<decltype(leaves(std::declval<A&>()))>;
  else return 1;
}

template <class... L>
constexpr int dynamic_count_of(ArrayList<L...>) {
  return (0 + ... + L::Extents::dynamic_count);
}
/// The number of an argument's extents that are known at run time only.
template <class A>
constexpr int dynamic_count() {
  if constexpr (ParameterStruct<A>) return dynamic_count_of(leaf_list<A>{});
  else if constexpr (requires { A::Extents::dynamic_count; }) return A::Extents::dynamic_count;
  else return 0;
}

template <class P>
constexpr bool updates_input(int first, int count) {
  for (int k = 0; k < interface_of<P>.output_count; ++k)
    if (interface_of<P>.output[k].donated >= first && interface_of<P>.output[k].donated < first + count)
      return true;
  return false;
}

/// May a program write into the memory of an argument of this type?
template <class A>
inline constexpr bool is_writable = std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>;
template <class A>
  requires requires { typename std::remove_cvref_t<A>::element_type; }
inline constexpr bool is_writable<A> = !std::is_const_v<typename std::remove_cvref_t<A>::element_type>;
/// Are all arguments that the program updates writable?
template <class P, class... A>
constexpr bool updates_are_possible() {
  int first = 0;
  bool fine = true;
  const auto one = [&](int n, bool writable) {
    if (updates_input<P>(first, n) && !writable) fine = false;
    first += n;
  };
  (one(leaf_count<std::remove_cvref_t<A>>(), is_writable<A>), ...);
  return fine;
}

struct HostCopies {
  static void* make(const void* from, std::size_t bytes) {
    void* const to = allocate_bytes(bytes);
    std::memcpy(to, from, bytes);
    return to;
  }
  static void release(void* p, std::size_t) { free_bytes(p); }
};
/// Copies each input whose memory overlaps an updated input, so that the program reads it unchanged.
template <class P, int N, class Copies = HostCopies>
struct SeparatedInputs {
  void* copy[N > 0 ? N : 1] = {};
  std::size_t bytes[N > 0 ? N : 1] = {};

  template <class B>
  explicit SeparatedInputs(B& b) {
    for (int k = 0; k < interface_of<P>.output_count; ++k) {
      const int updated = interface_of<P>.output[k].donated;
      if (updated < 0) continue;
      const auto* begin = static_cast<const std::byte*>(b.external[updated]);
      for (int j = 0; j < N; ++j) {
        const auto* other = static_cast<const std::byte*>(b.external[j]);
        if (j == updated || copy[j] || other >= begin + b.bytes[updated] ||
            begin >= other + b.bytes[j])
          continue;
        if (updates_input<P>(j, 1))
          TT_THROW(Error(Text("tt::fuse: two parameters that are updated share memory.")));
        copy[j] = Copies::make(other, bytes[j] = b.bytes[j]);
        b.external[j] = copy[j];
      }
    }
  }
  SeparatedInputs(const SeparatedInputs&) = delete;
  ~SeparatedInputs() {
    for (int j = 0; j < N; ++j)
      if (copy[j]) Copies::release(copy[j], bytes[j]);
  }
};

}  // namespace detail

template <class F, class Isa>
struct Fused {
  /// The program for arguments of these types.
  template <class... A>
  using ProgramFor =
      detail::Program<detail::FunctionModel<F, detail::Argument<std::remove_cvref_t<A>>...>>;

  /// On Tensors `f` runs as it is written, op by op; inside another function it is recorded as a part of that function.
  template <class... A>
  constexpr decltype(auto) operator()(A&&... a) const {
    if constexpr (detail::at_run_time<A...> || (detail::is_symbolic<std::remove_cvref_t<A>> || ...)) return F{}(static_cast<A&&>(a)...);
    else return call_checked(settled(static_cast<A&&>(a))...);
  }

 private:
  /// Evaluates expressions; other arguments pass unchanged.
  template <class A>
  static constexpr decltype(auto) settled(A&& a) {
    if constexpr (requires { typename std::remove_cvref_t<A>::tt_expression; }) return a.eval();
    else return static_cast<A&&>(a);
  }

  template <class... A>
  static auto call_checked(A&&... a) {
    constexpr bool fit = (detail::FusedArgument<A> && ...);
    static_assert(fit, "tt: this is no argument of a fused function or of a gradient: pass Arrays, views of memory, numbers, or structs of tt::leaf");
    if constexpr (fit) return call(static_cast<A&&>(a)...);
  }
  template <class... A>
  static auto call(A&&... a) {
    using P = ProgramFor<A...>;
    using H = Compiled<P>;
    if constexpr (detail::no_mistake<H>()) {
      constexpr bool updates_only_variables = detail::updates_are_possible<P, A...>();
      static_assert(updates_only_variables,
                    "tt: the function updates a parameter in place, but this argument is const or "
                    "temporary");
      using Result = typename detail::FunctionModel<
          F, detail::Argument<std::remove_cvref_t<A>>...>::Result;
      constexpr int inputs = (0 + ... + detail::leaf_count<std::remove_cvref_t<A>>());
      constexpr int dynamic = (0 + ... + detail::dynamic_count<std::remove_cvref_t<A>>());
      detail::Bindings<H::plan.externals> b;
      (b.add(a), ...);
      SymbolValues values;
      if constexpr (dynamic > 0)
        detail::bind_symbols(detail::Symbols<P, dynamic>::rules, b.extent, values);
      const detail::SeparatedInputs<P, inputs> separated(b);
      if constexpr (std::is_void_v<Result>) {
        detail::execute<P, Isa>(b.external, values);
      } else {
        auto result = detail::ResultMaker<P, 0, Result>::make(values);
        b.add(result);
        detail::execute<P, Isa>(b.external, values);
        return result;
      }
    }
  }
};

/// A function of Arrays, compiled at compile time; see the head of this file.
template <class F>
constexpr auto fuse(F) {
  detail::require_captureless<F>();
  if constexpr (detail::is_made_of_type<F>()) return Fused<typename detail::on_symbols<F>::type>{};
  else return detail::Refused{};
}

}  // namespace tt
