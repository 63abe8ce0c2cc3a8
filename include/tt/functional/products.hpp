// Products with a summand, and products of vectors along axes: ops over graphs, so a sum with its product is one program.
//   tt::addmm<0.5>(c, a, b)    tt::addmm(c, a, b, 0.5)    tt::inner(u, v)    tt::linalg::vecdot<1>(a, b)
// For Arrays, PyTorch's arguments are template arguments.
#pragma once
#include "tt/functional/contractions.hpp"
#include "tt/functional/distances.hpp"

namespace tt {

struct AddProductOptions {
  double beta = 1, alpha = 1;
};

namespace detail {

constexpr bool is_whole(double v) { return v > -0x1p63 && v < 0x1p63 && static_cast<double>(static_cast<std::int64_t>(v)) == v; }
/// x times a number: integers use its whole part, as in PyTorch; booleans only whether it is 0.
constexpr Sym times(const Sym& x, double factor, const char* op, const char* what) {
  if (factor == 1) return x;
  if (is_floating(x.dtype())) return x * factor;
  if (!need_option(x, factor > -0x1p63 && factor < 0x1p63, op, what, factor, "a number of 64 bits beside integers")) return x;
  return cast_to(x * (x.dtype() == DType::boolean ? factor != 0 : static_cast<std::int64_t>(factor)), x.dtype());
}
/// alpha times a product, which an alpha of 0 does not read: NaN in it does not count.
constexpr Sym scaled_product(const Sym& product, double alpha, const char* op) {
  if (product.graph->failure) return product;
  if (alpha != 0) return times(product, alpha, op, "alpha");
  return {product.graph, product.graph->constant(product.dtype(), 0, product.shape())};
}
/// beta times the first operand, broadcast to the product's shape, plus the product; with a beta of 0 the first one is not read.
constexpr Sym add_product(const Sym& input, const Sym& product, double beta, const char* op) {
  if (product.graph->failure) return product;
  const BroadcastResult both = try_broadcast(input.shape(), product.shape());
  if (!both.ok || both.shape != product.shape()) return {product.graph, product.graph->fail({.mistake = Mistake::shapes_do_not_broadcast, .op = op, .a = input.shape(), .b = product.shape()}, product.id)};
  const Sym wide = expanded(input, product.shape());
  return beta == 0 ? product : times(wide, beta, op, "beta") + product;
}
template <FixedText Name, int Left, int Right>
constexpr Sym ranked_product(const Sym& input, const Sym& a, const Sym& b) {
  return need_same_dtype(input, a, Name.text) ? RankedMatmulFn<Name, Left, Right>::record(a, b) : a;
}

}  // namespace detail

/// (M, K) x (K, N).
struct Addmm {
  using Options = AddProductOptions;
  static constexpr OpInfo info{.name = "addmm", .arguments = "input, mat1, mat2"};
  static constexpr Sym body(const Sym& input, const Sym& a, const Sym& b, const Options& o) { return detail::add_product(input, detail::scaled_product(detail::ranked_product<"addmm", 2, 2>(input, a, b), o.alpha, info.name), o.beta, info.name); }
};
/// (M, K) x (K).
struct Addmv {
  using Options = AddProductOptions;
  static constexpr OpInfo info{.name = "addmv", .arguments = "input, mat, vec"};
  static constexpr Sym body(const Sym& input, const Sym& a, const Sym& b, const Options& o) { return detail::add_product(input, detail::scaled_product(detail::ranked_product<"addmv", 2, 1>(input, a, b), o.alpha, info.name), o.beta, info.name); }
};
/// (M) x (N): the products of all pairs.
struct Addr {
  using Options = AddProductOptions;
  static constexpr OpInfo info{.name = "addr", .arguments = "input, vec1, vec2"};
  static constexpr Sym body(const Sym& input, const Sym& a, const Sym& b, const Options& o) {
    const DType d = promote(promote(input.dtype(), a.dtype()), b.dtype());
    if (!is_floating(d) && !detail::need_option(input, detail::is_whole(o.beta), info.name, "beta", o.beta, "a whole number beside integers")) return input;
    if (!is_floating(d) && !detail::need_option(input, detail::is_whole(o.alpha), info.name, "alpha", o.alpha, "a whole number beside integers")) return input;
    const Sym product = detail::OuterFn<"addr">::record(detail::cast_to(a, d), detail::cast_to(b, d));
    return detail::add_product(detail::cast_to(input, d), product.graph->failure ? product : detail::times(product, o.alpha, info.name, "alpha"), o.beta, info.name);
  }
};
/// (B, M, K) x (B, K, N), one product for each b.
struct Baddbmm {
  using Options = AddProductOptions;
  static constexpr OpInfo info{.name = "baddbmm", .arguments = "input, batch1, batch2"};
  static constexpr Sym body(const Sym& input, const Sym& a, const Sym& b, const Options& o) { return detail::add_product(input, detail::scaled_product(detail::ranked_product<"baddbmm", 3, 3>(input, a, b), o.alpha, info.name), o.beta, info.name); }
};
/// The same, summed over the batch.
struct Addbmm {
  using Options = AddProductOptions;
  static constexpr OpInfo info{.name = "addbmm", .arguments = "input, batch1, batch2"};
  static constexpr Sym body(const Sym& input, const Sym& a, const Sym& b, const Options& o) {
    const Sym p = detail::ranked_product<"addbmm", 3, 3>(input, a, b);
    return p.graph->failure ? p : detail::add_product(input, detail::scaled_product(detail::cast_to(detail::reduce<Op::sum>(p, 1, false), p.dtype()), o.alpha, info.name), o.beta, info.name);
  }
};
/// Sums of products along the last axes of both.
struct Inner {
  static constexpr OpInfo info{.name = "inner", .arguments = "input, other"};
  static constexpr Sym body(const Sym& a, const Sym& b) {
    if (!detail::need_same_dtype(a, b, info.name)) return a;
    if (a.shape().rank == 0 || b.shape().rank == 0) return a * b;
    return detail::TensordotFn<1>::record(a, detail::moved(b, b.shape().rank - 1, 0));
  }
};
/// Sums of products along one axis.
struct Vecdot {
  struct Options {
    int dim = -1;
  };
  static constexpr OpInfo info{.name = "linalg_vecdot", .arguments = "x, y"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Options& o) {
    if (!detail::need_same_dtype(a, b, info.name)) return a;
    const Sym p = detail::need_real(a * b, info.name);
    return detail::reduce<Op::sum>(p, detail::axis_bits(p, o.dim, info.name), false);
  }
};

/// beta input + alpha (mat1 mat2), of (M, K) and (K, N).
template <double Beta = 1.0, double Alpha = 1.0, class I, class A, class B>
  requires detail::CompiledValues<I, A, B>
constexpr CalledStructured<Structured<Addmm, AddProductOptions{Beta, Alpha}>, I, A, B> addmm(I&& input, A&& a, B&& b, CallLine at = here()) {
  return call_structured<Addmm, AddProductOptions{Beta, Alpha}>(at, static_cast<I&&>(input), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// beta input + alpha (mat vec), of (M, K) and (K).
template <double Beta = 1.0, double Alpha = 1.0, class I, class A, class B>
  requires detail::CompiledValues<I, A, B>
constexpr CalledStructured<Structured<Addmv, AddProductOptions{Beta, Alpha}>, I, A, B> addmv(I&& input, A&& a, B&& b, CallLine at = here()) {
  return call_structured<Addmv, AddProductOptions{Beta, Alpha}>(at, static_cast<I&&>(input), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// beta input + alpha times the products of all pairs of elements of two vectors: (M) and (N) give (M, N).
template <double Beta = 1.0, double Alpha = 1.0, class I, class A, class B>
  requires detail::CompiledValues<I, A, B>
constexpr CalledStructured<Structured<Addr, AddProductOptions{Beta, Alpha}>, I, A, B> addr(I&& input, A&& a, B&& b, CallLine at = here()) {
  return call_structured<Addr, AddProductOptions{Beta, Alpha}>(at, static_cast<I&&>(input), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// beta input + alpha (batch1 batch2), a product for each matrix: (B, M, K) and (B, K, N).
template <double Beta = 1.0, double Alpha = 1.0, class I, class A, class B>
  requires detail::CompiledValues<I, A, B>
constexpr CalledStructured<Structured<Baddbmm, AddProductOptions{Beta, Alpha}>, I, A, B> baddbmm(I&& input, A&& a, B&& b, CallLine at = here()) {
  return call_structured<Baddbmm, AddProductOptions{Beta, Alpha}>(at, static_cast<I&&>(input), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// beta input + alpha times the sum of such products over the batch: (M, N).
template <double Beta = 1.0, double Alpha = 1.0, class I, class A, class B>
  requires detail::CompiledValues<I, A, B>
constexpr CalledStructured<Structured<Addbmm, AddProductOptions{Beta, Alpha}>, I, A, B> addbmm(I&& input, A&& a, B&& b, CallLine at = here()) {
  return call_structured<Addbmm, AddProductOptions{Beta, Alpha}>(at, static_cast<I&&>(input), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// Sums of products along the last axes of both.
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr CalledStructured<WithDefaults<Inner>, A, B> inner(A&& a, B&& b, CallLine at = here()) { return call_structured<Inner>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// (K) x (K).
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto vdot(A&& a, B&& b, CallLine at = here()) { return detail::call_front<detail::RankedMatmulFn<"vdot", 1, 1>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
namespace linalg {
/// Sums of products along one axis.
template <int Dim = -1, class A, class B>
  requires detail::CompiledValues<A, B>
constexpr CalledStructured<Structured<Vecdot, Vecdot::Options{Dim}>, A, B> vecdot(A&& a, B&& b, CallLine at = here()) { return call_structured<Vecdot, Vecdot::Options{Dim}>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
}  // namespace linalg

}  // namespace tt
