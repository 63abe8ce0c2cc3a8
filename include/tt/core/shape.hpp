// Extents and shapes. An extent is a constant, or an expression of symbols (sizes known only at run time), as one integer, so
// that equal extents are equal integers. In constant expressions it is a coefficient times a product of at most eight symbols;
// at run time any sum of such products, floor_div, min and max (core/size_expression.hpp).
// Broadcasting: from the right, extents are equal or one of them is 1.
//   broadcast({3, 1}, {4})  is  {3, 4};   Extent::symbol(0) * 10 + 1  prints as  10*s0 + 1
#pragma once
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "tt/config.hpp"
#include "tt/core/text.hpp"

namespace tt {

struct Extent;
class BitSet;

inline constexpr int max_rank = 16;  ///< a permutation has four bits an axis
/// In constant expressions; at run time their number is not limited.
inline constexpr int max_symbols = 8;
/// More memory than any machine has (x86-64 addresses have 47 bits), and sums of many such numbers do not overflow.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 46;

namespace detail {

/// Memory for some integers. A thread keeps a few pieces, so that calls with many sizes take nothing from the heap.
TT_INLINE std::int64_t* take_words(int count);
TT_INLINE void give_words(std::int64_t* words, int count) noexcept;

/// The list in SymbolValues; empty in constant expressions.
class FurtherSizes {
 public:
  constexpr FurtherSizes() = default;
  constexpr FurtherSizes(const FurtherSizes& o) {
    if (o.size_ > 0) *this = o;
  }
  constexpr FurtherSizes(FurtherSizes&& o) noexcept : word_(o.word_), size_(o.size_), room_(o.room_) { o.word_ = nullptr, o.size_ = o.room_ = 0; }
  constexpr FurtherSizes& operator=(const FurtherSizes& o) {
    if (this == &o) return *this;
    resize(o.size_);
    for (int k = 0; k < size_; ++k) word_[k] = o.word_[k];
    return *this;
  }
  constexpr ~FurtherSizes() {
    if (room_ > 0) give_words(word_, room_);
  }
  constexpr int size() const { return size_; }
  constexpr std::int64_t& operator[](int k) { return word_[k]; }
  constexpr std::int64_t operator[](int k) const { return word_[k]; }
  constexpr void resize(int size) {
    if (size > room_) {
      const int room = size < few ? few : 2 * size;
      std::int64_t* const fresh = take_words(room);
      for (int k = 0; k < size_; ++k) fresh[k] = word_[k];
      if (room_ > 0) give_words(word_, room_);
      word_ = fresh;
      room_ = room;
    }
    for (int k = size_; k < size; ++k) word_[k] = 0;
    size_ = size;
  }
  friend constexpr bool operator==(const FurtherSizes& a, const FurtherSizes& b) {
    bool same = a.size_ == b.size_;
    for (int k = 0; same && k < a.size_; ++k) same = a.word_[k] == b.word_[k];
    return same;
  }
  static constexpr int few = 56;

 private:
  std::int64_t* word_ = nullptr;
  int size_ = 0, room_ = 0;
};

}  // namespace detail

/// The sizes that the symbols have in one call.
struct SymbolValues {
  std::int64_t value[max_symbols] = {};
  detail::FurtherSizes more = {};  ///< of symbols from max_symbols on

