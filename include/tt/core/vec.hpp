// Vec<T>: a growing array for constant expressions and run time alike. std::vector costs twice the compile time in
// constant evaluation, and clang 19 with libstdc++ 12 rejects parts of it there.
#pragma once
#include <initializer_list>
#include <type_traits>

namespace tt {

template <class T>
class Vec {
 public:
  /// The elements, for code that reads so many that the steps of a call count in constant evaluation.
  T* items = nullptr;

  constexpr Vec() = default;
  constexpr Vec(int count, T value) : size_(count), capacity_(count) {
    if (count > 0) items = new T[static_cast<unsigned>(count)]();
    if constexpr (std::is_integral_v<T>)  // the elements are 0 already
      if (value == 0) return;  // every iteration of a loop counts in constant evaluation
    for (int i = 0; i < count; ++i) items[i] = value;
  }
  constexpr Vec(std::initializer_list<T> values) {
    reserve(static_cast<int>(values.size()));
    for (const T& value : values) items[size_++] = value;
  }
  constexpr Vec(const Vec& other) {
    reserve(other.size_);
    transfer(static_cast<const T*>(other.items), other.size_, items);
    size_ = other.size_;
  }
  constexpr Vec(Vec&& other) noexcept
      : items(other.items), size_(other.size_), capacity_(other.capacity_) {
    other.items = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr Vec& operator=(Vec other) noexcept {
    T* data = items;
    items = other.items;
    other.items = data;
    size_ = other.size_;
    capacity_ = other.capacity_;
    return *this;
  }
  constexpr ~Vec() { delete[] items; }

  constexpr void reserve(int capacity) {
    if (capacity <= capacity_) return;
    T* data = new T[static_cast<unsigned>(capacity)];
    transfer(items, size_, data);
    delete[] items;
    items = data;
    capacity_ = capacity;
  }
  constexpr void push_back(const T& value) {
    if (size_ < capacity_) items[size_++] = value;
    else grow(T(value));  // a copy: it may be one of these elements
  }
  constexpr void push_back(T&& value) {
    if (size_ < capacity_) items[size_++] = static_cast<T&&>(value);
    else grow(static_cast<T&&>(value));
  }
  /// `values` are not elements of this Vec.
  constexpr void append(const T* values, int count) {
    if (size_ + count > capacity_) reserve(size_ + count < 2 * capacity_ ? 2 * capacity_ : size_ + count < 16 ? 16 : size_ + count);
    transfer(values, count, items + size_);
    size_ += count;
  }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }
  constexpr void resize(int size) { size_ = size; }  // shrinks only

  constexpr T& operator[](int i) { return items[i]; }
  constexpr const T& operator[](int i) const { return items[i]; }
  constexpr T& back() { return items[size_ - 1]; }
  constexpr const T& back() const { return items[size_ - 1]; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() { return items; }
  constexpr T* end() { return items + size_; }
  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + size_; }

  friend constexpr bool operator==(const Vec& a, const Vec& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (!(a.items[i] == b.items[i])) return false;
    return true;
  }

 private:
  /// Moves from a T*, copies from a const T*; by memcpy where that will do.
  template <class From>
  static constexpr void transfer(From* from, int count, T* to) {
    if constexpr (__is_trivially_copyable(T))
      if (!__builtin_is_constant_evaluated()) {
        if (count > 0) __builtin_memcpy(static_cast<void*>(to), from, static_cast<unsigned>(count) * sizeof(T));
        return;
      }
    for (int i = 0; i < count; ++i) to[i] = static_cast<From&&>(from[i]);
  }
  constexpr void grow(T value) {
    reserve(capacity_ ? 2 * capacity_ : 16);
    items[size_++] = static_cast<T&&>(value);
  }

  int size_ = 0, capacity_ = 0;
};

}  // namespace tt
