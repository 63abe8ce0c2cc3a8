// Definitions of shape_functions.hpp that place a Tensor in a larger one: padding, diagonals, slices.
#pragma once
#include <vector>

#include "tt/dispatch/index_functions.hpp"
#include "tt/dispatch/shape_functions_inl.hpp"

namespace tt {

TT_LAZY_DEFINITION Tensor diag(const Tensor& x, int diagonal, SourceLine at) {
  if (x.dim() == 2) return tt::diagonal(x, diagonal, 0, 1, at).clone(at);
  if (x.dim() != 1) detail::refuse("diag", "neither a vector nor a matrix", x, at);
  return diag_embed(x, diagonal, 0, 1, at);
}
namespace detail {
/// The offset of each element in its storage, in elements, in row-major order.
inline std::vector<std::int64_t> places_in_storage(const Shape& shape, const std::int64_t* stride, std::int64_t first) {
  std::vector<std::int64_t> places;
  std::int64_t all = 1;
  for (int k = 0; k < shape.rank; ++k) all *= shape.code[k];
  const int last = shape.rank - 1;
  each_row_place(0, all, shape.rank, [&](int k) { return shape.code[last - k]; }, [&](int k) { return stride[last - k]; }, [&](std::int64_t, std::int64_t place) { places.push_back(first + place); });
  return places;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const IntList& size, const IntList& stride, Optional<std::int64_t> storage_offset, SourceLine at) {
  if (detail::capture_mode) detail::capture_mode->need(x, "as_strided_scatter", at);
  const Tensor shown = as_strided(x.detach(), size, stride, storage_offset, at);  // throws if out of range
  if (!(src.shape(at) == size)) TT_THROW(Error(Text("tt::as_strided_scatter: src of shape ") << src.shape() << " for sizes " << size << "." << at));
  // Maps offsets in the storage to elements of x; offsets outside of x are skipped.
  const std::vector<std::int64_t> own = detail::places_in_storage(x.impl().shape, x.impl().stride, detail::offset_in_storage(x.impl())),
                                  there = detail::places_in_storage(shown.impl().shape, shown.impl().stride, detail::offset_in_storage(shown.impl()));
  std::int64_t last = -1;
  for (const auto* places : {&own, &there})
    for (const std::int64_t p : *places) last = p > last ? p : last;
  std::vector<std::int64_t> number(static_cast<std::size_t>(last + 1), -1), to, from;
  for (std::size_t k = 0; k < own.size(); ++k) number[static_cast<std::size_t>(own[k])] = static_cast<std::int64_t>(k);
  for (std::size_t k = 0; k < there.size(); ++k)
    if (const std::int64_t found = number[static_cast<std::size_t>(there[k])]; found >= 0) to.push_back(found), from.push_back(static_cast<std::int64_t>(k));
  const Tensor taken = index_select(src.to(x.dtype(), at).reshape({-1}, at), 0, detail::index_table(from, x.device()), at);
  return scatter(x.reshape({-1}, at), 0, detail::index_table(to, x.device()), taken, at).reshape(x.shape(at), at);
}
TT_LAZY_DEFINITION Tensor diag_embed(const Tensor& x, int offset, int dim1, int dim2, SourceLine at) {
  const int rank = x.dim() + 1;
  const int a = detail::axis_of(x, dim1, "diag_embed", at, rank), b = detail::axis_of(x, dim2, "diag_embed", at, rank);
  if (a == b) detail::refuse("diag_embed", "the two axes are one", x, at);
  if (detail::is_plain(x) && x.dim() > 0 && offset > -(1 << 30) && offset < 1 << 30) {
    const Tensor line = x.contiguous(at);
    IntList to = x.shape(at);
    const std::int64_t length = x.size(-1, at), n = length + (offset < 0 ? -offset : offset), first = offset < 0 ? -offset : 0;  // its first row
    to[x.dim() - 1] = n;
    to.push_back(n);
    Tensor r(x.dtype(), shape_of(to, "diag_embed", at), x.device());
    detail::with_element_size(x.dtype(), [&]<class T>(T) {
      const T* const from = reinterpret_cast<const T*>(line.impl().data);
      const auto place = [=](std::int64_t row) { return row % n - first; };  // number of the diagonal element in this row
      detail::rows_of_one(reinterpret_cast<T*>(r.impl().data), n > 0 ? r.impl().numel / n : 0, n, [=](std::int64_t row) { return place(row) >= 0 && place(row) < length ? row % n + offset : -1; },
                          [=](std::int64_t row) { return from[row / n * length + place(row)]; });
    });
    detail::stamp(r);
    return movedim(r, {-2, -1}, {a, b}, at);
  }
  return movedim(call_with<DiagEmbed>(at, {offset}, x.dim() == 0 ? x.reshape({1}, at) : x), {-2, -1}, {a, b}, at);
}
namespace detail {
/// The source index for each position of an axis of n elements with margins before and behind.
inline std::vector<std::int64_t> places_with_margins(std::int64_t n, std::int64_t before, std::int64_t behind, PadMode mode) {
  std::vector<std::int64_t> from;
  for (std::int64_t place = -before; place < n + behind; ++place) {
    const std::int64_t outside = place < 0 ? -1 : place >= n ? 1 : 0;
    from.push_back(outside == 0                 ? place
                   : mode == PadMode::reflect  ? (outside < 0 ? -place : 2 * (n - 1) - place)
                   : mode == PadMode::circular ? place - outside * n
                                               : (outside < 0 ? 0 : n - 1));
  }
  return from;
}
/// Padding that repeats elements of x, by index_select: with several images over all padded axes at once, as the indices are computed once for all; else axis
/// by axis.
template <class = void>
Tensor padded_by_places(const Tensor& x, const IntList& pad, PadMode mode, SourceLine at) {
  constexpr std::int64_t several = 4, largest = 1 << 17;  // images; elements of one
  const int axes = pad.size() / 2, first = x.dim() - axes;
  std::int64_t images = 1, plane = 1;
  for (int k = 0; k < first; ++k) images *= x.size(k, at);
  for (int k = first; k < x.dim(); ++k) plane *= std::int64_t{x.size(k, at)} + pad.value(2 * (x.dim() - 1 - k)) + pad.value(2 * (x.dim() - 1 - k) + 1);
  const bool at_once = images >= several && plane <= largest;
  Tensor r = x;
  for (int left = axes, next; left > 0; left = next) {  // from the last axis on
    next = at_once ? 0 : left - 1;
    const int from = first + next, to = first + left;
    std::vector<std::int64_t> places{0};
    IntList sizes;
    for (int d = from; d < to; ++d) {
      const int k = x.dim() - 1 - d;
      const std::int64_t n = x.size(d, at);
      const std::vector<std::int64_t> own = places_with_margins(n, pad.value(2 * k), pad.value(2 * k + 1), mode);
      std::vector<std::int64_t> all;
      all.reserve(places.size() * own.size());
      for (const std::int64_t p : places)
        for (const std::int64_t place : own) all.push_back(p * n + place);
      places = std::move(all);
      sizes.push_back(static_cast<std::int64_t>(own.size()));
    }
    r = unflatten(index_select(flatten(r, from, to - 1, at), from, index_table(places, x.device()), at), from, sizes, at);
  }
  return r;
}
}  // namespace detail
TT_LAZY_DEFINITION Tensor pad(const Tensor& x, const IntList& pad, PadMode mode, double value, SourceLine at) {
  if (mode == PadMode::constant) return tt::pad(x, pad, value, at);
  const int axes = pad.size() / 2;
  if (pad.size() % 2 != 0 || axes > x.dim()) TT_THROW(Error(Text("tt::pad: sizes ") << pad << " for shape " << x.shape() << ". A pair for each of the last axes?" << at));
  Tensor r = x;
  bool longer = true;  // no axis is cut
  for (int k = 0; k < axes; ++k) {
    const int d = x.dim() - 1 - k;
    longer = longer && pad[2 * k] >= 0 && pad[2 * k + 1] >= 0;
    if (mode == PadMode::circular)  // cut elements do not wrap around
      r = r.slice(d, pad[2 * k] < 0 ? -pad[2 * k] : Size(0), pad[2 * k + 1] < 0 ? x.size(d, at) + pad[2 * k + 1] : x.size(d, at), 1, at);
    const Size n = r.size(d, at), most = mode == PadMode::reflect ? n - 1 : n;
    if ((mode != PadMode::replicate && (pad[2 * k] > most || pad[2 * k + 1] > most)) || (n == 0 && (pad[2 * k] > 0 || pad[2 * k + 1] > 0)))
      TT_THROW(Error(Text("tt::pad: ") << pad << " is more than axis " << d << " of shape " << x.shape() << " has." << at));
  }
  if (longer && detail::is_plain(x)) return detail::padded_by_places(x, pad, mode, at);
  // As slices and cat: compiled programs fuse the parts. Also used where a gradient is needed, so that gradients of an element are summed in the same order in
  // both.
  for (int k = 0; k < axes; ++k) {
    const int d = x.dim() - 1 - k;
    const auto put = [&](int j) { return mode == PadMode::circular && pad[j] < 0 ? Size(0) : pad[j]; };
    const Size n = r.size(d, at), before = put(2 * k), behind = put(2 * k + 1);
    const Size first = before < 0 ? -before : Size(0), last = behind < 0 ? n + behind : n;
    const auto edge = [&](const Size& count, bool front) {
      switch (mode) {
        case PadMode::reflect: return flip(front ? r.slice(d, 1, count + 1, 1, at) : r.slice(d, n - 1 - count, n - 1, 1, at), {d}, at);
        case PadMode::circular: return front ? r.slice(d, n - count, n, 1, at) : r.slice(d, 0, count, 1, at);
        default: {
          IntList to = r.shape(at);
          to[d] = count;
          return (front ? r.slice(d, 0, 1, 1, at) : r.slice(d, n - 1, n, 1, at)).expand(to, at);
        }
      }
    };
    TensorList parts;
    if (before > 0) parts.push_back(edge(before, true));
    parts.push_back(first == 0 && last == n ? r : r.slice(d, first, last, 1, at));
    if (behind > 0) parts.push_back(edge(behind, false));
    r = parts.size() == 1 ? parts[0] : cat(parts, d, at);
  }
  return r;
}
TT_LAZY_DEFINITION Tensor select_scatter(const Tensor& x, const Tensor& src, int dim, SizeArgument index, SourceLine at) {
  const int d = detail::axis_of(x, dim, "select_scatter", at, x.dim());
  const Size n = x.size(d, at), i = index.size < 0 ? index.size + n : index.size;
  if (i < 0 || i >= n) TT_THROW(Error(Text("tt::select_scatter: index is out of range: ") << index.size.value() << " for axis " << d << " of shape " << x.shape() << "." << at));
  return call_with<SliceScatter>(at, {d, i}, x, src.unsqueeze(d, at));
}
TT_LAZY_DEFINITION Tensor slice_scatter(const Tensor& x, const Tensor& src, int dim, SizeArgument start, SizeArgument end, SizeArgument step, SourceLine at) {
  const int d = detail::axis_of(x, dim, "slice_scatter", at, x.dim());
  const Tensor places = arange(x.size(d, at)).slice(0, start, end, step, at);
  const Tensor part = x.slice(d, start, end, step, at);
  if (!(part.shape(at) == src.shape(at)))
    TT_THROW(Error(Text("tt::slice_scatter: source of shape ") << src.shape() << " for a slice of shape " << part.shape() << "." << at));
  return index_copy(x, d, places, src.to(x.dtype(), at), at);
}
TT_LAZY_DEFINITION Tensor diagonal_scatter(const Tensor& x, const Tensor& src, int offset, int dim1, int dim2, SourceLine at) {
  const Tensor on = diagonal(x, offset, dim1, dim2, at);
  if (!(on.shape(at) == src.shape(at)))
    TT_THROW(Error(Text("tt::diagonal_scatter: source of shape ") << src.shape() << " for a diagonal of shape " << on.shape() << "." << at));
  const int a = detail::axis_of(x, dim1, "diagonal_scatter", at, x.dim()), b = detail::axis_of(x, dim2, "diagonal_scatter", at, x.dim());
  const Tensor last = movedim(x, {a, b}, {-2, -1}, at);
  const Size rows = last.size(-2, at), columns = last.size(-1, at);
  // the diagonal as a square matrix, zeros elsewhere
  const Tensor placed = diag_embed(src, offset, -2, -1, at);
  const Tensor ones = diag_embed(tt::ones(src.shape(at), {.dtype = DType::boolean, .device = x.device()}), offset, -2, -1, at);
  const auto fitted = [&](Tensor t) {
    for (const int d : {-2, -1}) {
      const Size want = d == -2 ? rows : columns, has = t.size(d, at);
      if (has > want) t = t.slice(d, 0, want, 1, at);
      if (has < want) {
        IntList zeros = t.shape(at);
        zeros[zeros.size() + d] = want - has;
        t = cat({t, tt::zeros(zeros, {.dtype = t.dtype(), .device = t.device()})}, d, at);
      }
    }
    return t;
  };
  return movedim(tt::where(fitted(ones), fitted(placed).to(x.dtype(), at), last, at), {-2, -1}, {a, b}, at);
}
}  // namespace tt
