// IntList: sizes, axes or steps as ops take them, and as shape() of a Tensor gives them.
//   x.reshape({x.size(0) * 2, -1});    tt::zeros(x.shape());    for (tt::Size n : x.shape()) ...
#pragma once
#include <initializer_list>
#include <span>

#include "tt/core/size.hpp"
#include "tt/core/small_vec.hpp"

namespace tt {
namespace detail {
/// A std::vector, a std::array, or another container whose integers are contiguous.
template <class C>
concept HoldsIntegers = requires(const C& c) {
  c.size();
  requires std::integral<std::remove_cvref_t<decltype(*c.data())>> && (sizeof(*c.data()) > 1);
};
/// A container with push_back for integers.
template <class C>
concept TakesIntegers = std::integral<typename C::value_type> && sizeof(typename C::value_type) > 1 && requires(C& c) { c.push_back(typename C::value_type{}); };
}  // namespace detail

/// A short list of integers (sizes, axes), given as {2, 3}, as a container, or as one integer. Each is a Size: in a captured function it stays an
/// expression when it is passed to ops; when it is compared or converted to a plain integer its value is guarded; when it is printed it is not.
///   for (tt::Size n : x.shape()) ...    tt::zeros(x.shape())    x.shape() == tt::Shape{2, 3}
class IntList {
 public:
  IntList() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  IntList(T one) { push_back(static_cast<std::int64_t>(one)); }
  IntList(const Size& one) { push_back(one); }
  IntList(std::initializer_list<SizeArgument> v) {
    for (const SizeArgument& n : v) push_back(n.size);
  }
  IntList(std::span<const std::int64_t> v) { assign(v.data(), static_cast<int>(v.size())); }
  template <detail::HoldsIntegers C>
  IntList(const C& numbers) {
    for (const auto n : numbers) push_back(static_cast<std::int64_t>(n));
  }
  template <class T>
    requires std::same_as<T, Shape>
  IntList(const T& s) { assign(s.code, s.rank); }

  int size() const { return value_.size(); }
  Size operator[](int i) const {
    return is_expression(i) ? Size(value_[i], expression_[i], capture_, {}) : Size(value_[i]);
  }
  struct Element;
  Element operator[](int i);
  void push_back(std::int64_t v) {
    value_.push_back(v);
    if (!expression_.empty()) expression_.push_back(v);
  }
  void push_back(const Size& s) {
    push_back(s.hint());
    if (s.is_expression()) [[unlikely]] set(size() - 1, s);
  }
  void set(int i, const Size& s) {
    value_[i] = s.hint();
    if (s.is_expression() && (expression_.empty() || capture_ != detail::capture_mode->capture_number)) [[unlikely]] {
      capture_ = detail::capture_mode->capture_number;
      expression_.clear();
      for (const std::int64_t n : value_) expression_.push_back(n);
    }
    if (!expression_.empty()) expression_[i] = s.is_expression() ? s.extent() : Extent(s.hint());
  }
  operator Shape() const {
    Shape s;
    for (int k = 0; k < size(); ++k) s.push_back(std::int64_t{(*this)[k]});
    return s;
  }
  template <detail::TakesIntegers C>
  operator C() const {
    C numbers;
    for (int k = 0; k < size(); ++k) numbers.push_back(static_cast<typename C::value_type>(value(k)));
    return numbers;
  }
  friend bool operator==(const IntList& a, const IntList& b) {
    bool same = a.size() == b.size();
    for (int k = 0; same && k < a.size(); ++k) same = a[k] == b[k];
    return same;
  }
  friend bool operator==(const IntList& a, const Shape& b) { return a == IntList(b); }
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Size;
    using difference_type = std::ptrdiff_t;
    using pointer = const Size*;
    using reference = Size;
    Iterator() = default;
    Iterator(const IntList& list, int at) : list_(&list), at_(at) {}
    Size operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {*list_, at_++}; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const IntList* list_ = nullptr;
    int at_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  friend Text& operator<<(Text& out, const IntList& s) {
    out << '(';
    for (int k = 0; k < s.size(); ++k) out << (k ? ", " : "") << s.value_[k];
    return out << (s.size() == 1 ? ",)" : ")");
  }
  friend Text& operator<<(Text&& out, const IntList& s) { return out << s; }

