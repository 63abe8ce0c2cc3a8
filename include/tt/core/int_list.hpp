// IntList: what ops are given where they take sizes, axes or steps, and what shape() of a Tensor gives.
//   x.reshape({x.size(0) * 2, -1});    tt::zeros(x.shape());    for (tt::Size n : x.shape()) ...
#pragma once
#include <initializer_list>
#include <span>

#include "tt/core/size.hpp"

namespace tt {

/// Sizes, axes: a short list of integers, given as {2, 3}, from a container, or one of them as it is. Each is a Size: handed on
/// to ops it stays what it is in a captured function; compared, or taken as plain extents, it is looked at; in messages it is not.
///   for (tt::Size n : x.shape()) ...    tt::zeros(x.shape())    x.shape() == tt::Shape{2, 3}
class IntList {
 public:
  static constexpr int capacity = 2 * max_rank;  ///< two for each axis, as pad takes them
  constexpr IntList() {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr IntList(T one) { push_back(static_cast<std::int64_t>(one)); }
  constexpr IntList(const Size& one) { push_back(one); }
  constexpr IntList(std::initializer_list<SizeArgument> v) {
    for (const SizeArgument& n : v) push_back(n.size);
  }
  constexpr IntList(std::span<const std::int64_t> v) { assign(v.data(), static_cast<int>(v.size())); }
  template <class T>
    requires std::same_as<T, Shape>
  constexpr IntList(const T& s) { assign(s.code, s.rank); }

  constexpr int size() const { return size_; }
  constexpr Size operator[](int i) const {
    return is_expression(i) ? Size(value_[i], expression_[i], capture_, {}) : Size(value_[i]);
  }
  struct Element;
  constexpr Element operator[](int i);
  constexpr void push_back(std::int64_t v) {
    if (size_ == capacity) TT_THROW(Error(Text("tt: at most ") << capacity << " axes or sizes can be given."));
    value_[size_++] = v;
  }
  constexpr void push_back(const Size& s) {
    push_back(s.value());
    set(size_ - 1, s);
  }
  constexpr void set(int i, const Size& s) {
    value_[i] = s.value();
    expressions_ &= ~(1u << i);
    if (s.is_expression()) {
      if (capture_ != detail::capture_mode->capture_number) expressions_ = 0;
      capture_ = detail::capture_mode->capture_number;
      expression_[i] = s.extent();
      expressions_ |= 1u << i;
    }
  }
  constexpr operator Shape() const {
    Shape s;
    for (int k = 0; k < size_; ++k) s.push_back(std::int64_t{(*this)[k]});
    return s;
  }
  friend constexpr bool operator==(const IntList& a, const IntList& b) {
    bool same = a.size_ == b.size_;
    for (int k = 0; same && k < a.size_; ++k) same = a[k] == b[k];
    return same;
  }
  friend constexpr bool operator==(const IntList& a, const Shape& b) { return a == IntList(b); }
  class Iterator {
   public:
    constexpr Iterator(const IntList& list, int at) : list_(list), at_(at) {}
    constexpr Size operator*() const { return list_[at_]; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend constexpr bool operator!=(const Iterator& a, const Iterator& b) { return a.at_ != b.at_; }

   private:
    const IntList& list_;
    int at_;
  };
  constexpr Iterator begin() const { return {*this, 0}; }
  constexpr Iterator end() const { return {*this, size_}; }
  friend constexpr Text& operator<<(Text& out, const IntList& s) {
    out << '(';
    for (int k = 0; k < s.size_; ++k) out << (k ? ", " : "") << s.value_[k];
    return out << (s.size_ == 1 ? ",)" : ")");
  }
  friend constexpr Text& operator<<(Text&& out, const IntList& s) { return out << s; }

  // For those who hand both on: the numbers, and what they are expressions of.
  constexpr std::span<const std::int64_t> values() const { return {value_, static_cast<std::size_t>(size_)}; }
  constexpr std::int64_t value(int i) const { return value_[i]; }
  constexpr Extent extent(int i) const { return is_expression(i) ? expression_[i] : Extent(value_[i]); }
  constexpr bool has_expressions() const {
    return expressions_ != 0 && detail::capture_mode && detail::capture_mode->capture_number == capture_;
  }
  constexpr bool is_expression(int i) const { return (expressions_ >> i & 1) && has_expressions(); }

 private:
  int size_ = 0;
  unsigned expressions_ = 0;  ///< as bits: which sizes are, of one capture
  std::uint64_t capture_ = 0;
  std::int64_t value_[capacity] = {};
  union {
    Extent expression_[capacity];
  };
  constexpr void assign(const std::int64_t* v, int n) {
    for (int i = 0; i < n; ++i) push_back(v[i]);
  }
};
struct IntList::Element : Size {
  constexpr Element(IntList& list, int at) : Size(static_cast<const IntList&>(list)[at]), list_(list), at_(at) {}
  constexpr Element& operator=(const Size& s) {
    list_.set(at_, s);
    return *this;
  }
  template <std::integral T>
  constexpr Element& operator=(T n) { return *this = Size(n); }

 private:
  IntList& list_;
  int at_;
};
constexpr IntList::Element IntList::operator[](int i) { return {*this, i}; }

/// A shape of sizes; throws Error beyond max_rank, below 0, or when the elements cannot be counted.
constexpr Shape shape_of(const IntList& sizes, const char* op = "Tensor", SourceLine at = {}) {
  if (sizes.size() > max_rank)
    TT_THROW(Error(Text("tt::") << op << ": rank is too high: " << sizes.size() << ", at most is "
                                << max_rank << "." << at));
  Shape s;
  for (std::int64_t n : sizes.values()) {
    if (n < 0) TT_THROW(Error(Text("tt::") << op << ": a size is negative: " << n << "." << at));
    s.push_back(n);
  }
  if (!is_countable(s)) TT_THROW(Error(describe({.mistake = Mistake::too_many_elements, .op = op, .a = s, .where = at})));
  return s;
}

}  // namespace tt
