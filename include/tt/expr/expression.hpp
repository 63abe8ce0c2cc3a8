// Expressions: what operators on Arrays return. An expression refers to named operands, owns
// temporaries, and is evaluated on assignment or by `eval`; then the whole tree becomes one graph,
// fused like any other. A stored expression reads its operands anew each time.
//   tt::Array<float, 64> y = tt::tanh(a * b + c);
// The same operand written twice is read twice; inside tt::fuse nothing is computed twice.
#pragma once
#include "tt/expr/program.hpp"

namespace tt {
namespace detail {

/// Operands of an expression: up to four members (std::tuple would cost as much compile time as the
/// rest of an expression).
template <class... O>
struct OperandList;
template <class A>
struct OperandList<A> {
  A a;
  constexpr void each(const auto& f) const { f(a); }
};
template <class A, class B>
struct OperandList<A, B> {
  A a;
  B b;
  constexpr void each(const auto& f) const { f(a); f(b); }
};
template <class A, class B, class C>
struct OperandList<A, B, C> {
  A a;
  B b;
  C c;
  constexpr void each(const auto& f) const { f(a); f(b); f(c); }
};
template <class A, class B, class C, class D>
struct OperandList<A, B, C, D> {
  A a;
  B b;
  C c;
  D d;
  constexpr void each(const auto& f) const { f(a); f(b); f(c); f(d); }
};

// ---- leaves

[[noreturn]] TT_NOINLINE inline void operand_has_ended(DType dtype, const std::int64_t* extent, int rank) {
  TT_THROW(Error(Text("tt: an operand of this expression has ended: an Array of ")
                 << name(dtype) << ' ' << declared_shape(extent, rank)
                 << ". Keep it alive, evaluate the expression earlier with tt::eval, or take "
                    "parameters by const auto&."));
}
[[noreturn]] TT_NOINLINE inline void operand_was_moved(DType dtype, const std::int64_t* extent, int rank) {
  TT_THROW(Error(Text("tt: an operand of this expression was moved from: an Array of ")
                 << name(dtype) << ' ' << declared_shape(extent, rank)
                 << ". Assign to it, or evaluate the expression earlier with tt::eval."));
}

template <class A>
struct ArrayLeaf;  // a reference, or an owned temporary
template <class T, std::int64_t... E>
struct ArrayLeaf<const Array<T, E...>&> {
  static constexpr DType dtype = dtype_of<T>;
  using Extents = extents<E...>;
  const Array<T, E...>* array;
  [[no_unique_address]] Witness witness;
  const Array<T, E...>& get() const {
    if constexpr (TT_DEBUG) {
      if (witness.ended()) operand_has_ended(dtype, Extents::value, Extents::rank);
      if (!array->data() && array->size() > 0)
        operand_was_moved(dtype, Extents::value, Extents::rank);
    }
    return *array;
  }
};
template <class T, std::int64_t... E>
struct ArrayLeaf<Array<T, E...>> {
  static constexpr DType dtype = dtype_of<T>;
  using Extents = extents<E...>;
  Array<T, E...> array;
  const Array<T, E...>& get() const { return array; }
};
template <class T>
struct ScalarLeaf {
  static constexpr DType dtype = dtype_of<T>;
  using Extents = extents<>;
  T value;
};

template <class L>
inline constexpr bool is_array_leaf = false;
template <class A>
inline constexpr bool is_array_leaf<ArrayLeaf<A>> = true;
template <class L>
inline constexpr bool is_scalar_leaf = false;
template <class T>
inline constexpr bool is_scalar_leaf<ScalarLeaf<T>> = true;

template <std::int64_t... E>
constexpr Shape shape_with_symbols(extents<E...>, [[maybe_unused]] int& symbol) {
  Shape s;
  [[maybe_unused]] const auto extent = [&](std::int64_t e) {
    s.push_back(e == dyn ? Extent::symbol(symbol++ % max_symbols) : Extent(e));
  };
  (extent(E), ...);
  return s;
}

template <class Fn, std::size_t N>
constexpr Sym record_on(const Sym* s) {
  if constexpr (N == 1) return Fn::record(s[0]);
  else if constexpr (N == 2) return Fn::record(s[0], s[1]);
  else if constexpr (N == 3) return Fn::record(s[0], s[1], s[2]);
  else return Fn::record(s[0], s[1], s[2], s[3]);
}

/// dtype and shape of Fn on operands of these types, from the graph's own inference.
template <class Fn, class... Ops>
struct Inferred {
  struct Result {
    OutputInfo info;
    Failure failure;
  };
  static constexpr Result infer() {
    Graph g;
    int symbol = 0;
    const Sym s[] = {Sym{&g, g.input(Ops::dtype, shape_with_symbols(typename Ops::Extents{},
                                                                    symbol))}...};
    Result r;
    const Sym y = record_on<Fn, sizeof...(Ops)>(s);
    r.info = {y.dtype(), y.shape(), -1};
    r.failure = g.failure;
    if (symbol > max_symbols)
      r.failure = Failure{.mistake = Mistake::too_many_symbols, .op = "expression", .number = symbol};
    return r;
  }
  static constexpr Result result = infer();
  static constexpr OutputInfo value = result.info;
  static constexpr Failure failure = result.failure;
};

}  // namespace detail

template <class Fn, class... Ops>
struct Expression {
  using tt_front = ArrayFront;
  using tt_expression = void;
  using Inferred = detail::Inferred<Fn, Ops...>;
  using Result = detail::array_of<Inferred>;
  using Extents = typename Result::Extents;
  static constexpr DType dtype = Result::dtype;

