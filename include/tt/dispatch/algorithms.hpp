// sort, argsort, topk, unique, cumsum and reduce_by_key: operators whose kernels are algorithms of Thrust, on
// every device that has a table of them (backends/algorithms.hpp). Names and meanings are PyTorch's; so is the order:
// NaN is the greatest, -0 equals 0. Sorts are always stable, so each call has one right result, the same on every
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
  Tensor inverse_indices;  ///< of the operand's shape: the index of each element in `values`; empty unless asked for
  Tensor counts;           ///< how often each value occurs; empty unless asked for
};
struct ReduceByKeyResult {
  Tensor keys, values;
};

/// The elements along an axis in order, and the indices they had (NumPy's sort: the elements alone). Values have a gradient. Always stable, as argsort is;
/// NumPy's are if asked.
TT_LAZY SortResult sort(const Tensor& x, int dim = -1, bool descending = false, bool stable = false, SourceLine at = here());
/// Only those indices: x[argsort(x)] is in order.
TT_LAZY Tensor argsort(const Tensor& x, int dim = -1, bool descending = false, bool stable = false, SourceLine at = here());
/// The k greatest (or least) elements along an axis, always in order, the greatest (or least) first, even if `sorted`
/// is false; among equal elements the first ones. Values have a gradient. Costs a sort on devices, and for k above half of the axis.
TT_LAZY SortResult topk(const Tensor& x, std::int64_t k, int dim = -1, bool largest = true, bool sorted = true,
                          SourceLine at = here());
/// The distinct elements of all axes, in order even if `sorted` is false; each NaN counts as distinct (NumPy: all as one). No derivative. There are
/// no indices of first occurrences, which NumPy can give.
TT_LAZY UniqueResult unique(const Tensor& x, bool sorted = true, bool return_inverse = false, bool return_counts = false,
                              SourceLine at = here());
/// Inclusive running sums along an axis (NumPy without one: of all elements); integers and bool give i64 (NumPy: u64 for u8). Has a gradient. The order of a
/// floating sum: blocks of 256, then the sums of blocks in the same way.
TT_LAZY Tensor cumsum(const Tensor& x, int dim, SourceLine at = here());
/// thrust::reduce_by_key: for each run of equal consecutive keys (a later run may have the same key) the key and the sum
/// of its values. Both operands are vectors of the same length. A sum equals tt::sum over the run, to the bit; integers
/// and bool give i64. No derivative.
TT_LAZY ReduceByKeyResult reduce_by_key(const Tensor& keys, const Tensor& values, SourceLine at = here());

// libtorch's overloads with `stable` first.
template <std::same_as<bool> B> SortResult sort(const Tensor& x, B stable, int dim = -1, bool descending = false, SourceLine at = here()) { return sort(x, dim, descending, stable, at); }
template <std::same_as<bool> B> Tensor argsort(const Tensor& x, B stable, int dim = -1, bool descending = false, SourceLine at = here()) { return argsort(x, dim, descending, stable, at); }

template <class> auto Tensor::sort(int dim, bool descending, bool stable, SourceLine at) const { return tt::sort(*this, dim, descending, stable, at); }
template <class> Tensor Tensor::argsort(int dim, bool descending, bool stable, SourceLine at) const { return tt::argsort(*this, dim, descending, stable, at); }
template <class> auto Tensor::topk(std::int64_t k, int dim, bool largest, bool sorted, SourceLine at) const { return tt::topk(*this, k, dim, largest, sorted, at); }
template <class> Tensor Tensor::cumsum(int dim, SourceLine at) const { return tt::cumsum(*this, dim, at); }

/// Registers these operators, so that tt::call and tt::call_results find them before one was called by its function.
TT_LAZY void register_algorithms();

}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/sorted_functions_inl.hpp"
#endif
