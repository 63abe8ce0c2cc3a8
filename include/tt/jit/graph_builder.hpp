// A graph made of recorded calls. Sizes are symbols where they can be; what is taken for granted of them is guarded, or they
// are numbers.
//   GraphBuilder b(as_numbers, false);   b.call(op, operands, attributes, at, detached, results);   b.graph, b.guards
#pragma once
#include "tt/dispatch/capture_events.hpp"
#include "tt/dispatch/methods.hpp"
#include "tt/graph/differentiate.hpp"

namespace tt {
namespace jit {

class GraphBuilder {
 public:
  Graph graph;
  SymbolValues values;        ///< what the symbols are in this call
  const SizeSet as_numbers;   ///< symbols whose sizes are numbers
  SizesNeeded needed{.as_numbers = {}};  ///< what was thrown, though the function may have caught it
  Vec<SizeGuard> guards;      ///< what is taken for granted of sizes
  Vec<SizeGuard> corners;     ///< sizes that came out as 0 or 1, for which alone they are numbers
  SizeSet fixed;              ///< symbols whose sizes are taken for one number
  SourceLine fixed_at{};      ///< the first of them

  /// `by_value`: sizes that ops are given are numbers; those that a symbol has are taken for it.
  GraphBuilder(const SizeSet& numbers, bool by_value) : as_numbers(numbers), by_value_(by_value) {}

  /// Throws what the op's own call would, or SizesNeeded.
  TT_INLINE void call(const Operator& op, std::span<const int> operands, const Attributes& attributes, SourceLine at, bool detached, int* result);
  /// A node like `id` that is no other one.
  TT_INLINE int variable(int id);
  TT_INLINE void gradients(int value, const Vec<int>& variables, int* result);
  /// A Tensor of this shape whose elements are equal.
  TT_INLINE int constant(const Tensor& t, const Shape& s);
  TT_INLINE Shape symbolic_shape(const IntList& sizes) const;

  TT_INLINE void guard_size(Extent e, std::int64_t least, std::int64_t most, SourceLine at);
  /// A size that may be 0 or 1 is 2 or more from now on, or a number.
  TT_INLINE void guard_corner(Extent e, SourceLine at);
  /// All sizes are numbers: where it is not known on which of them something hangs.
  TT_INLINE void fix_all(SourceLine at);
  /// The sizes that a node hangs on are.
  TT_INLINE void fix_sizes_of(int id, SourceLine at);
  /// Guards of sizes that are not taken for one number.
  TT_INLINE Vec<SizeGuard> guards_but_for_fixed() const;

 private:
  const bool by_value_;

  TT_INLINE void fix(const SizeSet& symbols, SourceLine at);
  /// Conditions of what was recorded last, and that its sizes are known where they are 0 or 1.
  TT_INLINE void guard_recorded(const Operator& op, std::span<const int> result, SourceLine at);
  /// The shape of a reshape: where a size is no symbol's, it may be what the others leave.
  TT_INLINE Shape reshaped(const Shape& from, const IntList& sizes) const;
  [[noreturn]] TT_INLINE void fail();
};

}  // namespace jit
}  // namespace tt
