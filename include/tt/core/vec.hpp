// Vec<T>: a growing array for constant expressions and run time alike.
// std::vector costs twice the compile time in constant evaluation and clang 19 with libstdc++ 12
// rejects parts of it there, so the graph compiler has these 50 lines.
#pragma once
#include <initializer_list>

namespace tt {

template <class T>
class Vec {
 public:
  constexpr Vec() = default;
  constexpr Vec(int count, T value) {
    reserve(count);
    for (int i = 0; i < count; ++i) data_[i] = value;
    size_ = count;
  }
  constexpr Vec(std::initializer_list<T> values) {
    reserve(static_cast<int>(values.size()));
    for (const T& value : values) data_[size_++] = value;
  }
  constexpr Vec(const Vec& other) {
    reserve(other.size_);
    for (int i = 0; i < other.size_; ++i) data_[i] = other.data_[i];
    size_ = other.size_;
  }
  constexpr Vec(Vec&& other) noexcept
      : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr Vec& operator=(Vec other) noexcept {
    T* data = data_;
    data_ = other.data_;
    other.data_ = data;
    size_ = other.size_;
    capacity_ = other.capacity_;
    return *this;
  }
  constexpr ~Vec() { delete[] data_; }

  constexpr void reserve(int capacity) {
    if (capacity <= capacity_) return;
    T* data = new T[static_cast<unsigned>(capacity)];
    for (int i = 0; i < size_; ++i) data[i] = static_cast<T&&>(data_[i]);
    delete[] data_;
    data_ = data;
    capacity_ = capacity;
  }
  constexpr void push_back(const T& value) {
    if (size_ < capacity_) data_[size_++] = value;
    else grow(T(value));  // a copy: it may be one of these elements
  }
  constexpr void push_back(T&& value) {
    if (size_ < capacity_) data_[size_++] = static_cast<T&&>(value);
    else grow(static_cast<T&&>(value));
  }
  /// Elements of another place.
  constexpr void append(const T* values, int count) {
    if (size_ + count > capacity_) reserve(size_ + count < 2 * capacity_ ? 2 * capacity_ : size_ + count < 16 ? 16 : size_ + count);
    for (int i = 0; i < count; ++i) data_[size_ + i] = values[i];
    size_ += count;
  }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }
  constexpr void resize(int size) { size_ = size; }  // shrinks only

  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

  friend constexpr bool operator==(const Vec& a, const Vec& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  constexpr void grow(T value) {
    reserve(capacity_ ? 2 * capacity_ : 16);
    data_[size_++] = static_cast<T&&>(value);
  }

  T* data_ = nullptr;
  int size_ = 0, capacity_ = 0;
};

}  // namespace tt
