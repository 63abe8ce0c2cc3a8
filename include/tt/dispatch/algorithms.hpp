// sort, argsort, topk, unique, cumsum and reduce_by_key: operators whose kernels are algorithms of Thrust, on
// every device that has a table of them (backends/algorithms.hpp). Names and meanings are PyTorch's; so is the order:
// NaN is the greatest, -0 equals 0. Equal elements keep their order always, so results have one value only, on every
// device. Without tt::compiled one file of the program must include tt/backends/host_algorithms.hpp too, which needs Thrust.
//   auto [values, indices] = tt::topk(scores, 5);
#pragma once
#include "tt/dispatch/sorted_functions.hpp"

namespace tt {

struct SortResult {
  Tensor values, indices;  ///< indices are i64
};
struct UniqueResult {
  Tensor values;
  Tensor inverse_indices;  ///< in the shape of the operand: where in values each element is; empty unless asked for
  Tensor counts;           ///< how often each value is there; empty unless asked for
};
struct ReduceByKeyResult {
  Tensor keys, values;
};

/// The elements along an axis in order, and where they were. Values have a gradient. Always stable.
TT_LAZY SortResult sort(const Tensor& x, int dim = -1, bool descending = false, bool stable = false, SourceLine at = here());
/// Only where they were: x[argsort(x)] is in order.
TT_LAZY Tensor argsort(const Tensor& x, int dim = -1, bool descending = false, bool stable = false, SourceLine at = here());
/// The k greatest, or least, elements along an axis, the greatest, or least, first, whatever `sorted` is; of equal ones
/// the first. Values have a gradient. Costs a sort.
TT_LAZY SortResult topk(const Tensor& x, std::int64_t k, int dim = -1, bool largest = true, bool sorted = true,
                          SourceLine at = here());
/// The different elements of all axes in order, whatever `sorted` is; each NaN is one of its own. No derivative.
TT_LAZY UniqueResult unique(const Tensor& x, bool sorted = true, bool return_inverse = false, bool return_counts = false,
                              SourceLine at = here());
/// Sums along an axis up to each element, that one included; integers and bool give i64. Has a gradient. The order of a
/// floating sum: blocks of 256, then the sums of blocks in the same way.
TT_LAZY Tensor cumsum(const Tensor& x, int dim, SourceLine at = here());
/// thrust::reduce_by_key: for each run of equal keys that stand together (elsewhere they may come again) that key and
/// the sum of its values. Both operands are vectors of one length. A sum is that of tt::sum over the run, to the bit;
/// of integers and bool it is i64. No derivative.
TT_LAZY ReduceByKeyResult reduce_by_key(const Tensor& keys, const Tensor& values, SourceLine at = here());

// As libtorch has them where `stable` comes first.
template <std::same_as<bool> B> SortResult sort(const Tensor& x, B stable, int dim = -1, bool descending = false, SourceLine at = here()) { return sort(x, dim, descending, stable, at); }
template <std::same_as<bool> B> Tensor argsort(const Tensor& x, B stable, int dim = -1, bool descending = false, SourceLine at = here()) { return argsort(x, dim, descending, stable, at); }

template <class> auto Tensor::sort(int dim, bool descending, bool stable, SourceLine at) const { return tt::sort(*this, dim, descending, stable, at); }
template <class> Tensor Tensor::argsort(int dim, bool descending, bool stable, SourceLine at) const { return tt::argsort(*this, dim, descending, stable, at); }
template <class> auto Tensor::topk(std::int64_t k, int dim, bool largest, bool sorted, SourceLine at) const { return tt::topk(*this, k, dim, largest, sorted, at); }
template <class> Tensor Tensor::cumsum(int dim, SourceLine at) const { return tt::cumsum(*this, dim, at); }

/// So that tt::call and tt::call_results find these operators before one of them was called.
TT_LAZY void register_algorithms();

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/sorted_functions_inl.hpp"
#endif
