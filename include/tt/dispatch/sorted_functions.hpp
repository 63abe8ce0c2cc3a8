// Functions made of sort and related ops; part of dispatch/algorithms.hpp.
#pragma once
#include "tt/dispatch/functions.hpp"

namespace tt {

/// Quantiles: the value below which a fraction q of the elements lies; between neighbours by `interpolation`: linear, lower, higher, midpoint, nearest. q is a
/// scalar, or a vector, which becomes axis 0 of the result.
TT_LAZY Tensor quantile(const Tensor& x, const Tensor& q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here());
TT_LAZY Tensor nanquantile(const Tensor& x, const Tensor& q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here());
template <class = void> Tensor quantile(const Tensor& x, double q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here()) {
  return quantile(x, full({}, q, TensorOptions{.dtype = x.dtype()}), dim, keepdim, interpolation, at);
}
template <class = void> Tensor nanquantile(const Tensor& x, double q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here()) {
  return nanquantile(x, full({}, q, TensorOptions{.dtype = x.dtype()}), dim, keepdim, interpolation, at);
}

}  // namespace tt
