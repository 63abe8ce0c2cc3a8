// Expressions: the results of operators on Arrays. An expression refers to named operands, owns temporaries, and is evaluated on assignment or by `eval`; then
// the whole tree becomes one graph, fused like any other. A stored expression reads its operands anew each time.
//   tt::Array<float, 64> y = tt::tanh(a * b + c);
// An operand written twice is read twice; inside tt::fuse nothing is computed twice.
#pragma once
#include "tt/expr/leaves.hpp"
#include "tt/expr/program.hpp"

namespace tt {
namespace detail {

/// Operands of an expression, as members (std::tuple would cost as much compile time as the rest of an expression).
template <class... O>
struct OperandList;
template <class A>
struct OperandList<A> {
  A a;
};
template <class A, class B>
struct OperandList<A, B> {
  A a;
  B b;
};
template <class A, class B, class C>
struct OperandList<A, B, C> {
  A a;
  B b;
  C c;
};
template <class A, class B, class C, class... More>
struct OperandList<A, B, C, More...> {
  A a;
  B b;
  C c;
  OperandList<More...> more;
};

template <std::int64_t... E>
constexpr Shape shape_with_symbols(extents<E...>, [[maybe_unused]] int& symbol) {
  Shape s;
  [[maybe_unused]] const auto extent = [&](std::int64_t e) {
    s.push_back(e == dyn ? Extent::symbol(symbol++ % max_symbols) : Extent(e));
  };
  (extent(E), ...);
  return s;
}

template <class Fn, std::size_t... K>
constexpr Sym record_on(const Sym* s, std::index_sequence<K...>) {
  return Fn::record(s[K]...);
}

/// The type of an operand for inference: operands of one dtype and shape share it, so inference is instantiated once.
template <DType D, class E>
struct Typed {
  static constexpr DType dtype = D;
  using Extents = E;
};

/// dtype and shape of Fn on such operands, from the graph's own inference.
template <class Fn, class... Ops>
struct InferredOf {
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
    const Sym y = record_on<Fn>(s, std::index_sequence_for<Ops...>{});
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
template <class Fn, class... Ops>
using Inferred = InferredOf<Fn, Typed<Ops::dtype, typename Ops::Extents>...>;

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
  /// Without axes it converts to a number, as such an Array does: std::exp(r + 1.0). To the value's own type only, so that one overload fits.
  template <class T, class Isa = IsaTag>
    requires(std::same_as<T, typename Result::value_type> && Result::rank == 0)
  operator T() const {
    return Result(*this).item();
  }
  template <class X>
    requires ArrayOperand<X>
  void operator=(const X&) const {
    static_assert(std::is_void_v<X>, "tt: an expression has no elements to write to. For a slice of an Array: a = tt::slice_scatter<Axis, Start>(a, x)?");
  }
};
/// Prints the evaluated Array.
template <CharStream Stream, class Fn, class... Ops>
  requires(Expression<Fn, Ops...>::Result::rank > 0)
Stream& operator<<(Stream& stream, const Expression<Fn, Ops...>& e) {
  return stream << e.eval();
}

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
template <class T, std::int64_t... E>
struct OperandRecorder<ArrayLeaf<ArrayView<T, E...>>> {
  static constexpr Sym record(Recorder& r) { return r.input<std::remove_const_t<T>, E...>(false); }
};
template <class T>
struct OperandRecorder<ScalarLeaf<T>> {
  static constexpr Sym record(Recorder& r) {
    const Sym s = r.input<compute_t<T>>();
    if constexpr (NarrowElement<T>) return {s.graph, s.graph->number_beside(s.id, dtype_of<T>)};
    else return s;
  }
};
template <class Fn, class... Ops>
struct OperandRecorder<Expression<Fn, Ops...>> {
  static constexpr Sym record(Recorder& r) {
    const Sym s[] = {OperandRecorder<Ops>::record(r)...};  // braces: left to right
    return record_on<Fn>(s, std::index_sequence_for<Ops...>{});
  }
};

/// Is every op elementwise, so that element i of the result needs only element i of operands of its shape?
template <class L>
inline constexpr bool is_elementwise_tree = true;
template <class Fn, class... Ops>
inline constexpr bool is_elementwise_tree<Expression<Fn, Ops...>> =
    Fn::is_elementwise && (is_elementwise_tree<Ops> && ...);

/// Padded: the result goes into an Array with a padded end.
template <class X, bool Padded = true>
struct ExpressionModel {
  static constexpr bool is_elementwise = is_elementwise_tree<X>;
  static constexpr void record(Graph& g, Recorder& r) { g.output(OperandRecorder<X>::record(r).id, -1, Padded); }
};

template <class L>
inline constexpr int tree_leaves = 1;
template <class Fn, class... Ops>
inline constexpr int tree_leaves<Expression<Fn, Ops...>> = (0 + ... + tree_leaves<Ops>);
/// The number of its leaves' extents that are known at run time only.
template <class L>
inline constexpr int dynamic_extents = L::Extents::dynamic_count;
template <class Fn, class... Ops>
inline constexpr int dynamic_extents<Expression<Fn, Ops...>> = (0 + ... + dynamic_extents<Ops>);

/// The memory of a destination.
struct KeptMemory {
  const void* begin = nullptr;
  std::int64_t bytes = 0;