  constexpr std::int64_t operator[](int k) const { return k < max_symbols ? value[k] : k - max_symbols < more.size() ? more[k - max_symbols] : 0; }
  constexpr void set(int k, std::int64_t v) {
    if (more.size() <= k - max_symbols) more.resize(k - max_symbols + 1);
    (k < max_symbols ? value[k] : more[k - max_symbols]) = v;
  }
  constexpr int size() const { return max_symbols + more.size(); }
  friend constexpr bool operator==(const SymbolValues&, const SymbolValues&) = default;
};

/// For programs whose sizes are all constants.
inline constexpr SymbolValues no_symbols{};

namespace detail {
TT_INLINE Extent size_sum(Extent a, Extent b, std::int64_t times_b);
TT_INLINE Extent size_product(Extent a, Extent b);
TT_INLINE bool size_quotient(Extent a, Extent b, Extent& q);
TT_INLINE Extent size_floor_div(Extent a, Extent b);
TT_INLINE Extent size_extreme(Extent a, Extent b, bool max);
TT_INLINE std::int64_t size_value(Extent e, const SymbolValues& symbols);
TT_INLINE std::int64_t size_least(Extent e);
TT_INLINE void size_symbols(Extent e, BitSet& to);
TT_INLINE void size_write(Text& t, Extent e, const char* symbols);
}  // namespace detail

struct Extent {
  // A constant is itself; it may be negative: strides of reversed slices are. A packed product: `symbolic` minus (biased coefficient << 24 |
  // exponents), three bits a symbol. A symbol beyond the eighth: `further` minus its index. Else: `kept` minus its index in the WordTable.
  std::int64_t code = 1;

  constexpr Extent() = default;
  constexpr Extent(std::int64_t constant) : code(constant) {}
  static constexpr int exponent_bits = 24;
  static constexpr std::int64_t symbolic = -(std::int64_t{1} << 62), bias = std::int64_t{1} << 36,
                                kept = symbolic - (bias << (exponent_bits + 1)), further = kept - (std::int64_t{1} << 40);
  static constexpr Extent product(std::int64_t coefficient, std::int64_t exponents) {
    return from_code(symbolic - ((coefficient + bias) << exponent_bits | exponents));
  }
  static constexpr Extent at(int place) { return from_code(kept - place); }

  static constexpr Extent from_code(std::int64_t code) { return code; }
  static constexpr Extent symbol(int index) {
    if (index < max_symbols) return product(1, std::int64_t{1} << (3 * index));
    return from_code(further - index);
  }
  constexpr bool is_constant() const { return code > symbolic; }
  constexpr bool is_packed() const { return code > kept; }
  constexpr bool is_further_symbol() const { return code <= further; }
  /// Index in the WordTable of an extent that is neither packed nor a further symbol.
  constexpr int place() const { return static_cast<int>(kept - code); }
  constexpr std::int64_t coefficient() const {
    return is_constant() ? code : ((symbolic - code) >> exponent_bits) - bias;
  }
  constexpr std::int64_t exponents() const { return is_constant() ? 0 : (symbolic - code) & 0xffffff; }
  /// Power of symbol i in a packed product.
  constexpr int exponent(int i) const { return static_cast<int>(exponents() >> (3 * i) & 7); }

