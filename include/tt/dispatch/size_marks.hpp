// Declarations about the sizes of a Tensor that is passed to compiled functions: dynamic or static axes.
//   tt::mark_dynamic(x, 0, 2, 512);    tt::mark_static(x, 1);
#pragma once
#include "tt/core/tensor.hpp"
#include "tt/core/word_table.hpp"

namespace tt {
namespace detail {

/// The mark of one axis: [axis, is it static, least, most] in the list of TensorImpl::marks.
struct SizeMark {
  bool is_dynamic = false, is_static = false;
  std::int64_t least = 2, most = INT64_MAX;
};
inline SizeMark size_mark(std::int32_t marks, int axis) {
  SizeMark m;
  if (marks == 0) [[likely]] return m;
  const WordTable::List w = WordTable::list(marks - 1);
  for (int k = 0; k < w.count; k += 4)
    if (w[k] == axis) m = {w[k + 1] == 0, w[k + 1] != 0, w[k + 2], w[k + 3]};
  return m;
}
TT_INLINE void mark_size(const Tensor& t, int axis, bool is_static, std::int64_t least, std::int64_t most, const char* op, SourceLine at);

}  // namespace detail

/// Compiled functions treat the size of this axis as a symbol from the first call on; one capture must be right for all sizes from `min` to `max`, else the
/// call that captures throws Error. Applies to this Tensor, not to its views.
inline void mark_dynamic(const Tensor& t, int axis, std::int64_t min = 2, std::int64_t max = INT64_MAX, SourceLine at = here()) {
  detail::mark_size(t, axis, false, min, max, "mark_dynamic", at);
}
/// Compiled functions are specialised for the size of this axis, so that loops over it have a constant end: one capture for each size.
inline void mark_static(const Tensor& t, int axis, SourceLine at = here()) { detail::mark_size(t, axis, true, 0, INT64_MAX, "mark_static", at); }

#if TT_DEFINES(dispatch)
TT_INLINE void detail::mark_size(const Tensor& t, int axis, bool is_static, std::int64_t least, std::int64_t most, const char* op, SourceLine at) {
  TensorImpl& impl = t.impl();
  const int k = normalize_axis(axis, impl.shape.rank);
  if (k < 0) TT_THROW(Error(Text("tt::") << op << ": axis is out of range: " << axis << " for shape " << t.shape() << "." << at));
  const std::int64_t n = impl.shape.code[k];
  if (n < least || n > most)
    TT_THROW(Error(Text("tt::") << op << ": the size is out of range: " << n << " is not from " << least << " to " << most << ". Other bounds?" << at));
  Vec<std::int64_t> words;
  if (impl.marks != 0) {
    const WordTable::List before = WordTable::list(impl.marks - 1);
    for (int i = 0; i < before.count; i += 4)
      if (before[i] != k) words.append(before.word + i, 4);
  }
  for (const std::int64_t w : {std::int64_t{k}, std::int64_t{is_static}, least, most}) words.push_back(w);
  impl.marks = WordTable::number_of(words.items, words.size()) + 1;
}
#endif

}  // namespace tt