  detail::OperandList<Ops...> operands;

  /// Evaluates into a new Array.
  template <class Isa = IsaTag>
  Result eval() const {
    return Result(*this);
  }
};

namespace detail {

template <class L>
struct OperandRecorder;
template <class T, std::int64_t... E>
struct OperandRecorder<ArrayLeaf<const Array<T, E...>&>> {
  static constexpr Sym record(Recorder& r) { return r.input<T, E...>(); }
};
template <class T, std::int64_t... E>
struct OperandRecorder<ArrayLeaf<Array<T, E...>>> {
  static constexpr Sym record(Recorder& r) { return r.input<T, E...>(); }
};
template <class T>
struct OperandRecorder<ScalarLeaf<T>> {
  static constexpr Sym record(Recorder& r) { return r.input<T>(); }
};
template <class Fn, class... Ops>
struct OperandRecorder<Expression<Fn, Ops...>> {
  static constexpr Sym record(Recorder& r) {
    const Sym s[] = {OperandRecorder<Ops>::record(r)...};  // braces: left to right
    return record_on<Fn, sizeof...(Ops)>(s);
  }
};

template <class X>
struct ExpressionModel {
  static constexpr void record(Graph& g, Recorder& r) { g.output(OperandRecorder<X>::record(r).id); }
};

/// Visits the leaves in the order in which they are recorded.
template <class L, class F>
void for_each_leaf(const L& l, const F& f) {
  if constexpr (is_array_leaf<L> || is_scalar_leaf<L>) f(l);
  else l.operands.each([&](const auto& o) { for_each_leaf(o, f); });
}
template <class L>
constexpr int count_leaves() {
  if constexpr (is_array_leaf<L> || is_scalar_leaf<L>) return 1;
  else return []<class Fn, class... Ops>(std::type_identity<Expression<Fn, Ops...>>) {
    return (0 + ... + count_leaves<Ops>());
  }(std::type_identity<L>{});
}

template <class L>
inline constexpr bool has_dynamic_leaf = L::Extents::dynamic_count > 0;
template <class Fn, class... Ops>
inline constexpr bool has_dynamic_leaf<Expression<Fn, Ops...>> = (has_dynamic_leaf<Ops> || ...);

/// Elementwise throughout, so that element i of the result needs only element i of whole operands.
template <class L>
inline constexpr bool is_elementwise_tree = true;
template <class Fn, class... Ops>
inline constexpr bool is_elementwise_tree<Expression<Fn, Ops...>> =
    Fn::is_elementwise && (is_elementwise_tree<Ops> && ...);

template <class X, class Isa>
struct Evaluation {
  static constexpr int leaves = count_leaves<X>();
  static constexpr bool is_dynamic = has_dynamic_leaf<X>;
  void* external[leaves + 1];
  struct Nothing {};
  [[no_unique_address]] std::conditional_t<is_dynamic, SymbolValues, Nothing> symbols_;
  int count = 0;

