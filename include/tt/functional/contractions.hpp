// Products whose form is in their types: einsum with letters that are known when the program is compiled, and the named products of linear algebra.
//   tt::einsum<"bij,bjk->bik">(a, b)    tt::tensordot<1>(a, b)    tt::mm(a, b)    tt::outer(u, v)
// For Tensors they are the functions of the same name.
#pragma once
#include <initializer_list>
#include <string_view>
#include <utility>

#include "tt/functional/matmul.hpp"
#include "tt/functional/view_ops.hpp"

namespace tt {

namespace detail {

/// The letters of a value's axes, in their order.
struct Letters {
  char letter[3 * max_rank] = {};
  int count = 0;
  constexpr int place(char c) const {
    for (int k = 0; k < count; ++k)
      if (letter[k] == c) return k;
    return -1;
  }
  constexpr bool has(char c) const { return place(c) >= 0; }
  constexpr void add(char c) { letter[count++] = c; }
  constexpr Letters() = default;
  constexpr explicit Letters(const Axes& codes) {
    for (int k = 0; k < codes.count; ++k) add(static_cast<char>(codes.item[k]));
  }
};
/// Mistakes in the text of an einsum.
enum class EquationFault : std::uint8_t { none, not_a_letter, dots, too_many, rank, unknown_letter, letter_twice };
/// The text of einsum, parsed for operands of these ranks: "...ij,jk->...ik". Axes of an ellipsis are numbers below all letters, 1
/// for the last one. Without an arrow the result has these axes, then the letters that occur once, in alphabetical order.
struct Equation {
  Vec<Letters> operand;
  Letters result;
  EquationFault fault = EquationFault::none;
  int at = 0;  ///< position of the fault: the number of an operand; for not_a_letter, unknown_letter and letter_twice the character

  /// For an operand whose rank is not given, an ellipsis has no axes.
  constexpr explicit Equation(std::string_view text, std::initializer_list<int> ranks = {}) : Equation(text, ranks.begin(), static_cast<int>(ranks.size())) {}
  constexpr Equation(std::string_view text, const int* rank, int ranks) {
    const std::size_t arrow = text.find("->");
    std::string_view left = text.substr(0, arrow);
    int widest = 0;
    for (bool more = true; more;) {
      const std::size_t comma = left.find(',');
      const int k = operand.size();
      operand.push_back(term(left.substr(0, comma), k < ranks ? rank[k] : -1, 0, k));
      for (int j = 0; j < operand[k].count; ++j)
        if (const int n = operand[k].letter[j]; n <= max_rank && n > widest) widest = n;
      more = comma != std::string_view::npos;
      if (more) left = left.substr(comma + 1);
    }
    if (arrow != std::string_view::npos) {
      result = term(text.substr(arrow + 2), -1, widest, operand.size());
    } else {
      for (int k = widest; k > 0; --k) result.add(static_cast<char>(k));
      for (int c = 'A'; c <= 'z'; ++c) {
        if (times(static_cast<char>(c)) != 1) continue;
        if (result.count == max_rank) found(EquationFault::too_many, 0);
        else result.add(static_cast<char>(c));
      }
    }
    for (int k = 0; k < result.count; ++k)
      if (times(result.letter[k]) == 0) found(EquationFault::unknown_letter, result.letter[k]);
      else if (result.place(result.letter[k]) != k) found(EquationFault::letter_twice, result.letter[k]);
  }
  /// f(k, options) from left to right, for the product of the operands before k with operand k; for a single operand f(0, options).
  template <class Options, class F>
  constexpr void each_step(const F& f) const {
    Letters now = operand[0];
    if (operand.size() == 1) f(0, options_of<Options>(now, {}, result));
    for (int k = 1; k < operand.size(); ++k) {
      const Letters to = k == operand.size() - 1 ? result : kept_after(k, now);
      f(k, options_of<Options>(now, operand[k], to));
      now = to;
    }
  }

