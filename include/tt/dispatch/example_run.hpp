// What a function may know of the examples of tt::vmap (jit/transforms.hpp) that it is called for one by one: draws and views of memory ask.
#pragma once
#include <vector>

#include "tt/dispatch/views.hpp"

namespace tt {

namespace detail {
/// What vmap says while it runs a function for its examples: what draws are (refused, the same for all, or others for each), and where
/// the example that runs lies.
struct ExampleRun {
  enum class Kind { error, same, different } kind;
  ExampleRun* outer;
  bool first = true;                ///< example
  std::size_t next = 0;
  std::vector<std::int64_t> seeds{};  ///< of the first example
  std::vector<Tensor> examples{};     ///< of the arguments, if they are run one by one: views of the batches
  std::uint64_t region = 0;           ///< the capture's number where draws of all examples are recorded at once; 0: they are not
  Tensor recorded_seeds{};            ///< undefined: draws are counted, in `next`
};
inline thread_local ExampleRun* example_run = nullptr;
/// Bytes of a storage.
struct StoragePart {
  std::int64_t begin = 0, end = 0;
};
/// Where the elements of a Tensor lie that has some.
inline StoragePart part_of(const TensorImpl& t) {
  const std::int64_t first = t.data - static_cast<std::byte*>(t.storage->data), width = size_of(t.dtype);
  const Reach reach = reach_of(t);
  return {first + reach.low * width, first + (reach.high + 1) * width};
}
/// What a Tensor may see of its storage: all, or what is of the example that runs. Of several in one storage: of that which begins last before it.
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