  const SymbolValues& symbols() const {
    if constexpr (is_dynamic) return symbols_;
    else return no_symbols;
  }
  explicit Evaluation(const X& x) {
    [[maybe_unused]] std::int64_t extent_of[is_dynamic ? max_symbols : 1];
    [[maybe_unused]] int dynamic = 0;
    for_each_leaf(x, [&]<class L>(const L& l) {
      if constexpr (is_scalar_leaf<L>) {
        external[count++] = const_cast<void*>(static_cast<const void*>(&l.value));
      } else {
        const auto& a = l.get();
        external[count++] = const_cast<void*>(static_cast<const void*>(a.data()));
        if constexpr (is_dynamic)
          for (int k = 0; k < a.rank; ++k)
            if (L::Extents::value[k] == dyn) extent_of[dynamic++] = a.extent(k);
      }
    });
    if constexpr (is_dynamic)
      bind_symbols(Program<ExpressionModel<X>>::interface.symbols, extent_of, dynamic, symbols_);
  }
  void result_shape(std::int64_t* shape) const {
    constexpr Shape s = Program<ExpressionModel<X>>::interface.output[0].shape;
    for (int k = 0; k < s.rank; ++k) shape[k] = s[k].value(symbols());
  }
  /// Does the destination overlap an operand in another way than element by element?
  template <class T>
  bool clashes(const X& x, const T* begin, const T* end) const {
    bool clash = false;
    for_each_leaf(x, [&]<class L>(const L& l) {
      if constexpr (!is_scalar_leaf<L>) {
        const auto& a = l.get();
        const auto* first = reinterpret_cast<const std::byte*>(a.begin());
        const auto* last = reinterpret_cast<const std::byte*>(a.end());
        const auto* to = reinterpret_cast<const std::byte*>(begin);
        const auto* to_end = reinterpret_cast<const std::byte*>(end);
        if (first < to_end && to < last &&
            !(is_elementwise_tree<X> && first == to && last == to_end &&
              sizeof(*a.begin()) == sizeof(T)))
          clash = true;
      }
    });
    return clash;
  }
  void run(void* out) {
    external[count] = out;
    execute<Program<ExpressionModel<X>>, Isa>(external, symbols());
  }
};

template <class To, class From>
struct dtypes_agree { static constexpr bool value = false; };
template <class To, class From>
struct shapes_agree { static constexpr bool value = false; };

/// Equal extents, as far as both are known at compile time.
template <class A, class B>
constexpr bool extents_may_agree() {
  if (A::rank != B::rank) return false;
  for (int k = 0; k < A::rank; ++k)
    if (A::value[k] != B::value[k] && A::value[k] != dyn && B::value[k] != dyn) return false;
  return true;
}

[[noreturn]] inline void assigned_shape_differs(const std::int64_t* given, const Shape& to) {
  Shape s;
  for (int k = 0; k < to.rank; ++k) s.push_back(given[k]);
  TT_THROW(Error(Text("tt::Array: shapes differ: ") << s << " is assigned to " << to << "."));
}

// ---- making expressions

template <class A>
struct held;
template <class T, std::int64_t... E>
struct held<Array<T, E...>&> { using type = ArrayLeaf<const Array<T, E...>&>; };
template <class T, std::int64_t... E>
struct held<const Array<T, E...>&> { using type = ArrayLeaf<const Array<T, E...>&>; };
template <class T, std::int64_t... E>
struct held<Array<T, E...>> { using type = ArrayLeaf<Array<T, E...>>; };
template <class Fn, class... Ops>
struct held<Expression<Fn, Ops...>> { using type = Expression<Fn, Ops...>; };
template <class Fn, class... Ops>
struct held<Expression<Fn, Ops...>&> { using type = Expression<Fn, Ops...>; };
template <class Fn, class... Ops>
struct held<const Expression<Fn, Ops...>&> { using type = Expression<Fn, Ops...>; };

template <class A>
inline constexpr DType dtype_of_operand = [] {
  if constexpr (Value<A>) return std::remove_cvref_t<A>::dtype;
  else return dtype_of<std::remove_cvref_t<A>>;
}();
/// The dtype that numbers take beside these operands.
template <class... A>
constexpr DType common_dtype() {
  DType d = DType::boolean;
  ((d = Value<A> ? promote(d, dtype_of_operand<A>) : d), ...);
  return d;
}
template <class A>
constexpr DType literal_dtype() {
  using N = std::remove_cvref_t<A>;
  return std::is_same_v<N, bool> ? DType::boolean
         : std::is_floating_point_v<N> ? DType::f64 : DType::i64;
}

template <DType Beside, class A>
constexpr auto hold(A&& a) {
  if constexpr (Value<A>) {
    using H = typename held<A>::type;
    if constexpr (is_array_leaf<H>) {
      if constexpr (std::is_lvalue_reference_v<A>) return H{&a, Witness(a.lifetime())};
      else return H{static_cast<A&&>(a)};
    } else {
      return H(static_cast<A&&>(a));
    }
  } else {
    using T = element_t<promote_literal(Beside, literal_dtype<A>())>;
    return ScalarLeaf<T>{static_cast<T>(a)};
  }
}

/// Do the operands' shapes broadcast? If not, a trait that shows both.
template <class I, bool Fails>
struct broadcast_trait {
  using type = std::true_type;
};
template <class I>
struct broadcast_trait<I, true> {
  using type = shapes_broadcast<shown_a<I>, shown_b<I>, I::failure.where.line>;
};
template <class I>
using broadcast_trait_of =
    typename broadcast_trait<I, I::failure.mistake == Mistake::shapes_do_not_broadcast>::type;
template <class Fn, class... A>
using operands_broadcast = broadcast_trait_of<
    Inferred<Fn, decltype(hold<common_dtype<A...>()>(std::declval<A>()))...>>;

template <class Fn, DType Beside, class... A>
constexpr auto make_expression(A&&... a) {
  using X = Expression<Fn, decltype(hold<Beside>(static_cast<A&&>(a)))...>;
  return X{{hold<Beside>(static_cast<A&&>(a))...}};
}

template <Op K, std::int64_t Attribute = 0>
struct PrimitiveFn {
  static constexpr bool is_elementwise = true;
  static constexpr Sym record(auto... s) {
    return SymFront::primitive<K>({}, Attribute, s...);
  }
};
template <class F>
struct CallFn {
  static constexpr bool is_elementwise = true;
  static constexpr Sym record(auto... s) { return SymFront::call<F>({}, s...); }
};
template <class To, bool Bits>
struct CastFn {
  static constexpr bool is_elementwise = true;
  static constexpr Sym record(Sym s) {
    if constexpr (Bits) return SymFront::bitcast<To>({}, s);
    else return SymFront::cast<To>({}, s);
  }
};
template <class First, class... Rest>
constexpr auto first(const First& f, const Rest&...) {  // what a mistaken operator returns
  return f;
}
template <class Fn>
struct FunctionFn : Fn {
  static constexpr bool is_elementwise = false;
};

}  // namespace detail

struct ArrayFront {
  static constexpr int rank = 2;
  static constexpr bool dynamic_axes = false;

