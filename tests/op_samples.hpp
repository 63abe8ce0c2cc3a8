// Ops and primitives from the lists, operands for them that hold every kind of number, and the check that
// all of them share: SIMD against scalars, bit for bit.
#pragma once
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tt/expr/fuse.hpp"
#include "tt/ops/list.hpp"

namespace op_samples {

using tt::Array;
using tt::dyn;
using tt::Op;

/// A primitive as an op, so that both fronts run it: comparisons give 1 or 0 in the dtype of x.
template <Op K, int Attribute = 0>
struct Primitive {
  static constexpr int arity = is_logical(K) || K == Op::where ? 3 : tt::arity(K);
  static constexpr tt::OpInfo info{.name = name(K), .domain = tt::Domain::number, .arity = arity};

  template <class... A>
  static TT_ALWAYS_INLINE constexpr auto primitive(const A&... a) {
    return tt::front_t<A...>::template primitive<K>({}, Attribute, a...);
  }
  static TT_ALWAYS_INLINE constexpr auto number(auto mask, auto x) {
    return tt::where(mask, 1, tt::where(mask, x, 0));
  }
  static TT_ALWAYS_INLINE constexpr auto body(auto x) { return primitive(x); }
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y) {
    if constexpr (is_comparison(K)) return number(primitive(x, y), x);
    else return primitive(x, y);
  }
  static TT_ALWAYS_INLINE constexpr auto body(auto x, auto y, auto z) {
    if constexpr (K == Op::where) return tt::where(x < y, y, z);
    else if constexpr (K == Op::logical_and) return number(x < y && y < z, x);
    else if constexpr (K == Op::logical_or) return number(x < y || y < z, x);
    else if constexpr (K == Op::logical_not) return number(!(x < y), z);
    else return primitive(x, y, z);
  }
};

/// f(TypeList<F>) for every op, and for every primitive that takes numbers of type T.
template <class... F>
void for_each_op(tt::TypeList<F...>, const auto& f) {
  (f(tt::TypeList<F>{}), ...);
}
template <class T>
constexpr bool takes(Op k) {
  return has_operator(k) && (std::is_floating_point_v<T> ? !is_bitwise(k) : !is_real(k));
}
template <class T>
void for_each_primitive(const auto& f) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const auto one = [&]<Op P>(std::integral_constant<Op, P>) {
      if constexpr (takes<T>(P) && is_shift(P)) {
        f(tt::TypeList<Primitive<P, 1>>{});
        f(tt::TypeList<Primitive<P, 8 * sizeof(T) - 1>>{});
      } else if constexpr (takes<T>(P)) {
        f(tt::TypeList<Primitive<P>>{});
      }
    };
    (one(std::integral_constant<Op, static_cast<Op>(K)>{}), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(tt::op_count)>{});
}

/// A third any bit pattern, a third edges, a third ordinary numbers.
template <class T>
struct Samples {
  std::uint64_t state = 88172645463325252u;

  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
  }
  T operator()() {
    using L = std::numeric_limits<T>;
    const std::uint64_t r = next(), kind = next() % 3;
    if constexpr (std::is_same_v<T, bool>) {
      return r >> 60 & 1;
    } else if constexpr (std::is_integral_v<T>) {
      constexpr T edges[] = {0, 1, -1, 2, L::max(), L::min(), L::max() - 1, L::min() + 1};
      if (kind == 0) return edges[r >> 61];
      if (kind == 1) return static_cast<T>(static_cast<std::int64_t>(r >> 57) - 64);
      return static_cast<T>(r >> (64 - 8 * sizeof(T)));
    } else {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      constexpr T edges[] = {0, 1, L::infinity(), L::quiet_NaN(), L::denorm_min(), L::min(),
                             L::max(), L::min() / 3, T(0.5), T(1.5), T(2.5), T(1 << 22) + T(0.5),
                             T(2147483648.0), T(9223372036854775808.0), L::epsilon(), T(88.7)};
      if (kind == 0) return (r >> 59 & 1 ? T(-1) : T(1)) * edges[r >> 60];
      if (kind == 1) return static_cast<T>(static_cast<double>(r >> 11) * 0x1p-53 * 24 - 12);
      return std::bit_cast<T>(static_cast<Bits>(r >> (64 - 8 * sizeof(T))));
    }
  }
};

TT_KERNELS_BEGIN
template <class F, class T>
TT_NOINLINE auto scalar(T a, T b, T c, [[maybe_unused]] T d = T(1)) {
  const tt::Num<T> x = a, y = b, z = c, w = d;
  if constexpr (F::info.arity == 1) return tt::NumFront::run<F, T>(x).value;
  else if constexpr (F::info.arity == 2) return tt::NumFront::run<F, T>(x, y).value;
  else if constexpr (F::info.arity == 3) return tt::NumFront::run<F, T>(x, y, z).value;
  else return tt::NumFront::run<F, T>(x, y, z, w).value;
}
template <class To, class From>
TT_NOINLINE To scalar_cast(From x) { return tt::NumFront::cast<To>({}, tt::Num<From>(x)).value; }
TT_KERNELS_END

/// Equal bits; any NaN equals any other.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (a != a && b != b);
  } else {
    return a == b;
  }
}

template <class F, class A>
auto evaluate(const A& a, const A& b, const A& c) {
  constexpr tt::Elementwise<F> op{};
  if constexpr (F::info.arity == 1) return tt::eval(op(a));
  else if constexpr (F::info.arity == 2) return tt::eval(op(a, b));
  else return tt::eval(op(a, b, c));
}

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
inline constexpr std::int64_t sample_count = 1 << 16;
#else
inline constexpr std::int64_t sample_count = 1 << 12;
#endif

template <class T>
struct Operands {
  Array<T, dyn> a, b, c;
  explicit Operands(std::int64_t n) : a(n), b(n), c(n) {
    Samples<T> sample;
    for (std::int64_t i = 0; i < n; ++i) {
      a(i) = sample();
      b(i) = sample();
      c(i) = sample();
    }
  }
};

template <class F, class T>
void check_against_scalar() {
  const auto differences = [](const Operands<T>& o, std::int64_t& at) {
    const auto got = evaluate<F>(o.a, o.b, o.c);
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < o.a.size(); ++i)
      if (!same(got.data()[i], scalar<F, T>(o.a(i), o.b(i), o.c(i)))) {
        at = i;
        ++n;
      }
    return n;
  };
  CAPTURE(F::info.name);
  CAPTURE(tt::name(tt::dtype_of<T>));
  std::int64_t at = 0;
  const Operands<T> many(sample_count);
  const std::int64_t wrong = differences(many, at);
  CAPTURE(many.a(at));
  CAPTURE(many.b(at));
  CAPTURE(many.c(at));
  CHECK(wrong == 0);
  std::int64_t in_tails = 0;
  for (std::int64_t n = 1; n <= 40; ++n) in_tails += differences(Operands<T>(n), at);
  CHECK(in_tails == 0);
}

}  // namespace op_samples
