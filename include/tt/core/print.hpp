// Printing in NumPy's form: the shortest digits that read back as the number (eight after the point at most), columns
// aligned, lines of at most 75 characters, only the ends of long axes of large arrays.
//   std::cout << a;   [[1.   2.5 ]
//                      [3.   4.25]]
// The rules are those of numpy.array2string with its default options.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tt/core/array.hpp"
#include "tt/core/array_view.hpp"
#include "tt/core/keys.hpp"

namespace tt {
namespace detail {

inline constexpr std::int64_t summarize_above = 1000, edge_items = 3;
inline constexpr int line_width = 75, most_decimals = 8;

/// The fewest significant digits in "%.*e" that read back as v; v is finite.
template <class T>
int shortest_digits(T v) {
  char s[64];
  for (int digits = 1; digits < 17; ++digits) {
    std::snprintf(s, sizeof s, "%.*e", digits - 1, static_cast<double>(v));
    const bool same = std::is_same_v<T, double> ? std::strtod(s, nullptr) == static_cast<double>(v)
                                                : static_cast<float>(T(std::strtof(s, nullptr))) == static_cast<float>(v);
    if (same) return digits;
  }
  return 17;
}
template <class T>
int decimal_exponent(T v, int digits) {
  char s[64];
  std::snprintf(s, sizeof s, "%.*e", digits - 1, static_cast<double>(v));
  return std::atoi(std::strchr(s, 'e') + 1);
}

/// Which elements are shown: all, or where there are many the first and last three of each axis.
struct ShownElements {
  std::int64_t shape[max_rank] = {}, stride[max_rank] = {};
  int rank = 0;
  std::int64_t size = 1, most, edge;

  /// Without strides: contiguous.
  ShownElements(const std::int64_t* extents, const std::int64_t* strides, int axes, std::int64_t above = summarize_above, std::int64_t edge_count = edge_items) : rank(axes), most(above), edge(edge_count) {
    for (int k = rank - 1; k >= 0; --k) {
      shape[k] = extents[k];
      stride[k] = strides ? strides[k] : size;
      size *= shape[k];
    }
  }
  bool many() const { return size > most; }
  bool skipped(int axis, std::int64_t i) const {
    return many() && shape[axis] > 2 * edge && i >= edge && i < shape[axis] - edge;
  }
  /// The index shown after i.
  std::int64_t next(int axis, std::int64_t i) const { return skipped(axis, i + 1) ? shape[axis] - edge : i + 1; }
  /// f(offset) in row-major order.
  template <class F>
  void each(const F& f, int axis = 0, std::int64_t offset = 0) const {
    if (axis == rank) {
      f(offset);
      return;
    }
    for (std::int64_t i = 0; i < shape[axis]; i = next(axis, i)) each(f, axis + 1, offset + i * stride[axis]);
  }
};

/// One number of an array, split at the point for alignment.
struct SpelledNumber {
  char text[96] = "";
  int before = 0, after = 0;  // characters left and right of the point
  bool special = false;       // nan, inf
};

template <class T>
class NumPyPrinter {
 public:
  NumPyPrinter(const T* data, const std::int64_t* shape, int rank)
      : data_(data), shown_(shape, nullptr, rank) {
    if (rank == 0 || shown_.size == 0) return;
    if constexpr (is_floating(dtype_of<T>)) {
      each([&](T v) { measure(v); });
      scientific_ = largest_ >= 1e8 || (smallest_ > 0 && (smallest_ < 1e-4 ||
                                                          largest_ / smallest_ > 1000.0));
      if (scientific_) each([&](T v) { widen_mantissa(v); });
    }
    each([&](T v) { widen(spell(v)); });
    if (specials_ && left_ < 3 + negative_infinity_ - (right_ + 1))
      left_ = 3 + negative_infinity_ - (right_ + 1);
  }
  Text text() const {
    if (shown_.size == 0) return Text("[]");
    Text t;
    if (shown_.rank == 0) return t << scalar(*data_).text;
    row(t, 0, 0);
    return t;
  }

 private:
  const T* data_;
  ShownElements shown_;
  bool scientific_ = false, specials_ = false;
  int negative_infinity_ = 0;
  double largest_ = 0, smallest_ = 0;
  int mantissa_ = 0, exponent_width_ = 2;  // scientific: digits after the point, of the exponent
  int left_ = 0, right_ = 0;

  template <class F>
  void each(const F& f) const {
    shown_.each([&](std::int64_t offset) { f(data_[offset]); });
  }
  static bool is_special(T v) { return v != v || v - v != 0; }
  void measure(T v) {
    if (is_special(v)) {
      specials_ = true;
      if (v < 0) negative_infinity_ = 1;
      return;
    }
    const double a = v < 0 ? -static_cast<double>(v) : static_cast<double>(v);
    if (a == 0) return;
    if (a > largest_) largest_ = a;
    if (smallest_ == 0 || a < smallest_) smallest_ = a;
  }
  void widen_mantissa(T v) {
    if (is_special(v)) return;
    const int digits = shortest_digits(v) - 1;
    if (digits > mantissa_) mantissa_ = digits < most_decimals ? digits : most_decimals;
    const int e = decimal_exponent(v, mantissa_ + 1);
    if (e >= 100 || e <= -100) exponent_width_ = 3;
  }
  void widen(const SpelledNumber& n) {
    if (n.special) return;
    if (n.before > left_) left_ = n.before;
    if (n.after > right_) right_ = n.after;
  }

