// Random numbers without state: a counter in, 32 random bits out, the same on every path and for
// every number of threads. Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011); of its four words the first is used.
#pragma once
#include "tt/ops/primitive.hpp"

namespace tt {

/// 32 random bits, as an i64, for a counter and a key (integers of any dtype, taken as i64; the
/// key's upper half counts).
struct Philox {
  static constexpr OpInfo info{
      .name = "philox", .domain = Domain::integer, .arity = 2, .opaque = true};

  template <class T>
  static TT_ALWAYS_INLINE constexpr auto body(auto counter, auto key) {
    static_assert(std::is_same_v<T, std::int64_t>, "tt: philox takes i64. Cast it first?");
    const auto low = [](auto x) TT_LAMBDA_INLINE { return x & 0xffffffffLL; };
    auto c0 = low(counter), c1 = shift_right_logical(counter, 32);
    auto c2 = counter & 0LL, c3 = c2;
    auto k0 = low(key), k1 = shift_right_logical(key, 32);
    for (int round = 0; round < 10; ++round) {
      const auto p0 = c0 * 0xD2511F53LL, p1 = c2 * 0xCD9E8D57LL;
      c0 = shift_right_logical(p1, 32) ^ c1 ^ k0;
      c1 = low(p1);
      c2 = shift_right_logical(p0, 32) ^ c3 ^ k1;
      c3 = low(p0);
      k0 = low(k0 + 0x9E3779B9LL);
      k1 = low(k1 + 0xBB67AE85LL);
    }
    return c0;
  }
};
/// The random bits of counter and key: see Philox.
template <class A, class B>
  requires Operands<A, B>
TT_ALWAYS_INLINE constexpr auto philox(A&& counter, B&& key, SourceLine at = here()) {
  return call<Philox>(at, static_cast<A&&>(counter), static_cast<B&&>(key));
}

}  // namespace tt