 private:
  constexpr void found(EquationFault f, int where) {
    if (fault != EquationFault::none) return;
    fault = f;
    at = where;
  }
  /// The letters of one operand, or of the result. rank -1: as many axes as there are letters, and `hidden` ones for an ellipsis.
  constexpr Letters term(std::string_view text, int rank, int hidden, int number) {
    int named = 0, dots = 0;
    for (const char c : text) {
      if (c == ' ') continue;
      (c == '.' ? dots : named) += 1;
      if (c != '.' && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) found(EquationFault::not_a_letter, c);
    }
    if (dots != 0 && (dots != 3 || text.find("...") == std::string_view::npos)) found(EquationFault::dots, number);
    if (rank >= 0) hidden = rank - named;
    if (rank >= 0 && (hidden < 0 || (hidden > 0 && dots == 0))) found(EquationFault::rank, number);
    if (dots == 0) hidden = 0;
    if (named + hidden > max_rank) found(EquationFault::too_many, number);
    Letters l;
    for (std::size_t k = 0; k < text.size() && fault == EquationFault::none; ++k) {
      if (text[k] == '.') {
        for (int j = hidden; j > 0; --j) l.add(static_cast<char>(j));
        k += 2;
      } else if (text[k] != ' ') {
        l.add(text[k]);
      }
    }
    return l;
  }
  constexpr int times(char c) const {
    int n = 0;
    for (const Letters& l : operand)
      for (int j = 0; j < l.count; ++j) n += l.letter[j] == c;
    return n;
  }
  /// Letters of the product of `now` and operand k that later operands or the result use, in the order of a matrix
  /// product: in both, only in the first, only in the second.
  constexpr Letters kept_after(int k, const Letters& now) const {
    Letters to;
    const auto add = [&](const Letters& from, const auto& is_there) {
      for (int j = 0; j < from.count; ++j) {
        const char c = from.letter[j];
        bool later = result.has(c);
        for (int i = k + 1; i < operand.size(); ++i) later = later || operand[i].has(c);
        if (later && is_there(c) && !to.has(c) && to.count <= max_rank) to.add(c);  // one too many is an error of the step
      }
    };
    add(now, [&](char c) { return operand[k].has(c); });
    add(now, [&](char c) { return !operand[k].has(c); });
    add(operand[k], [&](char c) { return !now.has(c); });
    return to;
  }
  template <class Options>
  static constexpr Options options_of(const Letters& left, const Letters& right, const Letters& to) {
    Options o;
    for (int k = 0; k < left.count; ++k) o.left.push_back(left.letter[k]);
    for (int k = 0; k < right.count; ++k) o.right.push_back(right.letter[k]);
    for (int k = 0; k < to.count && k <= max_rank; ++k) o.result.push_back(to.letter[k]);
    return o;
  }
};

/// A value and the letters of its axes.
struct Lettered {
  Sym x;
  Letters letters;

  constexpr Extent extent(char c) const { return letters.has(c) ? x.shape()[letters.place(c)] : Extent(1); }
  /// The axes in the order of `order`, which contains all of them; letters that the value lacks get axes of extent 1.
  constexpr Sym along(const Letters& order) const {
    int axes[max_rank] = {}, n = 0;
    Shape to;
    for (int k = 0; k < order.count; ++k) {
      if (letters.has(order.letter[k])) axes[n++] = letters.place(order.letter[k]);
      to.push_back(extent(order.letter[k]));
    }
    return reshaped({x.graph, x.graph->permute(x.id, axes)}, to);
  }
  /// Without the axis `c`, whose extent is 1.
  constexpr Lettered without(char c) const {
    Lettered r{x, {}};
    Shape to;
    for (int k = 0; k < letters.count; ++k) {
      if (letters.letter[k] == c) continue;
      r.letters.add(letters.letter[k]);
      to.push_back(x.shape()[k]);
    }
    r.x = reshaped(x, to);
    return r;
  }
  /// Sums along the axes whose letters are not in `kept`; takes the diagonal for a letter that occurs twice. `widens`: sums of integers are i64.
  template <class Kept>
  constexpr Lettered summed(const Kept& kept, bool widens = false) const {
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
    if (gone == 0) return r;
    const Sym sum = reduce<Op::sum>(r.x, gone, false);
    return {widens || sum.dtype() == x.dtype() ? sum : cast_to(sum, x.dtype()), rest};
  }

