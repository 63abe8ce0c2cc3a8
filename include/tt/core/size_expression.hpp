// Size expressions at run time, for extents beyond a coefficient times a few symbols: sums of products of symbols and
// of floor_div, min and max of extents. Each has one canonical form (terms of higher degree first, products multiplied
// out), kept once in the WordTable, so equal extents are equal integers.
//   Extent n = Extent::symbol(0) + 1;   n * n - 1  is  s0*s0 + 2*s0;   floor_div(n * 2, 2) == n
#pragma once
#include "tt/core/bit_set.hpp"
#include "tt/core/shape.hpp"
#include "tt/core/thread_end.hpp"
#include "tt/core/word_table.hpp"

namespace tt::detail {

enum class SizeFunction : std::int64_t { sum, floor_div, min, max };

/// A symbol, from 0 on, or the code of the extent of a function, which is negative.
using SizeFactor = std::int64_t;
struct SizeTerm {
  std::int64_t coefficient = 0;
  Vec<SizeFactor> factors;  ///< in the order of compare_factors
};

/// An extent in the WordTable's form of a sum: each term as its coefficient, the number of its factors, and these.
/// Extents that are not in the table are written into room_.
class SizeWords {
 public:
  explicit SizeWords(Extent e) {
    if (!e.is_packed() && !e.is_further_symbol()) {
      list = WordTable::list(e.place());
      return;
    }
    int n = 3;
    if (e.is_further_symbol()) room_[n++] = Extent::further - e.code;
    else
      for (int i = 0; i < max_symbols; ++i)
        for (int k = e.exponent(i); k > 0; --k) room_[n++] = i;
    room_[0] = static_cast<std::int64_t>(SizeFunction::sum);
    room_[1] = e.is_packed() ? e.coefficient() : 1;
    room_[2] = n - 3;
    list = {room_, e == Extent(0) ? 1 : n};
  }
  SizeWords(const SizeWords&) = delete;
  WordTable::List list;

 private:
  std::int64_t room_[3 + 7 * max_symbols];
};

inline int compare_sizes(Extent a, Extent b);
/// Negative: f is sorted before g. Compared by value, not by index in the WordTable, so that a graph has one text:
/// functions first, by kind and operands, then symbols.
inline int compare_factors(SizeFactor f, SizeFactor g) {
  if (f == g) return 0;
  if (f >= 0 || g >= 0) return f < g ? -1 : 1;
  const WordTable::List a = WordTable::list(Extent::from_code(f).place()), b = WordTable::list(Extent::from_code(g).place());
  if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
  if (const int first = compare_sizes(Extent::from_code(a[1]), Extent::from_code(b[1])); first != 0) return first;
  return compare_sizes(Extent::from_code(a[2]), Extent::from_code(b[2]));
}
inline int compare_factors(const SizeFactor* f, std::int64_t f_count, const SizeFactor* g, std::int64_t g_count) {
  if (f_count != g_count) return f_count > g_count ? -1 : 1;
  for (std::int64_t k = 0; k < f_count; ++k)
    if (const int c = compare_factors(f[k], g[k]); c != 0) return c;
  return 0;
}
inline int compare_sizes(Extent a, Extent b) {
  if (a == b) return 0;
  const SizeWords of_a(a), of_b(b);
  const WordTable::List &x = of_a.list, &y = of_b.list;
  for (int k = 1;;) {  // equal up to here, so terms begin at the same indices
    if (k == x.count || k == y.count) return x.count < y.count ? -1 : 1;
    if (const int c = compare_factors(x.word + k + 2, x[k + 1], y.word + k + 2, y[k + 1]); c != 0) return c;
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    k += 2 + static_cast<int>(x[k + 1]);
  }
}

/// The extent of these words: a sum of sorted terms, none of coefficient 0.
inline Extent extent_of(const Vec<std::int64_t>& words) {
  const int count = words.size() - 3;  // factors, if there is one term
  if (count < 0) return 0;
  if (words[2] == count) {
    const std::int64_t coefficient = words[1], *const factor = words.items + 3;
    if (count == 0) return coefficient;
    std::int64_t exponents = 0;
    bool packs = coefficient < Extent::bias && coefficient > -Extent::bias;
    for (int k = 0; k < count && packs; ++k) {
      packs = factor[k] >= 0 && factor[k] < max_symbols && (exponents >> (3 * factor[k]) & 7) < 7;
      if (packs) exponents += std::int64_t{1} << (3 * factor[k]);
    }
    if (packs) return Extent::product(coefficient, exponents);
    if (coefficient == 1 && count == 1 && *factor >= 0) return Extent::symbol(static_cast<int>(*factor));
  }
  return Extent::at(WordTable::number_of(words.items, words.size()));
}

class SizeSum {
 public:
  Vec<SizeTerm> terms;  ///< of different factors, sorted

