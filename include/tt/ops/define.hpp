// How an op is defined, and how a call finds its front end.
//   struct Silu {
//     static constexpr OpInfo info{.name = "silu", .max_ulp = 4};
//     static constexpr auto body(auto x) { return x / (1 + exp(-x)); }
//   };
// The same body runs on Num (scalars, SIMD) and on Sym (graphs). A front end is a struct with `call<F>(where, args...)`
// and `primitive<K>(where, attribute, args...)`; argument types name theirs as `tt_front`. Of several, the one with the
// highest `rank` is taken.
#pragma once
#include "tt/core/error.hpp"
#include "tt/ops/carrier.hpp"

namespace tt {

/// The type of tt::none, for arguments that are left out: PyTorch's None.
struct NoneType {};
inline constexpr NoneType None{};

/// How an op treats its operands: real ops turn integers into f32 first, number ops keep them, integer ops take them as
/// i64 and refuse floats, floating ops refuse an integer as the first one.
enum class Domain : std::uint8_t { real, number, integer, floating };

/// How a number op treats bool: the body sees bool; or i64 (integers); or i64, and the result is bool again (bools).
enum class OfBool : std::uint8_t { body, integers, bools };

struct OpInfo {
  const char* name = "";
  Domain domain = Domain::real;
  int arity = 1;
  float max_ulp = 0;      ///< largest error of the f32 form against the exact result
  float max_ulp_f64 = 0;  ///< the same for f64; 0 means as max_ulp
  bool opaque = false;    ///< stays one instruction in kernels; needs a `derivative` rule
  OfBool of_bool = OfBool::body;
  const char* schema = nullptr;     ///< of an elementwise op whose operands are not called input and other, or have defaults
  bool effect = false;              ///< of an op with a kernel: calls have an effect beside their results, so they are not merged, removed or reordered
  bool widens = true;               ///< of an op over graphs: narrow floats are passed in their compute dtype, and results are rounded once
  bool rounds_as_input = false;     ///< and these have the dtype of the first operand, if that is a narrow float, whatever the others are
  bool elementwise = false;         ///< an op over graphs: its result at an index needs only elements of its operands, broadcast to one shape, at that index
  const char* arguments = nullptr;  ///< of an op over graphs: its arguments, see functional/structured.hpp
};

/// Result of the `derivative` of an op of several operands: a gradient for each, in their order.
template <class G, int N>
struct Gradients {
  G of[N];
  template <class... Each>
  constexpr explicit Gradients(const G& first, const Each&... more) : of{first, G(more)...} {}
};
template <class G, class... More>
Gradients(G, More...) -> Gradients<G, 1 + sizeof...(More)>;

/// The gradients that a derivative of an op with a kernel sets, as many as it has arguments.
template <class T>
struct OutGradients {
  T* first = nullptr;
  int count = 0;
  const char* op = "";
  T& operator[](int k) const {
    if (k < 0 || k >= count) TT_THROW(Error(Text("tt::") << op << ": its derivative sets the gradient of argument " << k << ", and there are " << count << "."));
    return first[k];
  }
};
/// The index of Tensor number k of an op's `arguments` among those that are given, bits of `given` (-1: all); -1 if it was left out.
constexpr int place_of_argument(std::int64_t given, int k, int arguments) {
  if (given == -1) return k < arguments ? k : -1;
  if (!(given >> k & 1)) return -1;
  int place = 0;
  for (int j = 0; j < k; ++j) place += static_cast<int>(given >> j & 1);
  return place;
}

/// Can an op that is called as a whole have dtype T? Real and floating ops take floats, integer ops i64.
template <class F, class T>
inline constexpr bool takes_dtype = F::info.domain == Domain::number    ? !std::is_same_v<T, bool>
                                    : F::info.domain == Domain::integer ? std::is_same_v<T, std::int64_t>
                                                                        : std::is_floating_point_v<T>;

template <class A>
concept Value = requires { typename std::remove_cvref_t<A>::tt_front; };
/// A number, or a Size, which is a number beside Tensors.
template <class A>
concept NumberOperand = std::is_arithmetic_v<std::remove_cvref_t<A>> || requires { typename std::remove_cvref_t<A>::tt_number; };
template <class A>
concept Operand = Value<A> || NumberOperand<A>;
template <class... A>
concept Operands = (Value<A> || ...) && (Operand<A> && ...);

/// Runs bodies directly, on Nums.
struct NumFront {
  static constexpr int rank = 0;

  template <class F, class R, class... A>
  static TT_ALWAYS_INLINE constexpr auto run(A... a) {
    if constexpr (requires { F::template body<typename Carrier<R>::Scalar>(a...); })
      return F::template body<typename Carrier<R>::Scalar>(a...);
    else
      return F::body(a...);
  }
  template <class A, class... Rest>
  struct first_num : first_num<Rest...> {};
  template <class R, class... Rest>
  struct first_num<Num<R>, Rest...> { using type = R; };

