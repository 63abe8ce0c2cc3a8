// What a capture is told before it begins, what it throws when it cannot go on as it began, and how outputs of its graph lie in memory.
#pragma once
#include "tt/core/size_guard.hpp"
#include "tt/core/size_set.hpp"
#include "tt/core/tensor.hpp"

namespace tt {

/// Thrown inside a capture when something needs sizes as numbers: it begins again with these known.
struct SizesNeeded {
  const char* why = "";
  SourceLine at{};
  SizeFacts as_numbers = SizeSet::everything();
  Vec<SizeGuard> guards{};  ///< what had been taken for granted then
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
  bool breaks = false;     ///< a graph break is thrown as GraphBreak, else it is an error, which
  Text who{};              ///< begins so
  bool holds = false;      ///< Tensors that are met are held, else they are errors
  bool guards_sizes = false;  ///< what is taken for granted of sizes is guarded, else they are numbers
  bool shares = false;     ///< results that are arguments, or views of them, are no outputs of the graph
};

namespace jit {
/// An output of a graph with its axes as they lie in memory, from the outmost in: which axis each is of the result.
struct OrderedOutput {
  int output = 0;
  SmallVec<int, 8> axis{};
};
}  // namespace jit

}  // namespace tt
