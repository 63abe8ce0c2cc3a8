// Size: the result of size() and numel() of a Tensor: a whole number that is also an expression of sizes (see Extent)
// while a function is captured. Passed to ops, and in arithmetic, it stays an expression. A comparison is guarded by
// its outcome: the capture serves every size with the same outcome. Any other conversion to a plain integer (a loop's
// bound, an index) is guarded as that number.
//   x.reshape({x.size(0) * 2, -1})         one capture for every size
//   if (x.size(0) > 100) ...               two: one up to 100, one from 101 on
//   double m[9]; m[x.size(0)] = 1;         one for each, and after a few of them calls are recorded anew
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tt/core/capture_mode.hpp"
#include "tt/core/text.hpp"

namespace tt {

class Size {
 public:
  using tt_number = std::int64_t;
  constexpr Size() = default;
  template <std::integral T>
  explicit constexpr Size(T value) : value_(static_cast<std::int64_t>(value)), extent_(value_) {}
  /// An expression of a capture; a constant extent makes it a plain number.
  constexpr Size(std::int64_t value, Extent extent, std::uint64_t capture, SourceLine at)
      : value_(value), extent_(extent), capture_(extent.is_constant() ? 0 : capture), at_(at) {}

  constexpr operator std::int64_t() const {
    if (capture_ != 0) [[unlikely]] guard(*this, value_, value_);
    return value_;
  }
  /// The same as the conversion: in a captured function the number is guarded.
  constexpr std::int64_t value() const { return *this; }
  /// For callers that pass both on: the number in this call, and its expression while it is captured (else the number).
  constexpr std::int64_t hint() const { return value_; }
  constexpr Extent extent() const { return is_expression() ? extent_ : Extent(value_); }
  /// A Size that outlived its capture is a plain number.
  constexpr bool is_expression() const { return capture_ != 0 && detail::capture_mode && detail::capture_mode->capture_number == capture_; }

  friend constexpr Size operator+(const Size& a, const Size& b) {
    const std::int64_t v = wrapped(bits(a) + bits(b));
    return plain(a, b) ? Size(v) : are_tame(a, b) ? made(v, a.extent() + b.extent(), a, b) : looked_at(v, a, b);
  }
  friend constexpr Size operator-(const Size& a, const Size& b) {
    const std::int64_t v = wrapped(bits(a) - bits(b));
    return plain(a, b) ? Size(v) : are_tame(a, b) ? made(v, a.extent() - b.extent(), a, b) : looked_at(v, a, b);
  }
  friend constexpr Size operator*(const Size& a, const Size& b) {
    const std::int64_t v = wrapped(bits(a) * bits(b));
    return plain(a, b) ? Size(v) : are_tame(a, b) ? made(v, a.extent() * b.extent(), a, b) : looked_at(v, a, b);
  }
  /// Rounded towards 0, as for integers.
  friend constexpr Size operator/(const Size& a, const Size& b) {
    if (plain(a, b)) return Size(quotient(a.value_, b.value_));
    if (!are_tame(a, b) || b <= Size(0)) return looked_at(quotient(a, b), a, b);
    const bool negative = a < Size(0);
    const Extent q = floor_div(negative ? Extent(0) - a.extent() : a.extent(), b.extent());
    return made(a.value_ / b.value_, negative ? Extent(0) - q : q, a, b);
  }
  friend constexpr Size operator%(const Size& a, const Size& b) { return plain(a, b) && b.value_ != -1 ? Size(a.value_ % b.value_) : a - a / b * b; }
  constexpr Size operator-() const { return Size(0) - *this; }

  friend constexpr bool operator==(const Size& a, const Size& b) {
    if (!plain(a, b) && are_tame(a, b)) [[unlikely]] {
      const Size d = a - b;
      if (d.value_ == 0) guard(d, 0, 0);
      else if (d.value_ < 0) guard(d, INT64_MIN, -1);
      else guard(d, 1, INT64_MAX);
    } else if (!plain(a, b)) {
      looked_at(0, a, b);
    }
    return a.value_ == b.value_;
  }
  friend constexpr bool operator<(const Size& a, const Size& b) {
    if (!plain(a, b) && are_tame(a, b)) [[unlikely]] {
      const Size d = a - b;
      if (d.value_ < 0) guard(d, INT64_MIN, -1);
      else guard(d, 0, INT64_MAX);
    } else if (!plain(a, b)) {
      looked_at(0, a, b);
    }
    return a.value_ < b.value_;
  }
  friend constexpr bool operator>(const Size& a, const Size& b) { return b < a; }
  friend constexpr bool operator<=(const Size& a, const Size& b) { return !(b < a); }
  friend constexpr bool operator>=(const Size& a, const Size& b) { return !(a < b); }

  constexpr Size& operator+=(const Size& o) & { return *this = *this + o; }
  template <std::integral T>
  constexpr Size& operator+=(T n) & { return *this = *this + Size(n); }
  constexpr Size& operator-=(const Size& o) & { return *this = *this - o; }
  template <std::integral T>
  constexpr Size& operator-=(T n) & { return *this = *this - Size(n); }
  constexpr Size& operator*=(const Size& o) & { return *this = *this * o; }
  template <std::integral T>
  constexpr Size& operator*=(T n) & { return *this = *this * Size(n); }
  constexpr Size& operator/=(const Size& o) & { return *this = *this / o; }
  template <std::integral T>
  constexpr Size& operator/=(T n) & { return *this = *this / Size(n); }
  constexpr Size& operator%=(const Size& o) & { return *this = *this % o; }
  template <std::integral T>
  constexpr Size& operator%=(T n) & { return *this = *this % Size(n); }
  constexpr Size& operator++() & { return *this += 1; }
  constexpr Size& operator--() & { return *this -= 1; }
  constexpr Size operator++(int) & {
    const Size before = *this;
    ++*this;
    return before;
  }
  constexpr Size operator--(int) & {
    const Size before = *this;
    --*this;
    return before;
  }