  constexpr std::int64_t value(const SymbolValues& symbols) const { return is_constant() ? code : symbolic_value(symbols); }
  constexpr std::int64_t symbolic_value(const SymbolValues& symbols) const {
    if (is_further_symbol()) return symbols[static_cast<int>(further - code)];
    if (!is_packed()) return detail::size_value(*this, symbols);
    std::int64_t v = coefficient();
    int i = 0;
    for (std::int64_t e = exponents(); e != 0; e >>= 3, ++i)
      for (int n = static_cast<int>(e & 7); n > 0; --n) v *= symbols.value[i];
    return v;
  }
  friend constexpr bool operator==(Extent, Extent) = default;
  friend constexpr Extent operator*(Extent a, Extent b) {
    if (a.is_constant() && b.is_constant()) return Extent(a.code * b.code);
    if (a.is_packed() && b.is_packed()) {
      const std::int64_t coefficient = a.coefficient() * b.coefficient(), x = a.exponents(), y = b.exponents();
      if (coefficient == 0) return Extent(0);
      constexpr std::int64_t low = 0333333333, high = 0444444444;  // no carry from one symbol's bits into another's
      const bool fits = (((x & low) + (y & low)) & high & (x | y)) == 0 && (x & y & high) == 0 && coefficient < bias && coefficient > -bias;
      if (fits || std::is_constant_evaluated()) return product(coefficient, x + y);
    }
    return detail::size_product(a, b);
  }
  /// In constant expressions only for constants, or for multiples of the same symbols (normalize ensures that).
  friend constexpr Extent operator+(Extent a, Extent b) {
    if (a.is_constant() && b.is_constant()) return Extent(a.code + b.code);
    if (a == Extent(0)) return b;
    if (b == Extent(0)) return a;
    if (a.is_packed() && b.is_packed() && a.exponents() == b.exponents()) {
      const std::int64_t c = a.coefficient() + b.coefficient();
      if (c == 0) return Extent(0);
      if (c < bias && c > -bias) return product(c, a.exponents());
    }
    return detail::size_sum(a, b, 1);
  }
  friend constexpr Extent operator-(Extent a, Extent b) {
    if (a.is_constant() && b.is_constant()) return Extent(a.code - b.code);
    return detail::size_sum(a, b, -1);
  }
  /// A lower bound of its values, as symbols are 2 or more.
  constexpr std::int64_t least() const { return is_constant() ? code : detail::size_least(*this); }
};

/// q = a / b, if a is a multiple of b by an extent.
constexpr bool divide(Extent a, Extent b, Extent& q) {
  if (a.is_packed() && b.is_packed() && !(a.is_constant() && a.code == 0)) {
    const std::int64_t c = b.coefficient();
    if (c == 0 || a.coefficient() % c != 0) return false;
    for (int i = 0; i < max_symbols; ++i)
      if (a.exponent(i) < b.exponent(i)) return false;
    const std::int64_t exponents = a.exponents() - b.exponents();
    q = exponents == 0 ? Extent(a.coefficient() / c) : Extent::product(a.coefficient() / c, exponents);
    return true;
  }
  if (a == Extent(0)) {
    q = a;
    return b != Extent(0);
  }
  return detail::size_quotient(a, b, q);
}
/// The greatest whole number that is not above a / b; 0 where b is 0.
constexpr Extent floor_div(Extent a, Extent b) {
  if (b == Extent(0)) return 0;
  if (a.is_constant() && b.is_constant()) return a.code / b.code - (a.code % b.code != 0 && (a.code < 0) != (b.code < 0));
  return detail::size_floor_div(a, b);
}
constexpr Extent max(Extent a, Extent b) {
  if (a.is_constant() && b.is_constant()) return a.code > b.code ? a : b;
  return detail::size_extreme(a, b, true);
}
constexpr Extent min(Extent a, Extent b) {
  if (a.is_constant() && b.is_constant()) return a.code < b.code ? a : b;
  return detail::size_extreme(a, b, false);
}

constexpr Text& operator<<(Text& out, Extent e) {
  if (e.is_constant()) return out << e.code;
  if (!e.is_packed()) {
    detail::size_write(out, e, nullptr);
    return out;
  }
  if (e.coefficient() != 1) out << e.coefficient() << '*';
  bool first = true;
  for (int i = 0; i < max_symbols; ++i)
    for (int k = e.exponent(i); k > 0; --k) {
      if (!first) out << '*';
      out << 's' << i;
      first = false;
    }
  return out;
}

namespace detail {
struct ShapeCodes {
  int rank;
  std::int64_t code[max_rank];  // plain integers: half the constant evaluation of Extent[]
  static constexpr ShapeCodes zeros() { return {}; }
  static ShapeCodes unset() {
    ShapeCodes none;
    none.rank = 0;
    return none;
  }
};
}  // namespace detail

struct Shape : detail::ShapeCodes {
  /// At run time nothing is written beyond the rank: g++ would clear 128 bytes by an instruction that takes 12 ns.
  constexpr Shape() : ShapeCodes(std::is_constant_evaluated() ? zeros() : unset()) {}
  constexpr Shape(std::initializer_list<Extent> extents) : Shape() {
    for (Extent e : extents) push_back(e);
  }
  constexpr Extent operator[](int axis) const { return Extent::from_code(code[axis]); }
  constexpr void set(int axis, Extent e) { code[axis] = e.code; }
  /// The extent k places left of the last one; 1 beyond the rank.
  constexpr Extent from_right(int k) const {
    return k < rank ? Extent::from_code(code[rank - 1 - k]) : Extent(1);
  }
  constexpr Extent count(int first, int last) const {
    Extent n = 1;
    for (int i = first; i < last; ++i) n = n * (*this)[i];
    return n;
  }
  constexpr Extent size() const { return count(0, rank); }
  constexpr Extent last() const { return from_right(0); }
  /// The product of all extents but the last.
  constexpr Extent rows() const { return rank > 0 ? count(0, rank - 1) : Extent(1); }
  /// Extents beyond max_rank are dropped; callers that build shapes from user input check the rank.
  constexpr void push_back(Extent e) {
    if (rank < max_rank) code[rank++] = e.code;
  }
  constexpr bool is_constant() const {
    for (int i = 0; i < rank; ++i)
      if (code[i] < 0) return false;
    return true;
  }
  constexpr bool is_constant_but_first() const {
    for (int i = 1; i < rank; ++i)
      if (code[i] < 0) return false;
    return true;
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.code[i] != b.code[i]) return false;
    return true;
  }
};