  SizeSum() = default;
  explicit SizeSum(Extent e) {
    const SizeWords words(e);
    const WordTable::List& w = words.list;
    for (int k = 1; k < w.count;) {
      SizeTerm t{w[k], {}};
      const int count = static_cast<int>(w[k + 1]);
      t.factors.append(w.word + k + 2, count);
      k += 2 + count;
      terms.push_back(static_cast<SizeTerm&&>(t));
    }
  }
  void add(const SizeTerm& t, std::int64_t times = 1) {
    const std::int64_t c = t.coefficient * times;
    int at = 0;
    for (int end = terms.size(); at < end;) {
      const int middle = (at + end) / 2;
      if (leads(terms[middle].factors, t.factors)) at = middle + 1;
      else end = middle;
    }
    if (at < terms.size() && terms[at].factors == t.factors) {
      terms[at].coefficient += c;
      if (terms[at].coefficient == 0) erase(at);
    } else if (c != 0) {
      terms.push_back({});
      for (int k = terms.size() - 1; k > at; --k) terms[k] = static_cast<SizeTerm&&>(terms[k - 1]);
      terms[at] = {c, t.factors};
    }
  }
  void add(const SizeSum& o, std::int64_t times = 1) {
    for (const SizeTerm& t : o.terms) add(t, times);
  }
  void add_product(const SizeSum& o, const SizeTerm& by, std::int64_t times = 1) {
    for (const SizeTerm& t : o.terms) {
      SizeTerm p{t.coefficient * by.coefficient, t.factors};
      for (SizeFactor f : by.factors) insert(p.factors, f);
      add(p, times);
    }
  }
  /// Its constant term.
  std::int64_t constant() const { return !terms.empty() && terms.back().factors.empty() ? terms.back().coefficient : 0; }

  Extent extent() const {
    Vec<std::int64_t> w{static_cast<std::int64_t>(SizeFunction::sum)};
    for (const SizeTerm& t : terms) {
      w.push_back(t.coefficient);
      w.push_back(t.factors.size());
      for (SizeFactor f : t.factors) w.push_back(f);
    }
    return extent_of(w);
  }
  /// Sorted before: terms of higher degree first, then of earlier factors; multiplication keeps this order.
  static bool leads(const Vec<SizeFactor>& a, const Vec<SizeFactor>& b) {
    return compare_factors(a.items, a.size(), b.items, b.size()) < 0;
  }
  static void insert(Vec<SizeFactor>& factors, SizeFactor f) {
    factors.push_back(f);
    for (int k = factors.size() - 1; k > 0 && compare_factors(f, factors[k - 1]) < 0; --k) {
      factors[k] = factors[k - 1];
      factors[k - 1] = f;
    }
  }