  /// Does a leaf's memory overlap it? `element_by_element`: exactly the same memory is allowed.
  bool is_read(const void* data, std::int64_t size, bool element_by_element) const {
    const auto* kept = static_cast<const std::byte*>(begin);
    const auto* from = static_cast<const std::byte*>(data);
    return from < kept + bytes && kept < from + size && !(element_by_element && from == kept && size == bytes);
  }
};
/// The leaves of an expression in one evaluation, in the order in which they are recorded. OfViews: the destination or a leaf is a view, so memory may overlap
/// partly. Arrays own their memory: a leaf that shares memory with the destination is the destination.
template <int Leaves, int Dynamic, bool Elementwise, bool OfViews>
struct LeafList {
  void* external[Leaves + 1];  // the last is the destination
  std::int64_t extent[Dynamic > 0 ? Dynamic : 1];
  int count = 0, dynamic = 0;
  KeptMemory kept;  // the destination's memory, unless leaves are read before it is written
  bool clashes = false;

  template <class A>
  TT_ALWAYS_INLINE void add(const A& a) {
    for (int k = 0; k < A::Extents::dynamic_count; ++k) extent[dynamic++] = a.dynamic_extent(k);
    const void* data = a.data();
    if constexpr (OfViews) clashes = clashes || kept.is_read(data, a.size() * static_cast<std::int64_t>(sizeof(*a.data())), Elementwise);
    else if constexpr (!Elementwise) clashes = clashes || (kept.begin && data == kept.begin);
    external[count++] = const_cast<void*>(data);
  }
};
template <class L>
inline constexpr bool has_views = false;
template <class T, std::int64_t... E>
inline constexpr bool has_views<ArrayLeaf<ArrayView<T, E...>>> = true;
template <class T, std::int64_t... E>
inline constexpr bool has_views<ArrayView<T, E...>> = true;
template <class Fn, class... Ops>
inline constexpr bool has_views<Expression<Fn, Ops...>> = (has_views<Ops> || ...);
template <class A, class List>
TT_ALWAYS_INLINE void collect(const ArrayLeaf<A>& leaf, List& list) {
  list.add(leaf.get());
}
template <class T, class List>
TT_ALWAYS_INLINE void collect(const ScalarLeaf<T>& leaf, List& list) {
  list.external[list.count++] = const_cast<compute_t<T>*>(&leaf.value);
}
template <class... Ops, class List>
TT_ALWAYS_INLINE void collect(const OperandList<Ops...>& operands, List& list) {
  collect(operands.a, list);
  if constexpr (sizeof...(Ops) > 1) collect(operands.b, list);
  if constexpr (sizeof...(Ops) > 2) collect(operands.c, list);
  if constexpr (sizeof...(Ops) > 3) collect(operands.more, list);
}
template <class Fn, class... Ops, class List>
TT_ALWAYS_INLINE void collect(const Expression<Fn, Ops...>& x, List& list) {
  collect(x.operands, list);
}

/// The extents of a result in one call.
inline void extents_of(const Shape& shape, const SymbolValues& symbols, std::int64_t* extent) {
  for (int k = 0; k < shape.rank; ++k) extent[k] = shape[k].value(symbols);
}
/// The constants for evaluating an expression with run-time extents, so that the work around its kernels is one function for every type of destination.
struct DynamicProgram {
  void (*run)(void* const* external, const SymbolValues& symbols);
  const SymbolRules& rules;
  int leaves;
  Shape result;

  void bind(const std::int64_t* extent, SymbolValues& values, std::int64_t* given) const {
    bind_symbols(rules, extent, values);
    extents_of(result, values, given);
  }
};

/// Evaluates an expression of type X into an Array A.
template <class X, class A, class Isa>
struct Evaluation {
  using P = Program<ExpressionModel<X, A::is_padded>>;
  static constexpr int dynamic = dynamic_extents<X>;
  static constexpr bool is_dynamic = dynamic > 0, reads_first = backend::reads_first<Compiled<P>>;

  LeafList<tree_leaves<X>, dynamic, is_elementwise_tree<X>, has_views<X> || has_views<A>> list;

