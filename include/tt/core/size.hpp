// Size: what size() and numel() of a Tensor give: a whole number that knows, while a function is captured, of which sizes it is
// made. Handed on to ops, and in sums, differences and products, it stays what it is. Whoever looks at it (a comparison, a
// remainder, a loop, an index, any conversion to a plain integer) tells the capture, which then is one for that size alone.
//   x.reshape({x.size(0) * 2, -1})         one capture for every size
//   if (x.size(0) > 100) ...               one for each, and after a few of them calls are recorded anew
#pragma once
#include <concepts>
#include <cstdint>

#include "tt/core/capture_mode.hpp"

namespace tt {

class Size {
 public:
  constexpr Size() = default;
  template <std::integral T>
  constexpr Size(T value) : value_(static_cast<std::int64_t>(value)) {}
  /// `symbols`: the sizes that it is made of, as bits, numbered by the capture.
  constexpr Size(std::int64_t value, unsigned symbols, SourceLine at) : value_(value), symbols_(symbols), at_(at) {}

  constexpr operator std::int64_t() const {
    tell();
    return value_;
  }
  /// For those who hand it on to an op, where a capture sees it.
  constexpr std::int64_t untold() const { return value_; }

  friend constexpr Size operator+(const Size& a, const Size& b) { return made(a.value_ + b.value_, a, b); }
  friend constexpr Size operator-(const Size& a, const Size& b) { return made(a.value_ - b.value_, a, b); }
  friend constexpr Size operator*(const Size& a, const Size& b) { return made(a.value_ * b.value_, a, b); }
  /// One that leaves a remainder is looked at: floors are equal for several sizes.
  friend constexpr Size operator/(const Size& a, const Size& b) {
    b.tell();
    if (b.value_ == 0 || a.value_ % b.value_ != 0 || a.value_ == 0) a.tell();
    return made(a.value_ / b.value_, a, b);
  }
  friend constexpr std::int64_t operator%(const Size& a, const Size& b) { return std::int64_t{a} % std::int64_t{b}; }
  constexpr Size operator-() const { return Size(0) - *this; }

  friend constexpr bool operator==(const Size& a, const Size& b) { return std::int64_t{a} == std::int64_t{b}; }
  friend constexpr bool operator<(const Size& a, const Size& b) { return std::int64_t{a} < std::int64_t{b}; }
  friend constexpr bool operator>(const Size& a, const Size& b) { return b < a; }
  friend constexpr bool operator<=(const Size& a, const Size& b) { return !(b < a); }
  friend constexpr bool operator>=(const Size& a, const Size& b) { return !(a < b); }

  constexpr Size& operator+=(const Size& o) { return *this = *this + o; }
  constexpr Size& operator-=(const Size& o) { return *this = *this - o; }
  constexpr Size& operator*=(const Size& o) { return *this = *this * o; }
  constexpr Size& operator/=(const Size& o) { return *this = *this / o; }
  constexpr Size& operator++() { return *this += Size(1); }
  constexpr Size& operator--() { return *this -= Size(1); }

 private:
  std::int64_t value_ = 0;
  unsigned symbols_ = 0;
  SourceLine at_{};

  constexpr void tell() const {
    if (symbols_ != 0 && detail::capture_mode) [[unlikely]] detail::capture_mode->tell_sizes(symbols_, at_);
  }
  static constexpr Size made(std::int64_t value, const Size& a, const Size& b) {
    return Size(value, a.symbols_ | b.symbols_, a.symbols_ ? a.at_ : b.at_);
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
constexpr std::int64_t operator%(const Size& a, T b) { return a % Size(b); }
template <std::integral T>
constexpr std::int64_t operator%(T a, const Size& b) { return Size(a) % b; }
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

/// A number among the arguments of an op: a plain one, or a Size, which it does not look at.
struct SizeArgument {
  std::int64_t value = 0;
  bool is_size = false;
  constexpr SizeArgument() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr SizeArgument(T v) : value(static_cast<std::int64_t>(v)) {}
  constexpr SizeArgument(const Size& s) : value(s.untold()), is_size(true) {}
  constexpr operator std::int64_t() const { return value; }
};

}  // namespace tt
