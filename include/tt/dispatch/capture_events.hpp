// Settings of a capture, the exceptions that end a capture so that it can begin again or end its graph, and the memory order of graph outputs.
//   throw SizesNeeded{.why = op, .at = at, .as_numbers = needed};
#pragma once
#include "tt/core/size_guard.hpp"
#include "tt/core/size_set.hpp"
#include "tt/core/tensor.hpp"

namespace tt {

/// Thrown inside a capture when an op needs constant sizes: the capture begins again with these specialised.
struct SizesNeeded {
  const char* why = "";
  SourceLine at{};
  SizeFacts as_numbers = SizeSet::everything();
  Vec<SizeGuard> guards{};  ///< assumptions made until then
};
/// Thrown inside a capture where elements are needed, which do not exist while it records.
struct GraphBreak {
  Text what;
  SourceLine at{};
};
/// Thrown inside a capture that may hold Tensors that were not passed: it begins again with this one as a further argument.
struct TensorMet {
  Tensor tensor;
};

/// Settings of a capture.
struct TracerOptions {
  bool breaks = false;     ///< a graph break throws GraphBreak, else Error
  Text who{};              ///< the function's name, with which the text of that Error begins
  bool holds = false;      ///< free Tensors (read, but not passed) become arguments, else they are errors
  bool guards_sizes = false;  ///< assumptions about sizes become guards, else the sizes are specialised
  bool shares = false;     ///< results that are arguments, or views of them, are no outputs of the graph
};

namespace jit {
/// An output of a graph with its axes permuted to memory order, outermost first: axis[d] is the result's axis at position d.
struct OrderedOutput {
  int output = 0;
  SmallVec<int, 8> axis{};
};
}  // namespace jit

}  // namespace tt