  template <class Fn, DType Beside = DType::boolean, class... A>
  static constexpr auto make_beside(A&&... a) {
    constexpr DType beside = Beside;
    using I = detail::Inferred<Fn, decltype(detail::hold<beside>(static_cast<A&&>(a)))...>;
    if constexpr (detail::no_mistake<I>())
      return detail::make_expression<Fn, beside>(static_cast<A&&>(a)...);
    else return detail::first(a...);
  }
  /// Numbers take a dtype beside the other operands.
  template <class Fn, class... A>
  static constexpr auto make(A&&... a) {
    return make_beside<Fn, detail::common_dtype<A...>()>(static_cast<A&&>(a)...);
  }
  template <class F, class... A>
  static constexpr auto call(SourceLine, A&&... a) {
    return make<detail::CallFn<F>>(static_cast<A&&>(a)...);
  }
  template <Op K, class... A>
  static constexpr auto primitive(SourceLine, std::int64_t, A&&... a) {
    static_assert(!is_shift(K), "tt: shifts of Arrays go inside tt::op");
    return make<detail::PrimitiveFn<K>>(static_cast<A&&>(a)...);
  }
  template <class Fn, class... A>
  static constexpr auto function(SourceLine, A&&... a) {
    return make_beside<detail::FunctionFn<Fn>>(static_cast<A&&>(a)...);
  }
  template <class To, class A>
  static constexpr auto cast(SourceLine, A&& a) {
    return make<detail::CastFn<To, false>>(static_cast<A&&>(a));
  }
  template <class To, class A>
  static constexpr auto bitcast(SourceLine, A&& a) {
    return make<detail::CastFn<To, true>>(static_cast<A&&>(a));
  }
};

/// An Array, or an expression of Arrays.
template <class A>
concept ArrayLike = requires {
  requires std::same_as<typename std::remove_cvref_t<A>::tt_front, ArrayFront>;
};
template <class A, class B>
concept ArrayOperands = (ArrayLike<A> && Operand<B>) || (Operand<A> && ArrayLike<B>);

/// Evaluates an expression into a new Array; an Array is copied.
template <ArrayLike X, class Isa = IsaTag>
auto eval(const X& x) {
  if constexpr (requires { x.eval(); }) return x.eval();
  else return x;
}

}  // namespace tt

#include "tt/expr/assign.hpp"
#include "tt/expr/operators.hpp"
