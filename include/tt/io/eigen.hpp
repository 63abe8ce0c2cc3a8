// Conversions between Tensors and Eigen's matrices. Needs Debian's libeigen3-dev.
//   Eigen::Map<...> m = tt::as_eigen<float>(x);     the Tensor's elements, no copy: m(i, j) = 1 writes them
//   tt::Tensor y = tt::as_tensor(matrix);           the matrix's elements, no copy: the matrix must outlive y
//   tt::Tensor z = tt::from_eigen(a * b + c);       a copy of any expression
#pragma once
#if !__has_include(<Eigen/Core>)
#error "tt/io/eigen.hpp needs Eigen: install libeigen3-dev, and give the compiler -I/usr/include/eigen3"
#endif
#include <Eigen/Core>

#include "tt/core/accessor.hpp"
#include "tt/dispatch/from_blob.hpp"

namespace tt {

/// A map of a Tensor's elements, with any strides.
template <class T>
using EigenMap = Eigen::Map<std::conditional_t<std::is_const_v<T>, const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic>, Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>,
                            Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// The elements of a Tensor of one axis (a column) or two (rows, columns) as an Eigen matrix, which does not keep the Tensor alive. T is
/// the dtype's type, const for reading.
/// Throws Error for another dtype or number of axes, and for elements that are not on the host.
template <class T>
EigenMap<T> as_eigen(const Tensor& t, SourceLine at = here()) {
  if (t.dim() == 1) {
    const auto a = t.accessor<T, 1>(at);
    return {a.data(), a.size(0), 1, {a.stride(0) * a.size(0), a.stride(0)}};
  }
  const auto a = t.accessor<T, 2>(at);
  return {a.data(), a.size(0), a.size(1), {a.stride(1), a.stride(0)}};
}

/// The elements of a matrix, vector, block or map, which must outlive the Tensor, as a Tensor of two axes (rows, columns).
template <class M>
  requires(std::derived_from<M, Eigen::DenseBase<M>> && bool(M::Flags & Eigen::DirectAccessBit) && bool(M::Flags & Eigen::LvalueBit))
Tensor as_tensor(M& m) {
  const std::int64_t inner = m.innerStride(), outer = m.outerStride();
  const bool by_rows = M::IsRowMajor;
  return from_blob(m.data(), {std::int64_t{m.rows()}, std::int64_t{m.cols()}}, {by_rows ? outer : inner, by_rows ? inner : outer});
}

/// A Tensor (rows, columns) with the elements of an Eigen expression.
template <class M>
Tensor from_eigen(const Eigen::DenseBase<M>& m) {
  using T = typename M::Scalar;
  Tensor t(dtype_of<T>, Shape{std::int64_t{m.rows()}, std::int64_t{m.cols()}});
  as_eigen<T>(t) = m.derived();
  return t;
}

}  // namespace tt
