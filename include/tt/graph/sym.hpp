// Sym: the value type that records. Op bodies and whole models run on Syms; every operator becomes a node of the graph. op_def<F> is the definition of op F as
// graphs know it.
//   Graph g;  Sym x{&g, g.input(DType::f32, {8})};  g.output((x * 2 + exp(x)).id);
#pragma once
#include "tt/graph/decompose.hpp"
#include "tt/ops/list.hpp"

namespace tt {

struct SymFront;

template <class S>
inline constexpr bool used_symbol_as_condition = false;

struct Sym {
  using tt_front = SymFront;

  Graph* graph = nullptr;
  int id = -1;

  constexpr const Node& node() const { return graph->nodes[id]; }
  constexpr const Shape& shape() const { return node().shape; }
  constexpr DType dtype() const { return node().dtype; }
  constexpr bool defined() const { return graph; }  ///< was this operand given?

  template <class B>
    requires std::same_as<B, bool>
  explicit constexpr operator B() const {
    static_assert(used_symbol_as_condition<B>,
                  "tt: a comparison inside an op is a mask over many elements and cannot steer `if` "
                  "or `?:`; use tt::where(condition, a, b)");
    return false;
  }
};

namespace detail {
/// No constant expression: where a program is compiled, its name is the error.
[[noreturn]] TT_NOINLINE inline void an_undefined_symbol_is_used(const char* op, SourceLine at) {
  TT_THROW(Error(Text("tt::") << op << ": an operand is undefined: a Tensor that was left out, or a gradient that is zero. Ask x.defined() first?" << at));
}
}  // namespace detail

/// An operand of a Sym operator: a Sym or a literal, with its source line.
struct SymOperand {
  Sym sym;
  bool literally = true;
  double real = 0;
  std::int64_t integer = 0;
  DType literal = DType::f64;
  bool fits = true;  ///< an integer literal fits an i64
  SourceLine where;

  constexpr SymOperand(const Sym& s, SourceLine at = here()) : sym(s), literally(false), where(at) {}
  template <class A>
    requires std::is_arithmetic_v<A>
  constexpr SymOperand(A value, SourceLine at = here())
      : real(static_cast<double>(value)),
        integer(std::is_integral_v<A> ? static_cast<std::int64_t>(value) : 0),
        literal(std::is_same_v<A, bool>        ? DType::boolean
                : std::is_floating_point_v<A> ? DType::f64
                                              : DType::i64),
        fits(!std::is_unsigned_v<A> || integer >= 0),
        where(at) {}

  constexpr bool is_literal() const { return literally; }
  constexpr bool defined() const { return literally || sym.graph; }
  /// The node's id; a literal becomes a constant of the dtype that it takes beside `other`.
  constexpr int id_beside(Graph& g, DType other) const {
    if (!is_literal()) return sym.id;
    const DType d = promote_literal(other, literal);
    const DType in = compute_dtype(d);  // beside narrow values a literal is not rounded to their dtype before use
    if (is_floating(literal) || (is_floating(d) && !fits)) return g.constant_bits(d, encode(in, real));
    if (!fits || !holds(in, integer))
      g.fail({.mistake = Mistake::number_out_of_range, .op = "constant", .dtype = d,
              .number = integer, .where = where});
    return g.constant_bits(d, encode_integer(in, integer));
  }
};

namespace detail {
template <class F>
struct SymResults;  // functional/structured.hpp
}  // namespace detail
struct SymFront {
  static constexpr int rank = 1;
  static constexpr bool dynamic_axes = true;
  /// The result type of an op over graphs.
  template <class F>
  using Results = typename detail::SymResults<F>::type;

  template <class Fn, class... A>
  static constexpr auto function(SourceLine at, const A&... a) {
    Graph* g = nullptr;
    const auto find = [&](const auto& x) {
      if constexpr (Value<decltype(x)>) g = x.graph;
    };
    (find(a), ...);
    if (!g) detail::an_undefined_symbol_is_used("a function", at);
    const detail::AtCaller line(*g, at);
    return Fn::record(as_sym(g, a)...);
  }
  static constexpr Sym as_sym(Graph*, const Sym& s) { return s; }
  template <class A>
    requires std::is_arithmetic_v<A>
  static constexpr Sym as_sym(Graph* g, A value) {
    return {g, SymOperand(value).id_beside(*g, std::is_integral_v<A> ? DType::i64 : DType::f32)};
  }
  /// Records an op over graphs; see functional/structured.hpp.
  template <class F, class O, class... S>
  static constexpr auto structured(SourceLine at, const O& options, const S&... s);

