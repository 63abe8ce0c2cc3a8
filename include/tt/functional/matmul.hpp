// The product of matrices.
//   tt::matmul(a, b)
#pragma once
#include "tt/functional/structured.hpp"

namespace tt {

struct Matmul {
  static constexpr OpInfo info{.name = "matmul", .widens = false, .arguments = "input, other"};
  static constexpr Sym body(const Sym& a, const Sym& b) {
    detail::enlist_kernels<Op::matmul>();
    return {a.graph, a.graph->matmul(a.id, b.id)};
  }
};
/// Matrix product (..., M, K) x (..., K, N); vectors as in NumPy. Sums in the order k = 0, 1, ...; with a vector b it is the sums along
/// the rows of a * b. matmul(transpose(a), v) reads `a` without a copy; matmul(v, a), in the order of products, is a little faster.
template <Value A, Value B>
constexpr CalledStructured<WithDefaults<Matmul>, A, B> matmul(A&& a, B&& b, SourceLine at = here()) {
  return call_structured<Matmul>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

}  // namespace tt
