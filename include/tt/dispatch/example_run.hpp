// State of tt::vmap (jit/transforms.hpp) while a function runs for its examples: the seeds of random draws, and the part of memory that an
// example may see.
//   const StoragePart p = visible_part(x.impl());
#pragma once
#include <vector>

#include "tt/dispatch/views.hpp"

namespace tt {

namespace detail {
/// State of vmap while it runs a function for its examples: the kind of draws (refused, the same for all, or different for each), and the
/// memory of the running example.
struct ExampleRun {
  enum class Kind { error, same, different } kind;
  ExampleRun* outer;
  bool first = true;                ///< this is the first example
  std::size_t next = 0;
  std::vector<std::int64_t> seeds{};  ///< drawn by the first example
  std::vector<Tensor> examples{};     ///< the running example's arguments, if examples run one by one: views of the batches
  std::uint64_t region = 0;           ///< number of the capture in which the draws of all examples are recorded at once; 0: none
  Tensor recorded_seeds{};            ///< undefined: draws are only counted, in `next`
};
inline thread_local ExampleRun* example_run = nullptr;
/// A range of bytes of a storage.
struct StoragePart {
  std::int64_t begin = 0, end = 0;
};
/// The bytes that the elements of a non-empty Tensor span.
inline StoragePart part_of(const TensorImpl& t) {
  const std::int64_t first = t.data - static_cast<std::byte*>(t.storage->data), width = size_of(t.dtype);
  const Reach reach = reach_of(t);
  return {first + reach.low * width, first + (reach.high + 1) * width};
}
/// The part of its storage that a Tensor may see: all, or the part of the running example. Of several examples that span its first
/// element, the one that begins last.
inline StoragePart visible_part(const TensorImpl& t) {
  if (!t.storage) return {};
  const std::int64_t place = t.data - static_cast<std::byte*>(t.storage->data);
  for (const ExampleRun* run = example_run; run; run = run->outer) {
    StoragePart found{-1, 0};
    for (const Tensor& example : run->examples)
      if (const TensorImpl& e = example.impl(); e.storage == t.storage && e.numel > 0)
        if (const StoragePart p = part_of(e); p.begin <= place && place < p.end && p.begin > found.begin) found = p;
    if (found.begin >= 0) return found;
  }
  return {0, static_cast<std::int64_t>(t.storage->bytes)};
}
}  // namespace detail

}  // namespace tt
