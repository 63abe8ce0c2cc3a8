// Printing Tensors as PyTorch does: four digits behind the point, or scientific where numbers differ by more
// than 1000 times; columns aligned, lines of at most 80 characters, axes of large Tensors cut to their ends.
//   std::cout << t;   tensor([[1.0000, 2.5000],
//                             [3.0000, 4.2500]], requires_grad=True)
// The rules are those of torch/_tensor_str.py with its default options; dtypes have tt's names.
#pragma once
#include "tt/core/print.hpp"
#include "tt/dispatch/to_device.hpp"

namespace tt {

/// A Tensor as PyTorch prints it; elements on a device are brought to the host first.
TT_INLINE Text to_string(const Tensor& t);

template <CharStream Stream>
Stream& operator<<(Stream& stream, const Tensor& t) {
  return stream << to_string(t);
}

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/print_inl.hpp"
#endif