  SpelledNumber spell(T value) const {
    SpelledNumber n;
    if constexpr (std::is_same_v<T, bool>) {
      std::snprintf(n.text, sizeof n.text, value ? "True" : "False");
    } else if constexpr (is_integral(dtype_of<T>)) {
      std::snprintf(n.text, sizeof n.text, "%lld", static_cast<long long>(value));
    } else if (is_special(value)) {
      n.special = true;
      std::snprintf(n.text, sizeof n.text, value != value ? "nan" : value > 0 ? "inf" : "-inf");
    } else if (scientific_) {
      spell_scientific(n, value);
    } else {
      const int digits = shortest_digits(value);
      int decimals = digits - 1 - decimal_exponent(value, digits);
      decimals = decimals < 0 ? 0 : decimals > most_decimals ? most_decimals : decimals;
      std::snprintf(n.text, sizeof n.text, "%.*f", decimals, static_cast<double>(value));
      cut_zeros(n.text);
    }
    const int length = static_cast<int>(std::strlen(n.text));
    const char* point = std::strchr(n.text, '.');
    n.before = point ? static_cast<int>(point - n.text) : length;
    n.after = point ? length - n.before - 1 : 0;
    return n;
  }
  /// "2.500" is "2.5", "3" is "3.".
  static void cut_zeros(char* s) {
    if (!std::strchr(s, '.')) {
      std::strcat(s, ".");
      return;
    }
    for (char* end = s + std::strlen(s) - 1; *end == '0'; --end) *end = 0;
  }
  void spell_scientific(SpelledNumber& n, T value) const {
    char s[64];
    std::snprintf(s, sizeof s, "%.*e", mantissa_, static_cast<double>(value));
    char* e = std::strchr(s, 'e');
    const int exponent = std::atoi(e + 1);
    *e = 0;
    std::snprintf(n.text, sizeof n.text, "%s%se%c%0*d", s, std::strchr(s, '.') ? "" : ".",
                  exponent < 0 ? '-' : '+', exponent_width_, exponent < 0 ? -exponent : exponent);
  }
  /// A single number, as Python prints it: 3.0, 1e-05.
  SpelledNumber scalar(T value) const {
    if constexpr (is_floating(dtype_of<T>)) {
      SpelledNumber n;
      if (is_special(value)) return spell(value);
      const int digits = shortest_digits(value), exponent = decimal_exponent(value, digits);
      if (value != 0 && (exponent < -4 || exponent >= 16)) {
        std::snprintf(n.text, sizeof n.text, "%.*e", digits - 1, static_cast<double>(value));
      } else {
        const int decimals = digits - 1 - exponent;
        std::snprintf(n.text, sizeof n.text, "%.*f", decimals > 1 ? decimals : 1,
                      static_cast<double>(value));
      }
      return n;
    } else {
      return spell(value);
    }
  }

  Text element(T value) const {
    const SpelledNumber n = spell(value);
    constexpr bool floating = is_floating(dtype_of<T>);
    const int length = static_cast<int>(std::strlen(n.text));
    Text t;
    const int pad = n.special ? left_ + 1 + right_ - length : left_ - n.before;
    for (int i = 0; i < pad; ++i) t << ' ';
    t << n.text;
    if (floating && !n.special)
      for (int i = n.after; i < right_; ++i) t << ' ';
    return t;
  }
  void row(Text& t, int axis, std::int64_t offset) const {
    t << '[';
    int column = shown_.rank;
    const int most = line_width - shown_.rank;
    const bool last_axis = axis + 1 == shown_.rank;
    const auto put = [&](bool first, const Text& word) {
      if (!first) separate(t, axis, word, column, most);
      if (last_axis) column += word.size() + (first ? 0 : 1);
      t << word;
    };
    for (std::int64_t i = 0; i < shown_.shape[axis]; i = shown_.next(axis, i)) {
      if (i > 0 && shown_.skipped(axis, i - 1)) put(false, "...");
      const std::int64_t at = offset + i * shown_.stride[axis];
      put(i == 0, last_axis ? element(data_[at]) : Text());
      if (!last_axis) row(t, axis + 1, at);
    }
    t << ']';
  }
  void separate(Text& t, int axis, const Text& word, int& column, int most) const {
    if (axis + 1 == shown_.rank) {
      if (column + 1 + word.size() <= most) {
        t << ' ';
        return;
      }
      t.trim_right() << '\n';
      for (int k = 0; k < shown_.rank; ++k) t << ' ';
      column = shown_.rank - 1;
      return;
    }
    for (int k = axis + 1; k < shown_.rank; ++k) t << '\n';
    for (int k = 0; k <= axis; ++k) t << ' ';
  }
};

}  // namespace detail

/// An Array as NumPy prints it.
template <class T, std::int64_t... E>
Text to_string(const Array<T, E...>& a) {
  std::int64_t shape[max_rank] = {};
  for (int k = 0; k < a.rank; ++k) shape[k] = a.extent(k);
  return detail::NumPyPrinter<T>(a.data(), shape, a.rank).text();
}

template <class T, std::int64_t... E>
Text to_string(const ArrayView<T, E...>& a) { return to_string(a.eval()); }

template <CharStream Stream, class T, std::int64_t... E>
Stream& operator<<(Stream& stream, const Array<T, E...>& a) {
  return stream << to_string(a);
}
template <CharStream Stream, class T, std::int64_t... E>
Stream& operator<<(Stream& stream, const ArrayView<T, E...>& a) {
  return stream << to_string(a);
}
/// (2, 3)
template <CharStream Stream>
Stream& operator<<(Stream& stream, const Shape& s) {
  return stream << (Text() << s);
}
/// f32
template <CharStream Stream>
Stream& operator<<(Stream& stream, DType d) {
  return stream << Text(name(d));
}
/// cpu, cuda:1
template <CharStream Stream>
Stream& operator<<(Stream& stream, Device d) {
  return stream << to_text(d);
}

}  // namespace tt
