// Tensor: the run-time handle. Dtype and shape are known at run time, storage is shared; a copy of
// a Tensor is another handle on the same elements. Dense and row-major.
//   tt::Tensor t = tt::tensor({1, 2, 3});   tt::Tensor s = tt::silu(t);
#pragma once
#include <atomic>
#include <bit>
#include <initializer_list>
#include <span>

#include "tt/core/storage.hpp"

namespace tt {

struct TensorFront;

/// What decides which kernel an op runs; a higher one is asked first.
enum class DispatchKey : std::uint8_t { cpu, cuda, meta, private_use, count };

/// A set of dispatch keys.
class KeySet {
 public:
  constexpr KeySet() = default;
  constexpr KeySet(DispatchKey k) : bits_(std::uint64_t{1} << static_cast<int>(k)) {}
  constexpr KeySet operator|(KeySet o) const { return KeySet(bits_ | o.bits_); }
  constexpr KeySet without(KeySet o) const { return KeySet(bits_ & ~o.bits_); }
  constexpr bool contains(DispatchKey k) const { return bits_ >> static_cast<int>(k) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DispatchKey highest() const {
    return static_cast<DispatchKey>(63 - std::countl_zero(bits_));
  }

 private:
  explicit constexpr KeySet(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = 0;
};
static_assert((KeySet(DispatchKey::cpu) | DispatchKey::meta).highest() == DispatchKey::meta);

class Tensor {
 public:
  using tt_front = TensorFront;

  Tensor() = default;
  /// Uninitialised elements.
  Tensor(DType dtype, const Shape& shape, KeySet keys = DispatchKey::cpu)
      : dtype_(dtype), shape_(shape), keys_(keys) {
    std::int64_t bytes = shape.size().code * size_of(dtype);
    void* memory = allocate_bytes(sizeof(Storage) + storage_alignment + static_cast<std::size_t>(bytes));
    storage_ = ::new (memory) Storage{};
  }
  Tensor(const Tensor& o) : storage_(o.storage_), dtype_(o.dtype_), shape_(o.shape_), keys_(o.keys_) {
    if (storage_) storage_->uses.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& o) noexcept
      : storage_(o.storage_), dtype_(o.dtype_), shape_(o.shape_), keys_(o.keys_) {
    o.storage_ = nullptr;
  }
  Tensor& operator=(Tensor o) noexcept {
    Storage* s = storage_;
    storage_ = o.storage_;
    o.storage_ = s;
    dtype_ = o.dtype_;
    shape_ = o.shape_;
    keys_ = o.keys_;
    return *this;
  }
  ~Tensor() {
    if (storage_ && storage_->uses.fetch_sub(1, std::memory_order_acq_rel) == 1)
      free_bytes(storage_);
  }

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return storage_ ? shape_.size().code : 0; }
  KeySet keys() const { return keys_; }
  void* data() { return bytes(); }
  const void* data() const { return bytes(); }
  /// The elements; T must be the dtype's type.
  template <Element T>
  std::span<T> elements() {
    check_type(dtype_of<T>);
    return {static_cast<T*>(data()), static_cast<std::size_t>(size())};
  }
  template <Element T>
  std::span<const T> elements() const {
    check_type(dtype_of<T>);
    return {static_cast<const T*>(data()), static_cast<std::size_t>(size())};
  }

 private:
  struct alignas(storage_alignment) Storage {
    std::atomic<std::int64_t> uses{1};
  };
  Storage* storage_ = nullptr;
  DType dtype_ = DType::f32;
  Shape shape_;
  KeySet keys_ = DispatchKey::cpu;

  std::byte* bytes() const {
    return storage_ ? reinterpret_cast<std::byte*>(storage_ + 1) : nullptr;
  }
  void check_type(DType d) const {
    if (d != dtype_)
      TT_THROW(Error(Text("tt::Tensor::elements: dtype is ") << name(dtype_) << ", not " << name(d)
                                                             << ". Cast it first?"));
  }
};

/// A Tensor with these elements.
template <Element T>
Tensor from_span(std::span<const T> values, const Shape& shape) {
  if (shape.size().code != static_cast<std::int64_t>(values.size()))
    TT_THROW(Error(Text("tt::from_span: numbers of elements differ: ")
                   << values.size() << " given, " << shape.size() << " in " << shape << "."));
  Tensor t(dtype_of<T>, shape);
  if (!values.empty()) std::memcpy(t.data(), values.data(), values.size_bytes());
  return t;
}
inline Tensor tensor(std::initializer_list<float> values) {
  return from_span(std::span<const float>(values.begin(), values.size()),
                   {static_cast<std::int64_t>(values.size())});
}

}  // namespace tt
