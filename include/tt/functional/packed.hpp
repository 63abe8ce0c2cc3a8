// Integers of 4 bits, two in a byte, for storage only, as for weights of quantised networks. Ops over graphs, so
// packing and unpacking fuse with the ops around them, on every path: matmul(x, unpack_int4(q).to(f32) * scale).
//   q = tt::pack_int4(x);      // (..., 2n) integers, of which the low four bits are kept: (..., n) of u8, the even ones in the low halves
//   tt::unpack_int4(q)         // i8, -8 to 7       tt::unpack_uint4(q)    // u8, 0 to 15
#pragma once
#include "tt/functional/checks.hpp"
#include "tt/functional/structured.hpp"

namespace tt {

struct PackInt4 {
  static constexpr OpInfo info{.name = "pack_int4", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& x) {
    if (!detail::need_rank(x, 1, max_rank - 1, info.name) || !detail::need_integers(x, info.name)) return x;
    const int last = x.shape().rank - 1;
    const Extent size = x.shape()[last];
    Extent half;
    if (!divide(size, Extent(2), half)) {
      x.graph->need_number(size);
      if (!size.is_constant()) return {x.graph, x.graph->fail({.mistake = Mistake::extents_are_not_constant, .op = info.name, .a = x.shape()}, x.id)};
      (void)detail::need_option(x, false, info.name, "the last size", static_cast<double>(size.code), "even");
      return x;
    }
    const Sym bits = cast<std::int32_t>(x), low = detail::slice(bits, last, 0, half, 2), high = detail::slice(bits, last, 1, half, 2);
    return cast<std::uint8_t>((low & 15) | ((high & 15) << 4));
  }
};

template <bool Signed>
struct UnpackInt4 {
  static constexpr OpInfo info{.name = Signed ? "unpack_int4" : "unpack_uint4", .widens = false, .arguments = "input"};
  static constexpr Sym body(const Sym& packed) {
    if (!detail::need_rank(packed, 1, max_rank - 1, info.name)) return packed;
    if (packed.dtype() != DType::u8) return {packed.graph, packed.graph->fail({.mistake = Mistake::dtype_not_accepted, .op = info.name, .dtype = packed.dtype()}, packed.id)};
    const Shape s = packed.shape();
    const Sym bits = cast<std::int32_t>(packed);
    const auto numbers = [&](const Sym& half) {
      const Sym n = Signed ? (half ^ 8) - 8 : half;
      return detail::reshaped(Signed ? cast<std::int8_t>(n) : cast<std::uint8_t>(n), detail::with_new_axis(s, s.rank)).id;
    };
    const int parts[] = {numbers(bits & 15), numbers(bits >> 4)};
    Shape to = s;
    to.set(s.rank - 1, s.last() * Extent(2));
    return detail::reshaped({packed.graph, packed.graph->cat(parts, 2, s.rank)}, to);
  }
};

/// Packs pairs of integers along the last axis into bytes, the low four bits of each: (..., 2n) to (..., n) of u8. Throws Error where the last size is odd.
template <Value A>
constexpr CalledStructured<WithDefaults<PackInt4>, A> pack_int4(A&& x) { return call_structured<PackInt4>({}, static_cast<A&&>(x)); }
/// The integers in bytes that pack_int4 made, as i8 from -8 to 7: (..., n) to (..., 2n).
template <Value A>
constexpr CalledStructured<WithDefaults<UnpackInt4<true>>, A> unpack_int4(A&& packed) { return call_structured<UnpackInt4<true>>({}, static_cast<A&&>(packed)); }
/// The same as u8, from 0 to 15.
template <Value A>
constexpr CalledStructured<WithDefaults<UnpackInt4<false>>, A> unpack_uint4(A&& packed) { return call_structured<UnpackInt4<false>>({}, static_cast<A&&>(packed)); }

}  // namespace tt