  TT_NOINLINE static constexpr Sym record(Op k, SourceLine at, std::int64_t attribute, SymOperand a) {
    if (!a.defined()) detail::an_undefined_symbol_is_used(name(k), at);
    return {a.sym.graph, at_line(a.sym.graph, at).elementwise(k, {a.sym.id}, attribute)};
  }
  TT_NOINLINE static constexpr Sym record(Op k, SourceLine at, std::int64_t attribute, SymOperand a, SymOperand b) {
    if (!a.defined() || !b.defined()) detail::an_undefined_symbol_is_used(name(k), at);
    Graph* g = a.is_literal() ? b.sym.graph : a.sym.graph;
    const DType d = a.is_literal() ? b.sym.dtype() : a.sym.dtype();
    const int x = a.id_beside(*g, d), y = b.id_beside(*g, d);
    return {g, at_line(g, at).elementwise(k, {x, y}, attribute)};
  }
  TT_NOINLINE static constexpr Sym record(Op k, SourceLine at, std::int64_t attribute, SymOperand a, SymOperand b,
                              SymOperand c) {
    if (!a.defined() || !b.defined() || !c.defined()) detail::an_undefined_symbol_is_used(name(k), at);
    if (k == Op::where) {
      Graph* g = a.sym.graph;
      const DType d = !b.is_literal() ? b.sym.dtype() : !c.is_literal() ? c.sym.dtype() : DType::boolean;
      const int x = b.id_beside(*g, d), y = c.id_beside(*g, d);
      return {g, at_line(g, at).elementwise(k, {a.sym.id, x, y}, attribute)};
    }
    const Sym known = !a.is_literal() ? a.sym : !b.is_literal() ? b.sym : c.sym;
    Graph* g = known.graph;
    const int x = a.id_beside(*g, known.dtype()), y = b.id_beside(*g, known.dtype());
    const int z = c.id_beside(*g, known.dtype());
    return {g, at_line(g, at).elementwise(k, {x, y, z}, attribute)};
  }

  template <Op K, class... A>
  static constexpr Sym primitive(SourceLine at, std::int64_t attribute, const A&... a) {
    return record(K, at, attribute, SymOperand(a, at)...);
  }
  template <class To>
  static constexpr Sym cast(SourceLine at, Sym a) {
    if (!a.defined()) detail::an_undefined_symbol_is_used("cast", at);
    return {a.graph, at_line(a.graph, at).cast(a.id, dtype_of<To>)};
  }
  template <class To>
  static constexpr Sym bitcast(SourceLine at, Sym a) {
    if (!a.defined()) detail::an_undefined_symbol_is_used("bitcast", at);
    return {a.graph, at_line(a.graph, at).elementwise(Op::bitcast, {a.id}, 0, dtype_of<To>)};
  }
  template <class F, class... A>
  static constexpr Sym call(SourceLine at, const A&... a);

