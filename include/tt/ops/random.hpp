// Random numbers without state: 64 random bits from a counter, the same on every path and for every number of threads.
// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011); of its four words the first
// two are used.
#pragma once
#include "tt/ops/primitive.hpp"

namespace tt {

namespace detail {

/// The product of the lower halves of two i64, as 64 bits.
template <class N>
TT_ALWAYS_INLINE constexpr N product_of_halves(N a, std::int64_t b) {
  if constexpr (requires(typename N::Raw r) { Carrier<typename N::Raw>::product_of_halves(r, r); })
    return N(Carrier<typename N::Raw>::product_of_halves(a.value, Carrier<typename N::Raw>::splat(b)));
  else return (a & 0xffffffffLL) * b;
}

}  // namespace detail

/// 64 random bits, as an i64, for a counter and a key (integers of any dtype, taken as i64; the upper half of the key
/// counts): the first word in the upper half, the second in the lower.
struct Philox {
  static constexpr OpInfo info{
      .name = "philox", .domain = Domain::integer, .arity = 2, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto counter, auto key) {
    static_assert(std::is_same_v<T, std::int64_t>, "tt: philox takes i64. Cast it first?");
    // Only the lower half of each word counts; the upper half is arbitrary.
    auto c0 = counter, c1 = shift_right_logical(counter, 32);
    auto c2 = counter & 0LL, c3 = c2;
    auto k0 = key, k1 = shift_right_logical(key, 32);
    for (int round = 0; round < 10; ++round) {
      const auto p0 = detail::product_of_halves(c0, 0xD2511F53LL), p1 = detail::product_of_halves(c2, 0xCD9E8D57LL);
      c0 = shift_right_logical(p1, 32) ^ c1 ^ k0;
      c1 = p1;
      c2 = shift_right_logical(p0, 32) ^ c3 ^ k1;
      c3 = p0;
      k0 = k0 + 0x9E3779B9LL;
      k1 = k1 + 0xBB67AE85LL;
    }
    return (c0 << 32) | (c1 & 0xffffffffLL);
  }
};
/// The random bits of counter and key: see Philox.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr Called<Philox, A, B> philox(A&& counter, B&& key, SourceLine at = here()) {
  return call<Philox>(at, static_cast<A&&>(counter), static_cast<B&&>(key));
}

}  // namespace tt