 private:
  void erase(int at) {
    for (int k = at; k + 1 < terms.size(); ++k) terms[k] = static_cast<SizeTerm&&>(terms[k + 1]);
    terms.pop_back();
  }
};

/// How many numbers and symbols the emitted expression has, where operands of functions are repeated; counted up to about `most`.
inline int size_weight(Extent e, int most) {
  const SizeSum sum(e);
  int n = 1;
  for (const SizeTerm& t : sum.terms) {
    n += 1 + t.factors.size();
    for (SizeFactor f : t.factors) {
      if (n > most) return n;
      if (f >= 0) continue;
      const WordTable::List w = WordTable::list(Extent::from_code(f).place());
      n += 2 * size_weight(Extent::from_code(w[1]), most - n);
      n += 4 * size_weight(Extent::from_code(w[2]), most - n);
    }
  }
  return n;
}
/// q = a / b, if b divides a.
inline bool divide_term(const SizeTerm& a, const SizeTerm& b, SizeTerm& q) {
  if (b.coefficient == 0 || a.coefficient % b.coefficient != 0) return false;
  q = {a.coefficient / b.coefficient, {}};
  int k = 0;
  for (SizeFactor f : a.factors)
    if (k < b.factors.size() && b.factors[k] == f) ++k;
    else q.factors.push_back(f);
  return k == b.factors.size();
}

inline std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t r = a % b;
    a = b;
    b = r;
  }
  return a < 0 ? -a : a;
}

#if TT_DEFINES(core)

/// Pieces of FurtherSizes::few words.
class SpareWords : AtThreadEnd {
 public:
  constexpr SpareWords() : AtThreadEnd([](AtThreadEnd* self) noexcept { static_cast<SpareWords*>(self)->empty(); }) {}
  std::int64_t* take() { return count_ > 0 ? piece_[--count_] : new std::int64_t[FurtherSizes::few]; }
  void give(std::int64_t* words) {
    enlist();
    if (count_ == most) delete[] words;
    else piece_[count_++] = words;
  }

 private:
  static constexpr int most = 16;
  int count_ = 0;
  std::int64_t* piece_[most] = {};
  void empty() {
    while (count_ > 0) delete[] piece_[--count_];
  }
};
inline thread_local constinit SpareWords spare_words;
TT_INLINE std::int64_t* take_words(int count) { return count == FurtherSizes::few ? spare_words.take() : new std::int64_t[static_cast<std::size_t>(count)]; }
TT_INLINE void give_words(std::int64_t* words, int count) noexcept {
  if (count == FurtherSizes::few) spare_words.give(words);
  else delete[] words;
}

