// Products whose form is in their types: einsum with letters that are known when the program is compiled, and those that linear algebra names.
//   tt::einsum<"bij,bjk->bik">(a, b)    tt::tensordot<1>(a, b)    tt::mm(a, b)    tt::outer(u, v)
// Of Tensors they are the functions of that name.
#pragma once
#include "tt/functional/matmul.hpp"
#include "tt/functional/view_ops.hpp"

namespace tt {

namespace detail {

/// The letters of a value's axes, in their order.
struct Letters {
  char letter[2 * max_rank] = {};
  int count = 0;
  constexpr int place(char c) const {
    for (int k = 0; k < count; ++k)
      if (letter[k] == c) return k;
    return -1;
  }
  constexpr bool has(char c) const { return place(c) >= 0; }
  constexpr void add(char c) { letter[count++] = c; }
};
/// The text of einsum, read: "ij,jk->ik". Without an arrow the result has the letters that are there once, in the alphabet's order.
struct Equation {
  static constexpr int most = 8;
  Letters operand[most], result;
  int operands = 1;
  enum class Wrong : std::uint8_t { none, text, too_many, unknown_letter, letter_twice } wrong = Wrong::none;

  constexpr explicit Equation(const char* text) {
    bool in_result = false;
    for (const char* p = text; *p && wrong == Wrong::none; ++p) {
      Letters& now = in_result ? result : operand[operands - 1];
      if (*p == ' ') continue;
      if (*p == ',' && !in_result) operands < most ? void(++operands) : void(wrong = Wrong::too_many);
      else if (*p == '-' && p[1] == '>' && !in_result) ++p, in_result = true;
      else if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')) now.count < max_rank ? now.add(*p) : void(wrong = Wrong::too_many);
      else wrong = Wrong::text;
    }
    if (!in_result)
      for (int c = 'A'; c <= 'z'; ++c)
        if (times(static_cast<char>(c)) == 1) result.add(static_cast<char>(c));
    for (int k = 0; k < result.count && wrong == Wrong::none; ++k)
      if (times(result.letter[k]) == 0) wrong = Wrong::unknown_letter;
      else if (result.place(result.letter[k]) != k) wrong = Wrong::letter_twice;
  }
  constexpr int times(char c) const {
    int n = 0;
    for (int k = 0; k < operands; ++k)
      for (int j = 0; j < operand[k].count; ++j) n += operand[k].letter[j] == c;
    return n;
  }
};

/// A value and the letters of its axes.
struct Lettered {
  Sym x;
  Letters letters;

  constexpr Extent extent(char c) const { return letters.has(c) ? x.shape()[letters.place(c)] : Extent(1); }
  /// Axes in the order of `order`, of which those that it lacks have extent 1. It has all of its own.
  constexpr Sym along(const Letters& order) const {
    int axes[max_rank] = {}, n = 0;
    Shape to;
    for (int k = 0; k < order.count; ++k) {
      if (letters.has(order.letter[k])) axes[n++] = letters.place(order.letter[k]);
      to.push_back(extent(order.letter[k]));
    }
    return reshaped({x.graph, x.graph->permute(x.id, axes)}, to);
  }
  /// Sums along axes whose letters `kept` has not; of a letter that is there twice the diagonal.
  template <class Kept>
  constexpr Lettered summed(const Kept& kept) const {
    Lettered r = *this;
    for (int k = 0; k < r.letters.count; ++k)
      for (int j = r.letters.count - 1; j > k; --j) {
        if (r.letters.letter[k] != r.letters.letter[j]) continue;
        r = r.diagonal_of(k, j);
        k = -1;
        break;
      }
    unsigned gone = 0;
    Letters rest;
    for (int k = 0; k < r.letters.count; ++k)
      if (kept(r.letters.letter[k])) rest.add(r.letters.letter[k]);
      else gone |= 1u << k;
    return gone == 0 ? r : Lettered{reduce<Op::sum>(r.x, gone, false), rest};
  }