 private:
  std::int64_t value_ = 0;
  Extent extent_ = 0;
  std::uint64_t capture_ = 0;  ///< the capture that the symbols belong to; 0: a plain number
  SourceLine at_{};

  /// Results too large for 64 bits wrap around: an op may be given INT64_MIN, and checks it only after some arithmetic.
  static constexpr std::uint64_t bits(const Size& a) { return static_cast<std::uint64_t>(a.value_); }
  static constexpr std::int64_t wrapped(std::uint64_t b) { return static_cast<std::int64_t>(b); }
  static constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) { return b == -1 ? wrapped(0 - static_cast<std::uint64_t>(a)) : a / b; }
  static constexpr bool plain(const Size& a, const Size& b) { return (a.capture_ | b.capture_) == 0; }
  /// Are both in the range of sizes? Beyond it expressions have no room for them, and differences overflow.
  static constexpr bool are_tame(const Size& a, const Size& b) {
    constexpr std::int64_t most = std::int64_t{1} << 60;
    return a.value_ < most && a.value_ > -most && b.value_ < most && b.value_ > -most;
  }
  static constexpr Size looked_at(std::int64_t result, const Size& a, const Size& b) {
    guard(a, a.value_, a.value_);
    guard(b, b.value_, b.value_);
    return Size(result);
  }
  static constexpr Size made(std::int64_t value, Extent e, const Size& a, const Size& b) {
    const Size& captured = a.is_expression() ? a : b;
    return Size(value, e, captured.capture_, captured.at_);
  }
  static constexpr void guard(const Size& s, std::int64_t least, std::int64_t most) {
    if (s.is_expression()) detail::capture_mode->guard_size(s.extent_, least, most, s.at_);
  }
};
template <std::integral T>
constexpr Size operator+(const Size& a, T b) { return a + Size(b); }
template <std::integral T>
constexpr Size operator+(T a, const Size& b) { return Size(a) + b; }
template <std::integral T>
constexpr Size operator-(const Size& a, T b) { return a - Size(b); }
template <std::integral T>
constexpr Size operator-(T a, const Size& b) { return Size(a) - b; }
template <std::integral T>
constexpr Size operator*(const Size& a, T b) { return a * Size(b); }
template <std::integral T>
constexpr Size operator*(T a, const Size& b) { return Size(a) * b; }
template <std::integral T>
constexpr Size operator/(const Size& a, T b) { return a / Size(b); }
template <std::integral T>
constexpr Size operator/(T a, const Size& b) { return Size(a) / b; }
template <std::integral T>
constexpr Size operator%(const Size& a, T b) { return a % Size(b); }
template <std::integral T>
constexpr Size operator%(T a, const Size& b) { return Size(a) % b; }
template <std::integral T>
constexpr bool operator==(const Size& a, T b) { return a == Size(b); }
template <std::integral T>
constexpr bool operator<(const Size& a, T b) { return a < Size(b); }
template <std::integral T>
constexpr bool operator<(T a, const Size& b) { return Size(a) < b; }
template <std::integral T>
constexpr bool operator>(const Size& a, T b) { return a > Size(b); }
template <std::integral T>
constexpr bool operator>(T a, const Size& b) { return Size(a) > b; }
template <std::integral T>
constexpr bool operator<=(const Size& a, T b) { return a <= Size(b); }
template <std::integral T>
constexpr bool operator<=(T a, const Size& b) { return Size(a) <= b; }
template <std::integral T>
constexpr bool operator>=(const Size& a, T b) { return a >= Size(b); }
template <std::integral T>
constexpr bool operator>=(T a, const Size& b) { return Size(a) >= b; }

/// In a message, which only shows the number: no guard.
constexpr Text& operator<<(Text& out, const Size& n) { return out << n.hint(); }
constexpr Text& operator<<(Text&& out, const Size& n) { return out << n.hint(); }

/// A number as an operand beside Tensors.
template <class T>
concept NumberOrSize = std::is_arithmetic_v<T> || std::derived_from<T, Size>;
/// A number among the arguments of an op: a plain one, or a Size, which stays an expression.
struct SizeArgument {
  Size size;
  constexpr SizeArgument() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr SizeArgument(T v) : size(v) {}
  constexpr SizeArgument(const Size& s) : size(s) {}
};
struct NoneType;
/// Where a slice begins or ends: a number, or {} or tt::none for the first or the last element.
struct SliceBound {
  SizeArgument number;
  bool given = false;
  constexpr SliceBound() = default;
  constexpr SliceBound(const NoneType&) {}
  constexpr SliceBound(const SizeArgument& n) : number(n), given(true) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr SliceBound(T v) : number(v), given(true) {}
  constexpr SliceBound(const Size& s) : number(s), given(true) {}
  constexpr Size value(std::int64_t otherwise) const { return given ? number.size : Size(otherwise); }
};

}  // namespace tt