TT_INLINE Extent size_sum(Extent a, Extent b, std::int64_t times_b) {
  const SizeWords of_a(a), of_b(b);
  const WordTable::List &x = of_a.list, &y = of_b.list;
  Vec<std::int64_t> w{static_cast<std::int64_t>(SizeFunction::sum)};
  for (int i = 1, j = 1; i < x.count || j < y.count;) {  // both are sorted, so a sum of a thousand sizes takes linear time
    const int order = i == x.count ? 1 : j == y.count ? -1 : compare_factors(x.word + i + 2, x[i + 1], y.word + j + 2, y[j + 1]);
    const std::int64_t* const term = order <= 0 ? x.word + i : y.word + j;
    const int count = 2 + static_cast<int>(term[1]);
    if (const std::int64_t c = (order <= 0 ? x[i] : 0) + (order >= 0 ? y[j] * times_b : 0); c != 0) {
      w.push_back(c);
      w.append(term + 1, count - 1);
    }
    if (order <= 0) i += count;
    if (order >= 0) j += count;
  }
  return extent_of(w);
}
TT_INLINE Extent size_product(Extent a, Extent b) {
  if (b.is_constant()) return size_sum(0, a, b.code);
  if (a.is_constant()) return size_sum(0, b, a.code);
  SizeSum s;
  const SizeSum x(a);
  for (const SizeTerm& t : SizeSum(b).terms) s.add_product(x, t);
  return s.extent();
}
TT_INLINE bool size_quotient(Extent a, Extent b, Extent& q) {
  SizeSum rest(a), result;
  const SizeSum by(b);
  if (by.terms.empty()) return false;
  const int most = 4 * rest.terms.size() + 256;  // for s0^16 by s0 + s1 + ... + s15 the remainder would have as many terms as fit into memory
  while (!rest.terms.empty()) {
    SizeTerm t;
    if (result.terms.size() * by.terms.size() > most || !divide_term(rest.terms[0], by.terms[0], t)) return false;
    result.add(t);
    rest.add_product(by, t, -1);
  }
  q = result.extent();
  return true;
}
inline Extent size_function(SizeFunction f, Extent a, Extent b) {
  const std::int64_t w[] = {static_cast<std::int64_t>(f), a.code, b.code};
  SizeSum s;
  s.add({1, {Extent::at(WordTable::number_of(w, 3)).code}});
  return s.extent();
}
TT_INLINE Extent size_floor_div(Extent a, Extent b) {
  if (b.is_constant() && b.code <= 0) return b.code == 0 ? Extent(0) : floor_div(Extent(0) - a, -b.code);
  Extent q;
  if (size_quotient(a, b, q)) return q;
  const SizeSum by(b);
  if (by.terms.size() > 1) return size_function(SizeFunction::floor_div, a, b);
  const SizeTerm& d = by.terms[0];
  SizeSum whole, rest;  // a = whole * b + rest
  std::int64_t common = d.factors.empty() ? d.coefficient : 0;
  for (const SizeTerm& t : SizeSum(a).terms) {
    SizeTerm part;
    if (divide_term(t, d, part)) {
      whole.add(part);
    } else if (t.factors.empty() && d.factors.empty()) {
      whole.add({floor_of(t.coefficient, d.coefficient), {}});
      rest.add({t.coefficient - d.coefficient * floor_of(t.coefficient, d.coefficient), {}});
    } else {
      rest.add(t);
      if (!t.factors.empty() && d.factors.empty()) common = common_divisor(common, t.coefficient);
    }
  }
  if (d.factors.empty()) {
    if (rest.terms.empty() || rest.terms[0].factors.empty()) return whole.extent();  // the remainder is less than b
    if (common > 1) {
      SizeSum smaller;
      for (const SizeTerm& t : rest.terms) smaller.add({floor_of(t.coefficient, common), t.factors});
      return whole.extent() + size_floor_div(smaller.extent(), d.coefficient / common);
    }
  }
  return whole.extent() + size_function(SizeFunction::floor_div, rest.extent(), b);
}
TT_INLINE Extent size_extreme(Extent a, Extent b, bool max) {
  const Extent d = a - b;
  if (size_least(d) >= 0) return max ? a : b;
  if (size_least(b - a) >= 0) return max ? b : a;
  const bool in_order = compare_sizes(a, b) < 0;
  return size_function(max ? SizeFunction::max : SizeFunction::min, in_order ? a : b, in_order ? b : a);
}

inline std::int64_t value_of(SizeFactor f, const SymbolValues& symbols) {
  if (f >= 0) return symbols[static_cast<int>(f)];
  const WordTable::List w = WordTable::list(Extent::from_code(f).place());
  const std::int64_t a = Extent::from_code(w[1]).value(symbols), b = Extent::from_code(w[2]).value(symbols);
  switch (static_cast<SizeFunction>(w[0])) {
    case SizeFunction::floor_div: return b == 0 ? 0 : floor_of(a, b);
    case SizeFunction::min: return a < b ? a : b;
    default: return a > b ? a : b;
  }
}
TT_INLINE std::int64_t size_value(Extent e, const SymbolValues& symbols) {
  const WordTable::List w = WordTable::list(e.place());
  std::int64_t sum = 0;
  for (int k = 1; k < w.count;) {
    std::int64_t v = w[k];
    const int end = k + 2 + static_cast<int>(w[k + 1]);
    for (k += 2; k < end; ++k) v *= value_of(w[k], symbols);
    sum += v;
  }
  return sum;
}

