// TensorAccessor: the elements of a Tensor as references by index, with its strides, for hand-written loops.
//   auto a = x.accessor<float, 2>();   for (int i = 0; i < a.size(0); ++i) a(i, 0) = 1;     a[2][3]     a.at(2, 3)
#pragma once
#include "tt/core/tensor.hpp"

namespace tt {

/// A view of elements with N axes, like std::mdspan with strides; of a `const T` for reading. It does not keep the
/// Tensor alive. Indices count from 0; only at() checks them.
template <class T, int N>
class TensorAccessor {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = N;

  TensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides) : data_(data) {
    for (int k = 0; k < N; ++k) {
      size_[k] = sizes[k];
      stride_[k] = strides[k];
    }
  }
  T* data() const { return data_; }
  std::int64_t size(int axis) const { return size_[axis]; }
  std::int64_t stride(int axis) const { return stride_[axis]; }
  std::int64_t extent(int axis) const { return size_[axis]; }
  T& operator()(std::integral auto... index) const {
    static_assert(sizeof...(index) == N, "tt::TensorAccessor: as many indices as axes");
    std::int64_t at = 0;
    int k = 0;
    ((at += static_cast<std::int64_t>(index) * stride_[k++]), ...);
    return data_[at];
  }
  /// The element if N is 1, else an accessor of the remaining axes.
  decltype(auto) operator[](std::int64_t index) const {
    if constexpr (N == 1) return (data_[index * stride_[0]]);
    else return TensorAccessor<T, N - 1>(data_ + index * stride_[0], size_ + 1, stride_ + 1);
  }
  /// Throws Error where an index is below 0, or not below the size.
  T& at(std::integral auto... index) const {
    static_assert(sizeof...(index) == N, "tt::TensorAccessor: as many indices as axes");
    int k = 0;
    (check(static_cast<std::int64_t>(index), k++), ...);
    return (*this)(index...);
  }

 private:
  T* data_;
  std::int64_t size_[N], stride_[N];

  void check(std::int64_t index, int axis) const {
    if (index < 0 || index >= size_[axis])
      TT_THROW(Error(Text("tt::TensorAccessor: index ") << index << " is out of range: axis " << axis << " has " << size_[axis] << '.'));
  }
};

template <class T, int N>
TensorAccessor<T, N> Tensor::accessor(SourceLine at) const {
  static_assert(N > 0 && N <= max_rank, "tt::Tensor::accessor: of one axis or more; item() is for none");
  using Value = std::remove_const_t<T>;
  check_type(dtype_of<Value>, "accessor", at);
  if (dim() != N) TT_THROW(Error(Text("tt::Tensor::accessor: the Tensor has ") << dim() << " axes, not " << N << '.' << at));
  need_elements("accessor", at);
  if (!is_host(impl_->device)) TT_THROW(Error(Text("tt::Tensor::accessor: the Tensor is on device ") << name(device().type) << ". Use cpu() first?" << at));
  T* data = nullptr;
  if constexpr (std::is_const_v<T>) data = reinterpret_cast<T*>(impl_->data);
  else data = data_ptr<T>(at);
  return {data, impl_->shape.code, impl_->stride};
}

/// A span of the elements of a temporary Tensor, which it keeps alive.
template <class T>
class OwnedSpan : public std::span<T> {
 public:
  OwnedSpan(Tensor t, SourceLine at) : std::span<T>(t.elements<T>(at)), owner_(static_cast<Tensor&&>(t)) {}

 private:
  Tensor owner_;
};
template <Element T>
OwnedSpan<T> Tensor::elements(SourceLine at) && {
  return {*this, at};
}

}  // namespace tt
