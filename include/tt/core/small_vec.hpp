// SmallVec<T, N>: a growing array whose first N elements need no allocation. For run time only; constant expressions
// have Vec.
//   SmallVec<const Tensor*, 16> given;   given.push_back(&x);   f.run(given.data(), ...);
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace tt {

template <class T, int N>
class SmallVec {
  static constexpr bool trivial = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;

 public:
  constexpr SmallVec() noexcept : data_(few_) {}
  /// `count` elements: numbers and pointers uninitialised, others made by their default constructor.
  explicit SmallVec(int count) : SmallVec() { resize(count); }
  SmallVec(const SmallVec& o) : SmallVec() { append(o.data_, o.size_); }
  SmallVec(SmallVec&& o) noexcept : SmallVec() { take(o); }
  SmallVec& operator=(const SmallVec& o) {
    if (this != &o) {
      clear();
      append(o.data_, o.size_);
    }
    return *this;
  }
  SmallVec& operator=(SmallVec&& o) noexcept {
    if (this != &o) {
      clear();
      take(o);
    }
    return *this;
  }
  ~SmallVec() {
    destroy(0);
    if (data_ != few_) ::operator delete(static_cast<void*>(data_));
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](int k) { return data_[k]; }
  const T& operator[](int k) const { return data_[k]; }
  T& back() { return data_[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) [[unlikely]] reserve(2 * size_);
    ::new (static_cast<void*>(data_ + size_)) T(static_cast<T&&>(value));
    ++size_;
  }
  void append(const T* from, int count) {
    reserve(size_ + count);
    if constexpr (trivial) {
      if (count > 0) std::memcpy(static_cast<void*>(data_ + size_), from, sizeof(T) * static_cast<std::size_t>(count));
      size_ += count;
    } else {
      for (int k = 0; k < count; ++k) push_back(from[k]);
    }
  }
  /// Room for `count` elements behind the end; set_end(end) makes those before `end` elements.
  T* room(int count)
    requires trivial
  {
    reserve(size_ + count);
    return data_ + size_;
  }
  void set_end(const T* end) { size_ = static_cast<int>(end - data_); }
  void clear() { destroy(0); }
  /// New elements are made as in the constructor.
  void resize(int count) {
    if (count < size_) return destroy(count);
    reserve(count);
    if constexpr (!trivial)
      for (int k = size_; k < count; ++k) ::new (static_cast<void*>(data_ + k)) T();
    size_ = count;
  }
  void reserve(int count) {
    if (count > capacity_) [[unlikely]] grow(count);
  }

 private:
  T* data_;
  int size_ = 0, capacity_ = N;
  union {
    T few_[N];
  };

  void destroy(int from) {
    if constexpr (!trivial)
      for (int k = size_; k > from; --k) data_[k - 1].~T();
    size_ = from;
  }
  __attribute__((noinline)) void grow(int count) {
    const int capacity = count < 2 * capacity_ ? 2 * capacity_ : count;
    T* const fresh = static_cast<T*>(::operator new(sizeof(T) * static_cast<std::size_t>(capacity)));
    if constexpr (trivial) {
      std::memcpy(static_cast<void*>(fresh), data_, sizeof(T) * static_cast<std::size_t>(size_));
    } else {
      for (int k = 0; k < size_; ++k) {
        ::new (static_cast<void*>(fresh + k)) T(static_cast<T&&>(data_[k]));
        data_[k].~T();
      }
    }
    if (data_ != few_) ::operator delete(static_cast<void*>(data_));
    data_ = fresh;
    capacity_ = capacity;
  }
  /// Takes the elements of `o` while this is empty.
  void take(SmallVec& o) noexcept {
    if (o.data_ != o.few_) {
      if (data_ != few_) ::operator delete(static_cast<void*>(data_));
      data_ = std::exchange(o.data_, o.few_);
      capacity_ = std::exchange(o.capacity_, N);
      size_ = std::exchange(o.size_, 0);
      return;
    }
    for (int k = 0; k < o.size_; ++k) ::new (static_cast<void*>(data_ + k)) T(static_cast<T&&>(o.data_[k]));
    size_ = o.size_;
    o.destroy(0);
  }
};

}  // namespace tt
