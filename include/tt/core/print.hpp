// Printing in NumPy's form: eight significant digits at most, columns aligned, long axes cut.
//   std::cout << a;   [[1.   2.5 ]
//                      [3.   4.25]]
#pragma once
#include <cstdio>
#include <cstring>

#include "tt/core/array.hpp"

namespace tt {
namespace detail {

inline constexpr std::int64_t summarize_above = 1000, edge_items = 3;

struct NumberColumn {
  int before = 0, after = 0;  // widths left and right of the point
  bool scientific = false;
};

/// The shortest of up to eight significant digits that NumPy would show: "2.5", "-inf".
inline void digits_of(double v, bool scientific, char* out, std::size_t size) {
  if (v != v) {
    std::snprintf(out, size, "nan");
    return;
  }
  for (int precision = 0; precision <= 8; ++precision) {
    std::snprintf(out, size, scientific ? "%.*e" : "%.*f", precision, v);
    char exact[64];
    std::snprintf(exact, sizeof exact, scientific ? "%.8e" : "%.8f", v);
    if (std::strtod(out, nullptr) == std::strtod(exact, nullptr)) return;
  }
}

template <class T>
class NumPyPrinter {
 public:
  NumPyPrinter(const T* data, const std::int64_t* shape, int rank)
      : data_(data), shape_(shape), rank_(rank) {
    std::int64_t size = 1;
    for (int k = 0; k < rank; ++k) size *= shape[k];
    cut_ = size > summarize_above;
    each(0, 0, [&](std::int64_t i) { measure(data[i]); });
    if constexpr (std::is_floating_point_v<T>) {
      if (largest_ >= 1e8 || (smallest_ > 0 && smallest_ < 1e-4) ||
          (smallest_ > 0 && largest_ / smallest_ > 1000 && largest_ > 1e3 && smallest_ < 1e-4)) {
        column_ = {};
        column_.scientific = true;
      }
      column_.before = column_.after = 0;
      each(0, 0, [&](std::int64_t i) { widen(data[i]); });
    }
  }
  Text text() const {
    Text t;
    if (rank_ == 0) element(t, data_[0], false);
    else row(t, 0, 0);
    return t;
  }

 private:
  const T* data_;
  const std::int64_t* shape_;
  int rank_;
  bool cut_ = false;
  double largest_ = 0, smallest_ = 0;
  NumberColumn column_;

  template <class F>
  void each(int axis, std::int64_t offset, const F& f) const {
    if (axis == rank_) {
      f(offset);
      return;
    }
    for (std::int64_t i = 0; i < shape_[axis]; ++i) {
      if (skipped(axis, i)) continue;
      each(axis + 1, offset * shape_[axis] + i, f);
    }
  }
  bool skipped(int axis, std::int64_t i) const {
    return cut_ && shape_[axis] > 2 * edge_items && i >= edge_items &&
           i < shape_[axis] - edge_items;
  }
  void measure(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      const double v = value < 0 ? -static_cast<double>(value) : static_cast<double>(value);
      if (v != v || v > 1.7e308 || v == 0) return;
      if (v > largest_) largest_ = v;
      if (smallest_ == 0 || v < smallest_) smallest_ = v;
    } else {
      widen(value);
    }
  }
  void widen(T value) {
    char s[64];
    spell(value, s, sizeof s);
    const char* point = std::strchr(s, '.');
    const int length = static_cast<int>(std::strlen(s));
    const int before = point ? static_cast<int>(point - s) : length;
    if (before > column_.before) column_.before = before;
    if (point && length - before - 1 > column_.after) column_.after = length - before - 1;
  }
  void spell(T value, char* s, std::size_t size) const {
    if constexpr (std::is_same_v<T, bool>) {
      std::snprintf(s, size, value ? "True" : "False");
    } else if constexpr (std::is_integral_v<T>) {
      std::snprintf(s, size, "%lld", static_cast<long long>(value));
    } else {
      digits_of(static_cast<double>(value), column_.scientific, s, size);
      if (!std::strpbrk(s, ".ni")) {
        char* e = std::strchr(s, 'e');  // a point: "1." or "1.e+10"
        char rest[32] = "";
        if (e) {
          std::snprintf(rest, sizeof rest, "%s", e);
          *e = 0;
        }
        const std::size_t n = std::strlen(s);
        std::snprintf(s + n, size - n, ".%s", rest);
      }
    }
  }
  void element(Text& t, T value, bool aligned = true) const {
    char s[64];
    spell(value, s, sizeof s);
    if (!aligned) {
      t << s;
      return;
    }
    const char* point = std::strchr(s, '.');
    const int length = static_cast<int>(std::strlen(s));
    const int before = point ? static_cast<int>(point - s) : length;
    const int width = column_.before + (column_.after || std::is_floating_point_v<T> ? 1 : 0) +
                      column_.after;
    const bool special = std::is_floating_point_v<T> && !point;  // nan and inf: right-aligned
    const int pad = special ? width - length : column_.before - before;
    for (int i = 0; i < pad; ++i) t << ' ';
    t << s;
    if (std::is_floating_point_v<T> && !special)
      for (int i = length - before - 1; i < column_.after; ++i) t << ' ';
  }
  void row(Text& t, int axis, std::int64_t offset) const {
    t << '[';
    for (std::int64_t i = 0; i < shape_[axis]; ++i) {
      if (skipped(axis, i)) {
        if (i == edge_items) {
          separate(t, axis);
          t << "...";
        }
        continue;
      }
      if (i > 0) separate(t, axis);
      if (axis + 1 == rank_) element(t, data_[offset * shape_[axis] + i]);
      else row(t, axis + 1, offset * shape_[axis] + i);
    }
    t << ']';
  }
  void separate(Text& t, int axis) const {
    if (axis + 1 == rank_) {
      t << ' ';
      return;
    }
    for (int k = axis + 1; k < rank_; ++k) t << '\n';
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

template <class Stream, class T, std::int64_t... E>
  requires requires(Stream& s, const char* p) { s.write(p, 1L); }
Stream& operator<<(Stream& stream, const Array<T, E...>& a) {
  return stream << to_string(a);
}

}  // namespace tt