inline constexpr std::int64_t no_bound = INT64_MIN;
inline std::int64_t least_of(SizeFactor f) {
  if (f >= 0) return 2;
  const WordTable::List w = WordTable::list(Extent::from_code(f).place());
  const Extent a = Extent::from_code(w[1]), b = Extent::from_code(w[2]);
  const std::int64_t x = size_least(a), y = size_least(b);
  switch (static_cast<SizeFunction>(w[0])) {
    case SizeFunction::floor_div: return x < 0 || y < 1 ? no_bound : b.is_constant() ? x / b.code : 0;
    case SizeFunction::min: return x < y ? x : y;
    default: return x > y ? x : y;
  }
}
/// A lower bound of its values, given that symbols are 2 or more; no_bound if none is known.
TT_INLINE std::int64_t size_least(Extent e) {
  if (e.is_constant()) return e.code;
  std::int64_t sum = 0;
  const SizeWords words(e);
  const WordTable::List& w = words.list;
  for (int k = 1; k < w.count;) {
    std::int64_t v = w[k];
    const int end = k + 2 + static_cast<int>(w[k + 1]);
    if (v < 0 && w[k + 1] > 0) return no_bound;
    for (k += 2; k < end; ++k) {
      const std::int64_t least = least_of(w[k]);
      if (least < 0) return no_bound;
      v *= least;
    }
    sum += v;
  }
  return sum;
}
inline void add_symbols(SizeFactor f, BitSet& to) {
  if (f >= 0) return to.set(static_cast<int>(f));
  const WordTable::List w = WordTable::list(Extent::from_code(f).place());
  size_symbols(Extent::from_code(w[1]), to);
  size_symbols(Extent::from_code(w[2]), to);
}
TT_INLINE void size_symbols(Extent e, BitSet& to) {
  const SizeWords words(e);
  const WordTable::List& w = words.list;
  for (int k = 1; k < w.count;) {
    const int end = k + 2 + static_cast<int>(w[k + 1]);
    for (k += 2; k < end; ++k) add_symbols(w[k], to);
  }
}

inline Text floor_division(const Text& a, const Text& b) {
  return Text() << "(((" << a << ") - ((" << a << ") % (" << b << ") + (" << b << ")) % (" << b << ")) / (" << b << "))";
}
inline void write_factor(Text& t, SizeFactor f, const char* symbols) {
  if (f >= 0) {
    if (symbols) t << symbols << '[' << f << ']';
    else t << 's' << f;
    return;
  }
  const WordTable::List w = WordTable::list(Extent::from_code(f).place());
  Text a, b;
  size_write(a, Extent::from_code(w[1]), symbols);
  size_write(b, Extent::from_code(w[2]), symbols);
  const bool divides = static_cast<SizeFunction>(w[0]) == SizeFunction::floor_div, max = static_cast<SizeFunction>(w[0]) == SizeFunction::max;
  if (!symbols) t << (divides ? "floor_div(" : max ? "max(" : "min(") << a << ", " << b << ')';
  else if (divides && Extent::from_code(w[2]).least() < 1) t << "((" << b << ") == 0 ? 0 : " << floor_division(a, b) << ')';
  else if (divides) t << floor_division(a, b);
  else t << "((" << a << (max ? ") > (" : ") < (") << b << ") ? (" << a << ") : (" << b << "))";
}
/// `symbols`: the name of the array that holds them in emitted text; null: text for readers.
TT_INLINE void size_write(Text& t, Extent e, const char* symbols) {
  const SizeSum s(e);
  const char* const times = symbols ? " * " : "*";
  if (s.terms.empty()) t << '0';
  for (int k = 0; k < s.terms.size(); ++k) {
    const SizeTerm& x = s.terms[k];
    const std::int64_t c = k > 0 && x.coefficient < 0 ? -x.coefficient : x.coefficient;
    if (k > 0) t << (x.coefficient < 0 ? " - " : " + ");
    const char* between = "";
    if (c != 1 || x.factors.empty()) {
      t << c;
      between = times;
    }
    for (SizeFactor f : x.factors) {
      t << between;
      write_factor(t, f, symbols);
      between = times;
    }
  }
}

#endif

}  // namespace tt::detail