/// Can the elements be counted, and their bytes and strides? Extents of 0 count as 1, for the strides; symbols count by
/// their coefficients, which have 36 bits.
constexpr bool is_countable(const Shape& s) {
  constexpr std::int64_t most_small = std::int64_t{1} << 9;  // a product of six is 2^54 at most: nothing to divide
  bool small = s.rank <= 6;
  for (int k = 0; k < s.rank; ++k) small = small && s.code[k] >= 0 && s.code[k] <= most_small;
  if (small) return true;
  const std::int64_t most = std::int64_t{1} << (s.is_constant() ? 58 : 35);
  std::int64_t n = 1;
  for (int k = 0; k < s.rank; ++k) {
    if (!s[k].is_packed()) continue;
    const std::int64_t e = s[k].coefficient();
    if (e > 1 && n > most / e) return false;
    if (e > 1) n *= e;
  }
  return true;
}
static_assert(is_countable({1 << 20, 1 << 20}) && !is_countable({1 << 30, 1 << 30, 0}));
static_assert(is_countable({512, 512, 512, 512, 512, 512, 1}) && !is_countable({512, 512, 512, 512, 512, 512, 512}));

constexpr Text& operator<<(Text& out, const Shape& s) {
  out << '(';
  for (int i = 0; i < s.rank; ++i) out << (i ? ", " : "") << s[i];
  return out << (s.rank == 1 ? ",)" : ")");
}

constexpr Text& operator<<(Text&& out, Extent e) { return out << e; }
constexpr Text& operator<<(Text&& out, const Shape& s) { return out << s; }

/// The shape of two operands together; `ok` is false when they do not broadcast.
struct BroadcastResult {
  Shape shape;
  bool ok = true;
};
constexpr BroadcastResult try_broadcast(const Shape& a, const Shape& b) {
  BroadcastResult r;
  const Shape &more = a.rank > b.rank ? a : b, &less = a.rank > b.rank ? b : a;
  r.shape = more;
  for (int i = 0, k = more.rank - less.rank; i < less.rank; ++i, ++k) {
    const std::int64_t x = more.code[k], y = less.code[i];
    if (x != y && x != 1 && y != 1) r.ok = false;
    if (x == 1 || (&more == &b && y != 1)) r.shape.code[k] = y;
  }
  return r;
}
static_assert(try_broadcast({3, 1}, {4}).shape == Shape{3, 4});
static_assert(!try_broadcast({64, 128}, {64, 100}).ok);
static_assert((Extent::symbol(0) * 10).value({{7}}) == 70);

/// Axis counted from the left, negative from the right; -1 when out of range.
constexpr int normalize_axis(int axis, int rank) {
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? -1 : axis;
}

constexpr Extent round_up(Extent n, int step) {
  return n.is_constant() ? Extent((n.code + step - 1) / step * step) : n;
}
static_assert(round_up(65, 64) == Extent(128));

}  // namespace tt

#if TT_DEFINES(core)
#include "tt/core/size_expression.hpp"
#endif
