// Lists of Tensors: as results (TensorList) and as arguments (TensorSpan).
//   tt::TensorList parts = tt::split(x, 2);   tt::cat(parts, 1);   tt::cat({a, b}, 1);
#pragma once
#include <concepts>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "tt/core/tensor.hpp"

namespace tt {

using TensorList = std::vector<Tensor>;

/// A list argument, as the caller has it: in braces, a vector, an array or a span.
class TensorSpan : public std::span<const Tensor> {
 public:
  TensorSpan() = default;
  TensorSpan(std::initializer_list<Tensor> list) : std::span<const Tensor>(list.begin(), list.size()) {}
  template <class R>
    requires(!std::derived_from<std::remove_cvref_t<R>, TensorSpan> && std::convertible_to<const R&, std::span<const Tensor>>)
  TensorSpan(const R& list) : std::span<const Tensor>(list) {}
};

}  // namespace tt
