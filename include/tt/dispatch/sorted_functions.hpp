// Functions of Tensors made of sort and its kin; part of dispatch/algorithms.hpp.
#pragma once
#include "tt/dispatch/functions.hpp"

namespace tt {

/// Elements below which a part q of them lies, between neighbours as `interpolation` says: linear, lower, higher, midpoint, nearest. q is a number, or a vector,
/// which becomes axis 0 of the result.
TT_LAZY Tensor quantile(const Tensor& x, const Tensor& q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here());
TT_LAZY Tensor nanquantile(const Tensor& x, const Tensor& q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here());
template <class = void> Tensor quantile(const Tensor& x, double q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here()) {
  return quantile(x, full({}, q, TensorOptions{.dtype = x.dtype()}), dim, keepdim, interpolation, at);
}
template <class = void> Tensor nanquantile(const Tensor& x, double q, Optional<int> dim = {}, bool keepdim = false, std::string_view interpolation = "linear", SourceLine at = here()) {
  return nanquantile(x, full({}, q, TensorOptions{.dtype = x.dtype()}), dim, keepdim, interpolation, at);
}

}  // namespace tt