  static constexpr Graph& at_line(Graph* g, SourceLine at) {
    if (at.line && !g->where_is_caller) g->where = at;
    return *g;
  }
};

constexpr Sym operator+(SymOperand a, SymOperand b) {
  return SymFront::record(Op::add, a.where, 0, a, b);
}
constexpr Sym operator-(SymOperand a, SymOperand b) {
  return SymFront::record(Op::sub, a.where, 0, a, b);
}
constexpr Sym operator*(SymOperand a, SymOperand b) {
  return SymFront::record(Op::mul, a.where, 0, a, b);
}
constexpr Sym operator/(SymOperand a, SymOperand b) {
  return SymFront::record(Op::div, a.where, 0, a, b);
}
constexpr Sym operator-(SymOperand a) { return SymFront::record(Op::neg, a.where, 0, a); }
constexpr Sym operator<(SymOperand a, SymOperand b) {
  return SymFront::record(Op::lt, a.where, 0, a, b);
}
constexpr Sym operator<=(SymOperand a, SymOperand b) {
  return SymFront::record(Op::le, a.where, 0, a, b);
}
constexpr Sym operator>(SymOperand a, SymOperand b) {
  return SymFront::record(Op::lt, a.where, 0, b, a);
}
constexpr Sym operator>=(SymOperand a, SymOperand b) {
  return SymFront::record(Op::le, a.where, 0, b, a);
}
constexpr Sym operator==(SymOperand a, SymOperand b) {
  return SymFront::record(Op::eq, a.where, 0, a, b);
}
constexpr Sym operator!=(SymOperand a, SymOperand b) {
  return SymFront::record(Op::ne, a.where, 0, a, b);
}
constexpr Sym operator&&(Sym a, Sym b) { return SymFront::record(Op::logical_and, {}, 0, a, b); }
constexpr Sym operator||(Sym a, Sym b) { return SymFront::record(Op::logical_or, {}, 0, a, b); }
constexpr Sym operator!(Sym a) { return SymFront::record(Op::logical_not, {}, 0, a); }
constexpr Sym operator&(SymOperand a, SymOperand b) {
  return SymFront::record(Op::bit_and, a.where, 0, a, b);
}
constexpr Sym operator|(SymOperand a, SymOperand b) {
  return SymFront::record(Op::bit_or, a.where, 0, a, b);
}
constexpr Sym operator^(SymOperand a, SymOperand b) {
  return SymFront::record(Op::bit_xor, a.where, 0, a, b);
}
constexpr Sym operator<<(SymOperand a, int n) {
  return SymFront::record(Op::shift_left, a.where, n, a);
}
constexpr Sym operator>>(SymOperand a, int n) {
  return SymFront::record(Op::shift_right, a.where, n, a);
}

constexpr Sym& operator+=(Sym& a, SymOperand b) {
  return a = SymFront::record(Op::add, b.where, 0, a, b);
}

constexpr Sym& operator-=(Sym& a, SymOperand b) {
  return a = SymFront::record(Op::sub, b.where, 0, a, b);
}

constexpr Sym& operator*=(Sym& a, SymOperand b) {
  return a = SymFront::record(Op::mul, b.where, 0, a, b);
}

constexpr Sym& operator/=(Sym& a, SymOperand b) {
  return a = SymFront::record(Op::div, b.where, 0, a, b);
}

namespace detail {

template <class F>
constexpr const OpDef& def_of();

/// Is the body's dtype a template argument? Asked here, since nvcc 13 rejects this requires-expression in a lambda.
template <class F, class... S>
inline constexpr bool body_takes_dtype = requires(S... s) { F::template body<float>(s...); };
/// Cold, like all recording code: g++ takes a sixth less time for the library's file with these bodies, and their code is a seventh smaller.
template <class F>
[[gnu::cold]] constexpr int record_body(const OpDef&, Graph& g, const int* operands) {
  [[maybe_unused]] const DType dtype = g[operands[0]].dtype;
  const auto run = [&](auto... x) __attribute__((cold)) -> Sym {
    if constexpr (F::info.opaque && F::info.domain == Domain::integer) {
      return F::template body<std::int64_t>(x...);
    } else if constexpr (F::info.domain == Domain::number && body_takes_dtype<F, decltype(x)...>) {
      if (dtype == DType::i32) return F::template body<std::int32_t>(x...);
      if (dtype == DType::i64) return F::template body<std::int64_t>(x...);
      return dtype == DType::f64 ? F::template body<double>(x...) : F::template body<float>(x...);
    } else if constexpr (body_takes_dtype<F, decltype(x)...>) {
      return dtype == DType::f64 ? F::template body<double>(x...) : F::template body<float>(x...);
    } else {
      return F::body(x...);
    }
  };
  return [&]<int... K>(std::integer_sequence<int, K...>) { return run(Sym{&g, operands[K]}...).id; }(std::make_integer_sequence<int, F::info.arity>{});
}

template <class F>
[[gnu::cold]] constexpr void differentiate_by_rule(Graph& g, int node, const int* adjoints, int* contributions) {
  const Sym y{&g, node}, d{&g, *adjoints};
  Sym s[F::info.arity];
  for (int k = 0; k < F::info.arity; ++k) s[k] = {&g, g.operands(node)[k]};
  const auto r = [&]<int... K>(std::integer_sequence<int, K...>) { return F::derivative(s[K]..., y, d); }(std::make_integer_sequence<int, F::info.arity>{});
  if constexpr (F::info.arity == 1) {
    contributions[0] = r.id;
  } else {
    static_assert(sizeof(r.of) / sizeof(r.of[0]) == F::info.arity, "tt: the derivative of an op gives Gradients{...} of each of its operands");
    for (int k = 0; k < F::info.arity; ++k) contributions[k] = r.of[k].id;
  }
}

/// Does the derivative take as many values as there are numbers?
template <class F, int... K>
constexpr bool derivative_takes(std::integer_sequence<int, K...>) {
  return requires(Sym s) { F::derivative((static_cast<void>(K), s)...); };
}
template <class F>
constexpr bool has_rule() { return derivative_takes<F>(std::make_integer_sequence<int, F::info.arity + 2>{}); }
/// Is there a derivative that takes another number of values, and would never be called?
template <class F>
constexpr bool has_other_rule() {
  return []<int... N>(std::integer_sequence<int, N...>) {
    return ((N != F::info.arity + 2 && derivative_takes<F>(std::make_integer_sequence<int, N>{})) || ...);
  }(std::make_integer_sequence<int, F::info.arity + 4>{});
}

template <class F, class... L>
constexpr int index_in(TypeList<L...>) {
  int n = 0;
  const bool same[] = {std::is_same_v<F, L>...};
  for (bool s : same) {
    if (s) return n;
    ++n;
  }
  return -1;
}

template <class F>
constexpr OpDef make_elementwise_def(OpDef d) {
  d.record = &record_body<F>;
  d.direct = index_in<F>(DirectOps{});
  if constexpr (F::info.opaque) {
    d.code = index_in<F>(OpaqueOps{});
#if !defined(__CUDACC__)  // to nvcc the address of a weak function is no constant
    d.enlist = &enlist_op<F>;
#endif
  }
  if constexpr (has_rule<F>()) {
    d.has_rule = true;
    d.differentiate = &differentiate_by_rule<F>;
  } else {
    static_assert(!has_other_rule<F>(), "tt: the derivative of an elementwise op takes its operands, its result and the gradient of that");
  }
  if constexpr (requires { typename F::of_integers; }) {
    d.has_integer_form = true;
    d.of_integers = &def_of<typename F::of_integers>;
  }
  return d;
}

/// Is the op an op over graphs, not an elementwise one? See functional/structured.hpp.
template <class F>
inline constexpr bool is_structured = F::info.arguments != nullptr;
template <class F>
constexpr void make_named_def(OpDef& d);

template <class F>
constexpr OpDef make_op_def() {
  static_assert(is_op_name(F::info.name), "tt: the name of an op consists of letters, digits and _");
  OpDef d{.info = F::info};
  d.id = 14695981039346656037u;  // FNV-1a
  for (const char* p = __PRETTY_FUNCTION__; *p; ++p)
    d.id = (d.id ^ static_cast<unsigned char>(*p)) * 1099511628211u;
  if constexpr (is_structured<F>) {
    make_named_def<F>(d);
    return d;
  } else {
    return make_elementwise_def<F>(d);
  }
}

}  // namespace detail

template <class F>
inline constexpr OpDef op_def = detail::make_op_def<F>();
template <class F>
constexpr const OpDef& detail::def_of() { return op_def<F>; }

/// Integers have no negative powers. (A function, since nvcc 13 loses the braces of the Failure inside a template's `if constexpr`.)
constexpr void refuse_negative(Graph& g, const char* op, const SymOperand& exponent) {
  if (exponent.is_literal() && exponent.literal == DType::i64 && exponent.fits && exponent.integer < 0)
    g.fail({.mistake = Mistake::negative_power, .op = op, .number = exponent.integer});
}

template <class F, class... A>
constexpr Sym SymFront::call(SourceLine at, const A&... a) {
  static_assert(sizeof...(A) == static_cast<unsigned>(F::info.arity),
                "tt: wrong number of arguments for this op");
  const SymOperand list[] = {SymOperand(a, at)...};
  Graph* g = nullptr;
  DType d = DType::boolean;
  for (const SymOperand& o : list) {
    if (!o.defined()) detail::an_undefined_symbol_is_used(F::info.name, at);
    if (!o.is_literal()) {
      g = o.sym.graph;
      d = promote(d, o.sym.dtype());
    }
  }
  int ids[sizeof...(A)], k = 0;
  for (const SymOperand& o : list) ids[k++] = o.id_beside(*g, d);
  at_line(g, at);
  if constexpr (requires { typename F::of_integers; })
    if (is_integral(d)) refuse_negative(*g, F::info.name, list[1]);
  return {g, g->call(op_def<F>, {ids, k})};
}

/// The name of an intrinsic from its index in OpaqueOps.
constexpr const char* opaque_name(int code) {
  return []<class... F>(TypeList<F...>, int c) {
    constexpr const char* names[] = {F::info.name...};
    return names[c];
  }(OpaqueOps{}, code);
}
/// The op that an instruction calls (see call_code): an intrinsic that a graph of this program has registered; with tt::compiled any intrinsic, and DirectOps.
TT_INLINE const OpDef& called_op(int code);
#if TT_DEFINES(graph)
TT_INLINE const OpDef& called_op(int code) {
#if defined(TT_COMPILED)
  const auto at = []<class... F>(TypeList<F...>, int k) -> const OpDef& {
    static constexpr const OpDef* defs[] = {&op_def<F>...};
    return *defs[k];
  };
  return code < detail::max_opaque_ops ? at(OpaqueOps{}, code) : at(DirectOps{}, code - detail::max_opaque_ops);
#else
  const OpDef* def = __atomic_load_n(&detail::enlisted_ops[code], __ATOMIC_ACQUIRE);
  if (!def) detail::not_enlisted(opaque_name(code));
  return *def;
#endif
}
#endif

}  // namespace tt