  std::int64_t value(int i) const { return (*this)[i]; }
  // For callers that pass both on: the numbers in this call, and their expressions.
  std::span<const std::int64_t> hints() const { return {value_.data(), static_cast<std::size_t>(size())}; }
  std::int64_t hint(int i) const { return value_[i]; }
  Extent extent(int i) const { return is_expression(i) ? expression_[i] : Extent(value_[i]); }
  bool has_expressions() const {
    return !expression_.empty() && detail::capture_mode && detail::capture_mode->capture_number == capture_;
  }
  bool is_expression(int i) const { return !expression_.empty() && !expression_[i].is_constant() && has_expressions(); }

 private:
  SmallVec<std::int64_t, 12> value_;
  Vec<Extent> expression_;  ///< of one capture: as many as there are sizes, or none
  std::uint64_t capture_ = 0;
  void assign(const std::int64_t* v, int n) { value_.append(v, n); }
};
template <class T>
concept SizeOrInteger = std::integral<T> || std::derived_from<T, Size>;
/// sizes[0], to be read or changed in place: sizes[0] += 1. A named copy, auto n = sizes[0], is a Size of its own.
struct IntList::Element : Size {
  Element(IntList& list, int at) : Size(static_cast<const IntList&>(list)[at]), list_(list), at_(at) {}
  Element(const Element&) = default;
  Element operator=(const Element& e) && { return write(e); }
  Element& operator=(const Element& e) & {
    Size::operator=(e);
    return *this;
  }
  template <SizeOrInteger T>
  Element operator=(const T& n) && { return write(Size(n)); }
  template <SizeOrInteger T>
  Element& operator=(const T& n) & {
    Size::operator=(Size(n));
    return *this;
  }
  using Size::operator+=;
  using Size::operator-=;
  using Size::operator*=;
  using Size::operator/=;
  using Size::operator%=;
  using Size::operator++;
  using Size::operator--;
  template <SizeOrInteger T>
  Element operator+=(const T& n) && { return write(*this + n); }
  template <SizeOrInteger T>
  Element operator-=(const T& n) && { return write(*this - n); }
  template <SizeOrInteger T>
  Element operator*=(const T& n) && { return write(*this * n); }
  template <SizeOrInteger T>
  Element operator/=(const T& n) && { return write(*this / n); }
  template <SizeOrInteger T>
  Element operator%=(const T& n) && { return write(*this % n); }
  Element operator++() && { return write(*this + 1); }
  Element operator--() && { return write(*this - 1); }
  Size operator++(int) && {
    write(*this + 1);
    return *this;
  }
  Size operator--(int) && {
    write(*this - 1);
    return *this;
  }
  friend void swap(Element&& a, Element&& b) {
    a.write(b);
    b.write(a);
  }

 private:
  IntList& list_;
  int at_;
  Element write(const Size& s) const {
    list_.set(at_, s);
    return {list_, at_};
  }
};
inline IntList::Element IntList::operator[](int i) { return {*this, i}; }

namespace detail {
/// The first of several sizes that are given without braces; it records the caller's line.
struct FirstSize {
  SizeArgument number;
  SourceLine at;
  template <SizeOrInteger T>
  FirstSize(const T& n, SourceLine line = here()) : number(n), at(line) {}
};
}  // namespace detail
/// An IntList of the numbers in braces.
template <std::integral I>
IntList list_of(std::initializer_list<I> numbers) {
  IntList list;
  for (const I n : numbers) list.push_back(static_cast<std::int64_t>(n));
  return list;
}

/// A shape of sizes; throws Error beyond max_rank, below 0, or when the elements cannot be counted.
inline Shape shape_of(const IntList& sizes, const char* op = "Tensor", SourceLine at = {}) {
  if (sizes.size() > max_rank)
    TT_THROW(Error(Text("tt::") << op << ": rank is too high: " << sizes.size() << ", at most is "
                                << max_rank << "." << at));
  Shape s;
  for (std::int64_t n : sizes.hints()) {
    if (n < 0) TT_THROW(Error(Text("tt::") << op << ": a size is negative: " << n << "." << at));
    s.push_back(n);
  }
  if (!is_countable(s)) TT_THROW(Error(describe({.mistake = Mistake::too_many_elements, .op = op, .a = s, .where = at})));
  return s;
}

}  // namespace tt