 private:
  /// Two axes with one letter, replaced by their diagonal as the last axis.
  constexpr Lettered diagonal_of(int a, int b) const {
    const Shape s = x.shape();
    const auto differ = [&] { return Failure{.mistake = Mistake::shapes_differ, .op = "einsum", .a = {s[a]}, .b = {s[b]}}; };
    for (const int axis : {a, b}) x.graph->need_number(s[axis]);
    if (!s[a].is_constant() || !s[b].is_constant()) return {needs_constant(x, "einsum", s[a].is_constant() ? b : a), {}};
    if (s[a] != s[b]) return {{x.graph, x.graph->fail(differ(), x.id)}, {}};
    Lettered r{detail::diagonal(x, a, b, 0), {}};
    for (int k = 0; k < letters.count; ++k)
      if (k != a && k != b) r.letters.add(letters.letter[k]);
    r.letters.add(letters.letter[a]);
    return r;
  }
};

/// Sums of products in the dtype of the factors: integers are summed in a wider dtype, narrow floats multiplied and summed in a wider one.
constexpr Sym sum_of_products(const Sym& a, const Sym& b, unsigned axes) {
  const Sym sum = reduce<Op::sum>(widened_float(a) * widened_float(b), axes, false);
  return sum.dtype() == a.dtype() ? sum : cast_to(sum, a.dtype());
}
/// The product of two values, each letter once in each, summed along the letters that are not in `kept`: a product of
/// matrices, or of a row and a matrix, except for sums along rows. An extent of 1 is repeated.
template <class Kept>
constexpr Lettered contracted(const Lettered& first, const Lettered& second, const char* op, const Kept& kept) {
  Lettered a = first, b = second;
  const auto fails = [&](const Failure& f) { return Lettered{{a.x.graph, a.x.graph->fail(f, a.x.id)}, {}}; };
  const auto differ = [&] { return Failure{.mistake = Mistake::shapes_differ, .op = op, .a = a.x.shape(), .b = b.x.shape()}; };
  for (int k = 0; k < first.letters.count; ++k) {
    const char c = first.letters.letter[k];
    if (!b.letters.has(c)) continue;
    const Extent m = a.extent(c), n = b.extent(c);
    if (m == n) continue;
    if (m == Extent(1)) a = a.without(c);
    else if (n == Extent(1)) b = b.without(c);
    else if (!a.x.graph->equal(m, n, differ)) return fails(differ());
  }
  // a letter that one of them has lost belongs to the other alone
  a = a.summed([&](char c) { return kept(c) || b.letters.has(c); });
  b = b.summed([&](char c) { return kept(c) || a.letters.has(c); });
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
  if (right.count == 0) {  // if only one has letters of its own, it becomes b
    std::swap(a, b);
    std::swap(left, right);
  }
  const Letters all = joined({&batch, &left, &right});
  if (all.count > max_rank) return fails({.mistake = Mistake::rank_too_high, .op = op, .a = a.x.shape(), .number = all.count});
  if (inner.count == 0) return {a.along(all) * b.along(all), all};
  if (left.count == 0 && (right.count == 0 || inner.has(b.letters.letter[b.letters.count - 1]))) {  // sums along rows of b
    Letters rest;
    unsigned gone = 0;
    for (int k = 0; k < b.letters.count; ++k)
      if (inner.has(b.letters.letter[k])) gone |= 1u << k;
      else rest.add(b.letters.letter[k]);
    return {sum_of_products(a.along(b.letters), b.x, gone), rest};
  }
  const auto extents = [](const Lettered& of, const Letters& letters, Shape& to) {
    Extent n(1);
    for (int k = 0; k < letters.count; ++k) n = n * of.extent(letters.letter[k]);
    to.push_back(n);
  };
  Shape rows, columns, to;
  for (Shape* s : {&rows, &columns})
    if (batch.count > 0) extents(a, batch, *s);
  extents(a, left, rows), extents(a, inner, rows);
  extents(a, inner, columns), extents(b, right, columns);
  for (int k = 0; k < all.count; ++k) to.push_back(a.letters.has(all.letter[k]) ? a.extent(all.letter[k]) : b.extent(all.letter[k]));
  const Sym x = reshaped(a.along(joined({&batch, &left, &inner})), rows), y = reshaped(b.along(joined({&batch, &inner, &right})), columns);
  return {reshaped(Matmul::body(x, y), to), all};
}

}  // namespace detail

/// One or two values whose axes have letters: products summed along the letters that the result lacks; the diagonal for
/// a letter that a value has twice. A step of einsum.
struct Contraction {
  struct Options {
    Axes left, right, result;
  };
  static constexpr OpInfo info{.name = "_contraction", .widens = false, .arguments = "input, other?"};
  static constexpr Sym body(const Sym& a, const Sym& b, const Options& o) {
    using detail::Letters, detail::Lettered;
    if (!detail::need_option(a, o.result.count <= max_rank, "einsum", "the number of axes of a product", o.result.count, "at most 16")) return a;
    bool fits = o.left.count == a.shape().rank && o.right.count == (b.graph ? b.shape().rank : 0);
    for (const Axes* l : {&o.left, &o.right, &o.result})
      for (int k = 0; k < l->count; ++k) fits = fits && l->item[k] > 0 && l->item[k] < 128;
    if (!detail::need_option(a, fits, "einsum", "the number of letters", o.left.count, "that of the axes")) return a;
    const Letters left(o.left), right(o.right), to(o.result);
    for (int k = 0; k < to.count; ++k)
      if (!detail::need_option(a, (left.has(to.letter[k]) || right.has(to.letter[k])) && to.place(to.letter[k]) == k, "einsum", "a letter of the result", to.letter[k], "there once, and an operand's")) return a;
    if (!b.graph) {
      const Lettered r = Lettered{a, left}.summed([&](char c) { return to.has(c); }, true);
      return a.graph->failure ? a : r.along(to);
    }
    const Lettered x = Lettered{a, left}.summed([&](char c) { return to.has(c) || right.has(c); });
    const Lettered y = Lettered{b, right}.summed([&](char c) { return to.has(c) || left.has(c); });
    if (a.graph->failure) return a;
    const Lettered r = detail::contracted(x, y, "einsum", [&](char c) { return to.has(c); });
    return a.graph->failure ? a : r.along(to);
  }
};

namespace detail {

template <FixedText T>
struct EinsumFn {
  static constexpr const char* name = "einsum";
  template <class... S>
  static constexpr Sym record(const S&... operand) {
    const Sym given[] = {operand...};
    const Equation equation(T.text, {operand.shape().rank...});
    if (equation.operand.size() != static_cast<int>(sizeof...(S))) return given[0];  // einsum() reports it
    if (equation.fault != EquationFault::none) {  // faults that depend on ranks
      const int k = equation.at < equation.operand.size() ? equation.at : 0;
      return {given[k].graph, given[k].graph->fail({.mistake = Mistake::rank_not_accepted, .op = name, .a = given[k].shape(), .number = Equation(T.text).operand[k].count}, given[k].id)};
    }
    for (const Sym& x : given)
      if (!need_same_dtype(given[0], x, name)) return given[0];
    Sym r = given[0];
    equation.each_step<Contraction::Options>([&](int k, const Contraction::Options& o) { r = r.graph->failure ? r : Contraction::body(r, k > 0 ? given[k] : Sym{}, o); });
    return r;
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
    if (!need_same_dtype(a, b, name)) return a;
    Lettered x{a, {}}, y{b, {}};
    for (int k = 0; k < a.shape().rank; ++k) x.letters.add(static_cast<char>(1 + k));
    for (int k = 0; k < b.shape().rank; ++k) y.letters.add(static_cast<char>(k < Axes ? 1 + left + k : 1 + max_rank + k));
    return contracted(x, y, name, [left](char c) { return c <= left || c > max_rank; }).x;
  }
  static auto call(SourceLine at, const auto& a, const auto& b) { return tensordot(a, b, Axes, at); }
};
/// matmul for these ranks only.
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

/// Is the text of an einsum right for this number of operands? If not, one error.
template <FixedText T, int Operands>
constexpr bool reads_right() {
  constexpr EquationFault fault = Equation(T.text).fault;
  constexpr bool as_many = Equation(T.text).operand.size() == Operands;
  static_assert(fault != EquationFault::not_a_letter && fault != EquationFault::dots, "tt: einsum: the text has letters, commas, one arrow, and an ellipsis for each value");
  static_assert(fault != EquationFault::too_many, "tt: einsum: the text has more letters than are allowed: 16 for each");
  static_assert(fault != EquationFault::unknown_letter, "tt: einsum: the result has a letter that no operand has");
  static_assert(fault != EquationFault::letter_twice, "tt: einsum: the result has a letter twice");
  static_assert(fault != EquationFault::none || as_many, "tt: einsum: the text has another number of operands");
  return fault == EquationFault::none && as_many;
}
template <FixedText T, class A, class... More>
constexpr auto einsum_of(SourceLine at, A&& a, More&&... more) {
  if constexpr (reads_right<T, 1 + static_cast<int>(sizeof...(More))>()) return call_front<EinsumFn<T>>(at, static_cast<A&&>(a), static_cast<More&&>(more)...);
  else return std::remove_cvref_t<A>(a);
}

}  // namespace detail

/// Sums of products by the text: each axis has a letter, letters that the result lacks are summed. From left to right, two values at a time.
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
/// (M) x (N): the products of all pairs.
template <class A, class B>
  requires detail::CompiledValues<A, B>
constexpr auto outer(A&& a, B&& b, CallLine at = here()) { return detail::call_front<detail::OuterFn<>>(at, static_cast<A&&>(a), static_cast<B&&>(b)); }

}  // namespace tt
