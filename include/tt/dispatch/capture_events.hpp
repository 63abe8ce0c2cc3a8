// What a capture is told before it begins, and what it throws when it cannot go on as it began.
#pragma once
#include "tt/core/tensor.hpp"

namespace tt {

/// For `as_numbers`.
inline constexpr unsigned all_sizes = ~0u;

/// Thrown inside a capture when something needs sizes as numbers: it begins again with these known.
struct SizesNeeded {
  const char* why = "";
  SourceLine at{};
  unsigned as_numbers = all_sizes;
};
/// Thrown inside a capture where elements are needed, which it does not have.
struct GraphBreak {
  Text what;
  SourceLine at{};
};
/// Thrown inside a capture that may take Tensors that were not passed: it begins again with this one too.
struct TensorMet {
  Tensor tensor;
};

/// What a capture does beside recording.
struct TracerOptions {
  unsigned as_numbers = 0; ///< symbols, as bits, whose sizes are numbers
  bool breaks = false;     ///< a graph break is thrown as GraphBreak, else it is an error, which
  Text who{};              ///< begins so
  bool holds = false;      ///< Tensors that are met are held, else they are errors
  bool shares = false;     ///< results that are arguments, or views of them, are no outputs of the graph
};

}  // namespace tt