 private:
  /// Two axes with one letter as the last one.
  constexpr Lettered diagonal_of(int a, int b) const {
    const Shape s = x.shape();
    const auto differ = [&] { return Failure{.mistake = Mistake::shapes_differ, .op = "einsum", .a = {s[a]}, .b = {s[b]}}; };
    if (!s[a].is_constant() || !s[b].is_constant()) return {needs_constant(x, "einsum", s[a].is_constant() ? b : a), {}};
    if (s[a] != s[b]) return {{x.graph, x.graph->fail(differ(), x.id)}, {}};
    Lettered r{detail::diagonal(x, a, b, 0), {}};
    for (int k = 0; k < letters.count; ++k)
      if (k != a && k != b) r.letters.add(letters.letter[k]);
    r.letters.add(letters.letter[a]);
    return r;
  }
};

/// The product of two values, summed along letters that `kept` has not: one of matrices where both have letters of their own, sums of products else.
template <class Kept>
constexpr Lettered contracted(const Lettered& a, const Lettered& b, const char* op, const Kept& kept) {
  Letters batch, left, right, inner;
  for (int k = 0; k < a.letters.count; ++k) {
    const char c = a.letters.letter[k];
    (!b.letters.has(c) ? left : kept(c) ? batch : inner).add(c);
  }
  for (int k = 0; k < b.letters.count; ++k)
    if (!a.letters.has(b.letters.letter[k])) right.add(b.letters.letter[k]);
  const auto joined = [](std::initializer_list<const Letters*> parts) {
    Letters all;
    for (const Letters* p : parts)
      for (int k = 0; k < p->count; ++k) all.add(p->letter[k]);
    return all;
  };
  const auto extents = [&](const Lettered& of, std::initializer_list<const Letters*> parts, Shape& to) {
    Extent n(1);
    for (const Letters* p : parts)
      for (int k = 0; k < p->count; ++k) n = n * of.extent(p->letter[k]);
    to.push_back(n);
  };
  bool repeated = false;  // an extent of 1 beside another: no matrix
  const auto differ = [&] { return Failure{.mistake = Mistake::shapes_differ, .op = op, .a = a.x.shape(), .b = b.x.shape()}; };
  for (const Letters* shared : {&batch, &inner})
    for (int k = 0; k < shared->count; ++k) {
      const Extent m = a.extent(shared->letter[k]), n = b.extent(shared->letter[k]);
      if (m == n) continue;
      if (m == Extent(1) || n == Extent(1)) repeated = true;
      else if (!a.x.graph->equal(m, n, differ)) return {{a.x.graph, a.x.graph->fail(differ(), a.x.id)}, {}};
    }
  const Letters all = joined({&batch, &left, &right});
  if (left.count == 0 || right.count == 0 || inner.count == 0 || repeated) {
    const Letters wide = joined({&batch, &left, &right, &inner});
    const Sym product = a.along(wide) * b.along(wide);
    unsigned gone = 0;
    for (int k = all.count; k < wide.count; ++k) gone |= 1u << k;
    if (gone == 0) return {product, all};
    const Sym sum = reduce<Op::sum>(product, gone, false);  // of integers wider than a product of matrices is
    return {sum.dtype() == product.dtype() ? sum : Sym{sum.graph, sum.graph->cast(sum.id, product.dtype())}, all};
  }
  Shape rows, columns, to;
  for (Shape* s : {&rows, &columns})
    if (batch.count > 0) extents(a, {&batch}, *s);
  extents(a, {&left}, rows), extents(a, {&inner}, rows);
  extents(a, {&inner}, columns), extents(b, {&right}, columns);
  for (int k = 0; k < all.count; ++k) to.push_back(a.letters.has(all.letter[k]) ? a.extent(all.letter[k]) : b.extent(all.letter[k]));
  const Sym x = reshaped(a.along(joined({&batch, &left, &inner})), rows), y = reshaped(b.along(joined({&batch, &inner, &right})), columns);
  return {reshaped(Matmul::body(x, y), to), all};
}

template <FixedText T>
struct EinsumFn {
  static constexpr const char* name = "einsum";
  static constexpr Equation equation{T.text};
  template <class... S>
  static constexpr Sym record(const S&... operand) {
    const Sym given[] = {operand...};
    if (sizeof...(S) != equation.operands) return given[0];  // einsum() says so
    for (int k = 0; k < equation.operands; ++k)
      if (given[k].shape().rank != equation.operand[k].count)
        return {given[k].graph, given[k].graph->fail({.mistake = Mistake::rank_not_accepted, .op = name, .a = given[k].shape(), .number = equation.operand[k].count}, given[k].id)};
    const auto kept = [](int after) {  // by the result, or an operand that comes yet
      return [after](char c) {
        bool later = equation.result.has(c);
        for (int k = after; k < equation.operands; ++k) later = later || equation.operand[k].has(c);
        return later;
      };
    };
    const auto alone = [&](int k) {  // without axes that nothing else has
      return Lettered{given[k], equation.operand[k]}.summed([k](char c) {
        bool elsewhere = equation.result.has(c);
        for (int j = 0; j < equation.operands; ++j) elsewhere = elsewhere || (j != k && equation.operand[j].has(c));
        return elsewhere;
      });
    };
    Lettered r = alone(0);
    for (int k = 1; k < equation.operands && !given[0].graph->failure; ++k) r = contracted(r, alone(k), name, kept(k + 1));
    return given[0].graph->failure ? given[0] : r.along(equation.result);
  }
  template <class A, class... More>
  static A call(SourceLine at, const A& a, const More&... more) { return einsum(T.text, {a, more...}, at); }
};
template <int Axes>
struct TensordotFn {
  static constexpr const char* name = "tensordot";
  static constexpr Sym record(const Sym& a, const Sym& b) {
    const int left = a.shape().rank - Axes, right = b.shape().rank - Axes;
    if (left < 0 || right < 0)
      return {a.graph, a.graph->fail({.mistake = Mistake::rank_too_low, .op = name, .a = left < 0 ? a.shape() : b.shape(), .number = Axes}, a.id)};
    Lettered x{a, {}}, y{b, {}};
    for (int k = 0; k < a.shape().rank; ++k) x.letters.add(static_cast<char>(1 + k));
    for (int k = 0; k < b.shape().rank; ++k) y.letters.add(static_cast<char>(k < Axes ? 1 + left + k : 1 + max_rank + k));
    return contracted(x, y, name, [left](char c) { return c <= left || c > max_rank; }).x;
  }
  static auto call(SourceLine at, const auto& a, const auto& b) { return tensordot(a, b, Axes, at); }
};
/// matmul of so many axes on each side, and no other.
template <FixedText Name, int Left, int Right>
struct RankedMatmulFn {
  static constexpr const char* name = Name.text;
  static constexpr Sym record(const Sym& a, const Sym& b) { return need_rank(a, Left, Left, name) && need_rank(b, Right, Right, name) ? Matmul::body(a, b) : a; }
};
template <FixedText Name = "outer">
struct OuterFn {
  static constexpr const char* name = Name.text;
  static constexpr Sym record(const Sym& a, const Sym& b) { return need_rank(a, 1, 1, name) && need_rank(b, 1, 1, name) ? unsqueeze(a, 1, name) * unsqueeze(b, 0, name) : a; }
};

/// Is the text of an einsum of so many operands right? If not, one error.
template <FixedText T, int Operands>
constexpr bool reads_right() {
  constexpr Equation e(T.text);
  static_assert(e.wrong != Equation::Wrong::text, "tt: einsum: the text has letters, commas and one arrow (an ellipsis is for Tensors)");
  static_assert(e.wrong != Equation::Wrong::too_many, "tt: einsum: the text has more operands or letters than are allowed: 8, and 16 for each");
  static_assert(e.wrong != Equation::Wrong::unknown_letter, "tt: einsum: the result has a letter that no operand has");
  static_assert(e.wrong != Equation::Wrong::letter_twice, "tt: einsum: the result has a letter twice");
  static_assert(e.wrong != Equation::Wrong::none || e.operands == Operands, "tt: einsum: the text has another number of operands");
  return e.wrong == Equation::Wrong::none && e.operands == Operands;
}
template <FixedText T, class A, class... More>
constexpr auto einsum_of(SourceLine at, A&& a, More&&... more) {
  if constexpr (reads_right<T, 1 + static_cast<int>(sizeof...(More))>()) return call_front<EinsumFn<T>>(at, static_cast<A&&>(a), static_cast<More&&>(more)...);
  else return std::remove_cvref_t<A>(a);
}

}  // namespace detail

/// Sums of products, as the text says: each axis has a letter, those that the result lacks are summed. From left to right, two values at a time.
template <FixedText T, Value A>
constexpr auto einsum(A&& a, CallLine at = here()) { return detail::einsum_of<T>(at, static_cast<A&&>(a)); }
template <FixedText T, Value A, Value B>
constexpr auto einsum(A&& a, B&& b, CallLine at = here()) { return detail::einsum_of<T>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
template <FixedText T, Value A, Value B, Value C>
constexpr auto einsum(A&& a, B&& b, C&& c, CallLine at = here()) { return detail::einsum_of<T>(at, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c)); }
template <FixedText T, Value A, Value B, Value C, Value D, Value... More>
constexpr auto einsum(A&& a, B&& b, C&& c, D&& d, More&&... more) {
  return detail::einsum_of<T>(SourceLine{}, static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c), static_cast<D&&>(d), static_cast<More&&>(more)...);
}
/// Sums along the last Axes axes of a and the first ones of b.
template <int Axes, Value A, Value B>
constexpr auto tensordot(A&& a, B&& b, CallLine at = here()) {
  static_assert(Axes >= 0, "tt: tensordot: the number of axes is not negative");
  return detail::call_front<detail::TensordotFn<Axes>>(at, static_cast<A&&>(a), static_cast<B&&>(b));
}

/// (M, K) x (K, N).
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto mm(A&& a, B&& b, CallLine at = here()) { return detail::call_front<detail::RankedMatmulFn<"mm", 2, 2>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// (B, M, K) x (B, K, N).
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto bmm(A&& a, B&& b, CallLine at = here()) { return detail::call_front<detail::RankedMatmulFn<"bmm", 3, 3>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// (M, K) x (K).
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto mv(A&& a, B&& b, CallLine at = here()) { return detail::call_front<detail::RankedMatmulFn<"mv", 2, 1>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// (K) x (K).
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto dot(A&& a, B&& b, CallLine at = here()) { return detail::call_front<detail::RankedMatmulFn<"dot", 1, 1>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }
/// (M) x (N): each by each.
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto outer(A&& a, B&& b, CallLine at = here()) { return detail::call_front<detail::OuterFn<>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

}  // namespace tt