  TT_ALWAYS_INLINE explicit Evaluation(const X& x, const KeptMemory& destination) {
    list.kept = destination;
    collect(x, list);
  }
  static const DynamicProgram& program()
    requires is_dynamic
  {
    static constexpr DynamicProgram p{&execute<P, Isa>, Symbols<P, dynamic>::rules, tree_leaves<X>,
                                      interface_of<P>.output[0].shape};
    return p;
  }
  static constexpr void constant_extents(std::int64_t* extent) {
    constexpr Shape s = interface_of<P>.output[0].shape;
    for (int k = 0; k < s.rank; ++k) extent[k] = s.code[k];
  }
  TT_ALWAYS_INLINE void run(void* out) {
    list.external[list.count] = out;
    if constexpr (Compiled<P>::plan.kernels.size() == 1) execute_here<P, Isa>(list.external, no_symbols);
    else execute<P, Isa>(list.external, no_symbols);
  }
};

template <class To, class From>
struct dtypes_agree { static constexpr bool value = false; };
template <class To, class From>
struct shapes_agree { static constexpr bool value = false; };

/// Are extents equal, as far as both are known at compile time?
template <class A, class B>
constexpr bool extents_may_agree() {
  if (A::rank != B::rank) return false;
  for (int k = 0; k < A::rank; ++k)
    if (A::value[k] != B::value[k] && A::value[k] != dyn && B::value[k] != dyn) return false;
  return true;
}

// ---- making expressions

template <class A>
struct held;
template <class T, std::int64_t... E>
struct held<Array<T, E...>&> { using type = ArrayLeaf<const Array<T, E...>&>; };
template <class T, std::int64_t... E>
struct held<const Array<T, E...>&> { using type = ArrayLeaf<const Array<T, E...>&>; };
template <class T, std::int64_t... E>
struct held<ArrayView<T, E...>> { using type = ArrayLeaf<ArrayView<T, E...>>; };
template <class T, std::int64_t... E>
struct held<ArrayView<T, E...>&> : held<ArrayView<T, E...>> {};
template <class T, std::int64_t... E>
struct held<const ArrayView<T, E...>&> : held<ArrayView<T, E...>> {};
template <class T, std::int64_t... E>
struct held<const ArrayView<T, E...>> : held<ArrayView<T, E...>> {};
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
/// The promoted dtype of the operands that are no numbers; numbers take a dtype beside it.
template <class... A>
constexpr DType common_dtype() {
  DType d = DType::boolean;
  const auto add = [&]<class B>(std::type_identity<B>) {
    if constexpr (Value<B>) d = promote(d, dtype_of_operand<B>);
  };
  (add(std::type_identity<A>{}), ...);
  return d;
}
template <class A>
constexpr DType literal_dtype() {
  using N = std::remove_cvref_t<A>;
  return std::is_same_v<N, bool> ? DType::boolean
         : std::is_floating_point_v<N> ? DType::f64 : DType::i64;
}

/// How an expression holds an operand; numbers take a dtype beside the other operands.
template <DType Beside, class A>
struct held_beside {
  using type = ScalarLeaf<element_t<promote_literal(Beside, literal_dtype<A>())>>;
};
template <DType Beside, Value A>
struct held_beside<Beside, A> : held<A> {};
template <DType Beside, class A>
using held_t = typename held_beside<Beside, A>::type;

/// Do the operands' shapes broadcast? If not, a trait that shows both.
template <class I, bool Fails>
struct broadcast_trait {
  using type = std::true_type;
};
template <class I>
struct broadcast_trait<I, true> {
  using type = shown_mistake<I, 'a', 'b'>;
};
template <class I>
using broadcast_trait_of =
    typename broadcast_trait<I, I::failure.mistake == Mistake::shapes_do_not_broadcast>::type;
template <class Fn, class... A>
using operands_broadcast = broadcast_trait_of<
    Inferred<Fn, held_t<common_dtype<A...>(), A>...>>;

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
constexpr auto first(const First& f, const Rest&...) {  // the value of a mistaken operator
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

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces"  // around the operands after the third
  template <class Fn, DType Beside = DType::boolean, class... A>
  static constexpr auto make_beside(A&&... a) {
    using X = Expression<Fn, detail::held_t<Beside, A>...>;
    if constexpr (detail::no_mistake<typename X::Inferred>())
      return X{{detail::held_t<Beside, A>(static_cast<A&&>(a))...}};
    else return detail::first(a...);
  }
#pragma GCC diagnostic pop
  /// Numbers take a dtype beside the other operands.
  template <class Fn, class... A>
  static constexpr auto make(A&&... a) {
    return make_beside<Fn, detail::common_dtype<A...>()>(static_cast<A&&>(a)...);
  }
  template <class F, class... A>
  static constexpr auto call(SourceLine, A&&... a) {
    return make_beside<detail::CallFn<F>, detail::common_dtype<A...>()>(static_cast<A&&>(a)...);
  }
  template <Op K, class... A>
  static constexpr auto primitive(SourceLine, std::int64_t, A&&... a) {
    static_assert(!is_shift(K), "tt: shifts of Arrays go inside tt::op");
    return make_beside<detail::PrimitiveFn<K>, detail::common_dtype<A...>()>(static_cast<A&&>(a)...);
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