  template <class F, class... A>
  static TT_ALWAYS_INLINE constexpr auto call(SourceLine, const A&... a) {
    using R = typename first_num<A...>::type;
    return run<F, R>(as_num<R>(a)...);
  }
  template <class R, class A>
  static TT_ALWAYS_INLINE constexpr auto as_num(const A& a) {
    if constexpr (std::is_arithmetic_v<A>) return Num<R>(a);
    else return a;
  }
  template <Op K, class... A>
  static TT_ALWAYS_INLINE constexpr auto primitive(SourceLine, std::int64_t attribute,
                                                   const A&... a) {
    if constexpr (K == Op::where) {
      return where(a...);
    } else {
      using R = typename first_num<A...>::type;
      return apply<K, R>(static_cast<int>(attribute), as_num<R>(a)...);
    }
  }
  template <Op K, class R>
  static TT_ALWAYS_INLINE constexpr auto apply(int n, Num<R> a, Num<R> b = {}, Num<R> c = {}) {
    if constexpr (is_comparison(K)) return Mask<R>{Carrier<R>::template compare<K>(a.value, b.value)};
    else return Num<R>(Carrier<R>::template apply<K>(a.value, b.value, c.value, n));
  }
  template <class M, class A, class B>
  static TT_ALWAYS_INLINE constexpr auto where(M m, A a, B b) {
    using R = typename first_num<A, B, Num<typename M::Raw>>::type;
    return Num<R>(Carrier<R>::select(m.value, as_num<R>(a).value, as_num<R>(b).value));
  }
  template <class To, class R>
  static TT_ALWAYS_INLINE constexpr auto cast(SourceLine, Num<R> a) {
    return Num<typename Carrier<R>::template Rebind<To>>(Carrier<R>::template cast<To>(a.value));
  }
  template <class To, class R>
  static TT_ALWAYS_INLINE constexpr auto bitcast(SourceLine, Num<R> a) {
    return Num<typename Carrier<R>::template Rebind<To>>(Carrier<R>::template bitcast<To>(a.value));
  }
};

namespace detail {

template <class Best, class... A>
struct front {
  using type = Best;
};
template <class Best, class A, class... Rest>
struct front<Best, A, Rest...> : front<Best, Rest...> {};
template <class Best, Value A, class... Rest>
struct front<Best, A, Rest...>
    : front<std::conditional_t<(std::remove_cvref_t<A>::tt_front::rank > Best::rank),
                               typename std::remove_cvref_t<A>::tt_front, Best>,
            Rest...> {};

}  // namespace detail

template <class... A>
using front_t = typename detail::front<NumFront, A...>::type;

namespace detail {

// The result types of calls are named: a deduced type is found by compiling the function, with all its callees,
// wherever it is mentioned. For Tensors the type is Tensor, for every op.

template <class Front>
concept NamesValue = requires { typename Front::Value; };
template <class F>
struct CallOf {
  template <class Front, class... A>
  using result = decltype(Front::template call<F>(SourceLine{}, std::declval<A>()...));
};
template <Op K>
struct PrimitiveOf {
  template <class Front, class... A>
  using result = decltype(Front::template primitive<K>(SourceLine{}, 0, std::declval<A>()...));
};
/// `any`: is one of A a Value? Else, or where one of A is no Operand, there is no `type` and another overload is taken:
/// clang 19 looks at the type of a result before constraints.
template <bool any, class Front, class Call, class... A>
struct CallResult {};
template <class Front, class Call, class... A>
  requires(!NamesValue<Front> && (Operand<A> && ...))
struct CallResult<true, Front, Call, A...> {
  using type = typename Call::template result<Front, A...>;
};
template <NamesValue Front, class Call, class... A>
struct CallResult<true, Front, Call, A...> {
  using type = typename Front::Value;
};

}  // namespace detail
/// The result type of op F on these arguments.
template <class F, class... A>
using Called = typename detail::CallResult<(Value<A> || ...), front_t<A...>, detail::CallOf<F>, A...>::type;
template <Op K, class... A>
using CalledPrimitive = typename detail::CallResult<(Value<A> || ...), front_t<A...>, detail::PrimitiveOf<K>, A...>::type;

/// Calls an op by its definition: `call<Silu>(here(), x)`.
template <class F, class... A>
TT_ALWAYS_INLINE constexpr Called<F, A...> call(SourceLine at, A&&... a) {
  return front_t<A...>::template call<F>(at, static_cast<A&&>(a)...);
}
template <Op K, class... A>
TT_ALWAYS_INLINE constexpr CalledPrimitive<K, A...> primitive(SourceLine at, A&&... a) {
  return front_t<A...>::template primitive<K>(at, 0, static_cast<A&&>(a)...);
}

/// An op as a function object; `tt::op(lambda)` makes one too.
template <class F>
struct Elementwise {
  static constexpr int arity = F::info.arity;

  template <class A>
    requires(arity == 1 && Operands<A>)
  TT_ALWAYS_INLINE constexpr auto operator()(A&& a, SourceLine at = here()) const {
    return call<F>(at, static_cast<A&&>(a));
  }
  template <class A, class B>
    requires(arity == 2 && Operands<A, B>)
  TT_ALWAYS_INLINE constexpr auto operator()(A&& a, B&& b, SourceLine at = here()) const {
    return call<F>(at, static_cast<A&&>(a), static_cast<B&&>(b));
  }
  template <class A, class B, class C>
    requires(arity == 3 && Operands<A, B, C>)
  TT_ALWAYS_INLINE constexpr auto operator()(A&& a, B&& b, C&& c, SourceLine at = here()) const {
    return call<F>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
  }
  /// For more operands there is no last SourceLine parameter, so errors name no line.
  template <class First, class... Rest>
    requires(arity > 3 && 1 + sizeof...(Rest) == static_cast<unsigned>(arity) && Operands<First, Rest...>)
  TT_ALWAYS_INLINE constexpr auto operator()(First&& first, Rest&&... rest) const {
    return call<F>(SourceLine{}, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  }
  /// Reports a wrong number of arguments.
  template <class First, class... Rest>
    requires(1 + sizeof...(Rest) != static_cast<unsigned>(arity) && Operands<First, Rest...>)
  constexpr auto operator()(const First& first, const Rest&...) const {
    static_assert(1 + sizeof...(Rest) == static_cast<unsigned>(arity), "tt: wrong number of arguments for this op");
    return first;
  }
};

template <class... F>
struct TypeList {
  static constexpr int size = sizeof...(F);
};

}  // namespace tt
