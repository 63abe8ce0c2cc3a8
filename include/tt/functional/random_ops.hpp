// Random numbers as functions of a seed and an index: Philox of a counter, with the same bits in every executor.
//   tt::rand_like(x, 7)    tt::randn_like(x, seed)
#pragma once
#include "tt/functional/structured.hpp"

namespace tt {
namespace detail {

/// The counter of each element: its index in row-major order.
constexpr Sym flat_index(const Sym& like) {
  Sym index{like.graph, like.graph->constant(DType::i64, 0)};
  Sym stride{like.graph, like.graph->constant(DType::i64, 1)};
  for (int k = like.shape().rank - 1; k >= 0; --k) {
    const Extent n = like.shape()[k];
    if (n == Extent(1)) continue;
    Shape row;
    for (int j = 0; j < like.shape().rank; ++j) row.push_back(j == k ? n : Extent(1));
    const Sym along{like.graph, like.graph->iota(DType::i64, row, k)};
    index = index + along * stride;
    stride = stride * Sym{like.graph, like.graph->extent(DType::i64, n)};
  }
  return {like.graph, like.graph->broadcast_to(index.id, like.shape())};
}
/// Numbers in [0, 1) from the upper bits of 64, as many as the dtype has significant bits.
constexpr Sym unit_interval(const Sym& bits, DType d) {
  const int digits = d == DType::f64 ? 53 : d == DType::f32 ? 24 : d == DType::f16 ? 11 : 8;
  const Sym whole = shift_right_logical(bits, 64 - digits);
  return Sym{bits.graph, bits.graph->cast(whole.id, d)} * (1.0 / static_cast<double>(std::int64_t{1} << digits));
}
/// The seed of random numbers; fails if it is not an integer.
constexpr Sym as_seed(const Sym& seed, const char* op) {
  if (!is_floating(seed.dtype())) return seed;
  seed.graph->fail({.mistake = Mistake::dtype_not_accepted, .op = op, .dtype = seed.dtype()});
  return {seed.graph, seed.graph->constant(DType::i64, 0)};
}

}  // namespace detail

struct RandLike {
  static constexpr OpInfo info{.name = "rand_like", .widens = false, .arguments = "input, seed"};
  static constexpr Sym body(const auto& like, const auto& given) {
    const auto seed = detail::as_seed(given, info.name);
    const DType d = is_floating(like.dtype()) ? like.dtype() : DType::f32;
    return detail::unit_interval(tt::philox(detail::flat_index(like), seed), d);
  }
};
struct RandnLike {
  static constexpr OpInfo info{.name = "randn_like", .arguments = "input, seed"};
  static constexpr Sym body(const auto& like, const auto& given) {
    const auto seed = detail::as_seed(given, info.name);
    const DType d = is_floating(like.dtype()) ? like.dtype() : DType::f32;
    const auto i = detail::flat_index(like);
    const auto bits = d == DType::f64 ? tt::philox(i * 2, seed) : tt::philox(i, seed);
    const auto u = 1 - detail::unit_interval(bits, d);  // (0, 1]
    const auto v = detail::unit_interval(d == DType::f64 ? tt::philox(i * 2 + 1, seed) : (bits << 32), d);
    return tt::sqrt(-2 * tt::log(u)) * tt::cos(6.283185307179586 * v);  // Box and Muller
  }
};

/// Whole numbers from `low` on, in the shape of `input`: `range` different ones, where `range` is unsigned. Up to 2^53 of them
/// are computed from the numbers in [0, 1) that rand_like gives for the seed in f64; more of them are the remainder of 64 bits.
struct RandintLike {
  struct Options {
    std::int64_t low = 0, range = 1;
  };
  static constexpr OpInfo info{.name = "_randint_like", .widens = false, .arguments = "input, seed"};
  static constexpr Sym body(const auto& like, const auto& given, const Options& o) {
    Graph& g = *like.graph;
    const auto number = [&](std::int64_t n) { return Sym{&g, g.constant_bits(DType::i64, static_cast<std::uint64_t>(n))}; };
    const Sym bits = tt::philox(detail::flat_index(like), detail::as_seed(given, info.name)), range = number(o.range);
    const auto drawn = [&] {
      if (o.range >= 0 && o.range <= std::int64_t{1} << 53)
        return Sym{&g, g.cast(tt::floor(detail::unit_interval(bits, DType::f64) * static_cast<double>(o.range)).id, DType::i64)};
      if (o.range < 0) return tt::where(bits < number(0) && bits >= range, bits - range, bits);  // 2^63 or more
      const Sym rest = bits - tt::floor_divide(shift_right_logical(bits, 1), range) * number(2) * range;  // less than twice the range
      return tt::where(rest < number(0) || rest >= range, rest - range, rest);
    };
    return drawn() + number(o.low);
  }
};

/// Uniform random numbers in [0, 1) in the shape of `like`: element i for `seed` (an integer) is always the same. Use
/// another seed for other numbers.
template <Value A, class S>
  requires Operand<S>
constexpr CalledStructured<WithDefaults<RandLike>, A, S> rand_like(A&& like, S&& seed, SourceLine at = here()) {
  return call_structured<RandLike>(at, static_cast<A&&>(like), static_cast<S&&>(seed));
}
/// Normal random numbers (mean 0, variance 1) in the shape of `like`; see rand_like.
template <Value A, class S>
  requires Operand<S>
constexpr CalledStructured<WithDefaults<RandnLike>, A, S> randn_like(A&& like, S&& seed, SourceLine at = here()) {
  return call_structured<RandnLike>(at, static_cast<A&&>(like), static_cast<S&&>(seed));
}

}  // namespace tt
