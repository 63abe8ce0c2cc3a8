// Definitions of direct_call.hpp: calls of one op without a graph, on Tensors that are contiguous or whose rows are.
#pragma once
#include <algorithm>

#include "tt/dispatch/direct_call.hpp"
#include "tt/dispatch/memory_order.hpp"
#include "tt/dispatch/shared_ranges.hpp"

namespace tt::detail {

inline constexpr std::int64_t direct_tile = 1024;
static_assert(Storage::room_for(8, 8) >= backend::most_lanes * 8, "tile functions write whole steps");

/// A vector of the widest elements, on any processor.
inline constexpr std::size_t vector_bytes = 128;
static_assert(vector_bytes >= backend::most_lanes * 8);

/// Writes an element of `width` bytes (1, 4 or 8) n times.
inline void fill_vector(std::byte* to, const std::byte* element, int width, int n) {
  const auto fill = [&]<class T>(T v) {
    std::memcpy(&v, element, sizeof v);
    for (int i = 0; i < n; ++i) std::memcpy(to + i * static_cast<int>(sizeof v), &v, sizeof v);
  };
  if (width == 1) fill(std::uint8_t{});
  else if (width == 4) fill(std::uint32_t{});
  else fill(std::uint64_t{});
}
/// May n elements from element `begin` on, rounded up to whole vectors, be read?
inline bool has_room(const TensorImpl& t, std::int64_t n, std::int64_t begin = 0) {
  const int lanes = backend::tile_kernels().lanes;
  const std::int64_t end = begin + (n + lanes - 1) / lanes * lanes;
  return t.data - static_cast<std::byte*>(t.storage->data) + end * size_of(t.dtype) <= static_cast<std::int64_t>(t.storage->room);
}
/// How rows of elementwise work are divided among threads.
inline Split divided(std::int64_t rows, std::int64_t columns) {
  if (rows * columns < 2 * work_per_thread) return {};
  return split_kernel({KernelKind::rows, 1, rows, columns, 1, true}, get_num_threads());
}
/// Runs the op on elements [begin, end) of contiguous operands; operands of one element are broadcast.
inline void run_direct(const DirectCall& f, const Call& c, std::byte* out, std::int64_t begin, std::int64_t end) {
  backend::TileOperand in[most_direct];
  const int width = size_of(c[0].dtype()), lanes = backend::tile_kernels().lanes;
  alignas(64) std::byte tile[most_direct][direct_tile * 8];
  for (int k = 0; k < c.arguments; ++k) {
    const TensorImpl& t = c[k].impl();
    if (t.numel == 1 && end > 1) {
      fill_vector(tile[k], t.data, width, lanes);
      in[k] = {tile[k], true};
    } else if (has_room(t, end)) {
      in[k] = {t.data + begin * width};
    } else {
      copy_memory(tile[k], t.data + begin * width, static_cast<std::size_t>((end - begin) * width));
      in[k] = {tile[k]};
    }
  }
  f.function(out + begin * size_of(f.result), in, end - begin, 0, nullptr);
}

/// Have two Tensors the same shape, and the same strides?
inline bool lie_alike(const TensorImpl& a, const TensorImpl& b) {
  if (!(a.shape == b.shape)) return false;
  return (a.contiguous && b.contiguous) || std::memcmp(a.stride, b.stride, sizeof(std::int64_t) * static_cast<std::size_t>(a.shape.rank)) == 0;
}
/// May an elementwise op on these operands write its result, of dtype d and with the layout of `like`, to `into`? An operand in the same
/// memory must have exactly these elements; and the memory must end with the last one, as whole vectors are written.
inline bool may_write_into(const Tensor& into, DType d, const TensorImpl& like, const Call& c) {
  const TensorImpl& t = into.impl();
  if (t.dtype != d || t.contiguous != like.contiguous || !lie_alike(t, like) || !has_room(t, t.numel)) return false;
  const auto* const begin = static_cast<const std::byte*>(t.storage->data);
  if (t.data + t.numel * size_of(t.dtype) < begin + t.storage->bytes) return false;
  for (int k = 0; k < c.arguments; ++k) {
    const TensorImpl& o = c[k].impl();
    const bool itself = o.data == t.data && o.dtype == t.dtype && lie_alike(o, t);
    if (!o.storage) return false;
    const auto* const its = static_cast<const std::byte*>(o.storage->data);
    if (!itself && its < begin + t.storage->bytes && begin < its + o.storage->bytes) return false;
  }
  return true;
}
/// Runs the op if its operands are contiguous and of one shape, or of rank 0.
inline bool try_dense(Call& c) {
  const TensorImpl* big = &c[0].impl();
  for (int k = 1; k < c.arguments; ++k)
    if (c[k].impl().shape.rank > big->shape.rank) big = &c[k].impl();
  for (int k = 0; k < c.arguments; ++k) {
    const TensorImpl& t = c[k].impl();
    if (t.dtype != big->dtype || !t.contiguous || (t.numel > direct_tile && !has_room(t, t.numel))) return false;
    if (!(t.shape == big->shape) && t.shape.rank != 0) return false;
  }
  const DirectCall f = direct_call(*c.op, big->dtype);
  if (!f.function) return false;
  const bool in_place = c.into && c.into->impl().storage && may_write_into(*c.into, f.result, *big, c);
  Tensor out = in_place ? *c.into : Tensor(f.result, big->shape);
  const std::int64_t n = big->numel;
  std::byte* const to = out.impl().data;
  const Split split = divided(1, n);
  in_parts(split.parts, [&](int part) {
    const Range r = split.part(part);
    run_direct(f, c, to, r.first(SplitAxis::cols), r.last(SplitAxis::cols, n));
  });
  c.result[0] = static_cast<Tensor&&>(out);
  return true;
}

/// A call whose operands are made of rows: a row's elements are consecutive, or one element repeated; rows may lie at any strides.
struct DirectRows {
  Shape shape;                   // of the result
  std::int64_t rows = 1, columns = 1;
  int axes = 0;                  // of the rows, the outermost first
  std::int64_t count[max_rank];
  std::int64_t stride[max_rank][most_direct];
  bool repeated[most_direct] = {};
  bool may_read_beyond = true;   // up to a vector past each row

  /// False where there are no such rows.
  bool find(const Call& c) {
    shape = c[0].impl().shape;
    for (int k = 1; k < c.arguments; ++k) {
      const BroadcastResult both = try_broadcast(shape, c[k].impl().shape);
      if (!both.ok || c[k].dtype() != c[0].dtype()) return false;
      shape = both.shape;
    }
    int axis = shape.rank - 1;
    for (; axis >= 0; --axis) {
      const std::int64_t n = shape.code[axis];
      if (n == 0) return false;
      if (n == 1) continue;
      bool joins = true;
      for (int k = 0; k < c.arguments; ++k) {
        const std::int64_t s = broadcast_stride(c[k].impl(), shape, axis);
        if (columns == 1) repeated[k] = s == 0;
        joins = joins && s == (repeated[k] ? 0 : columns);
      }
      if (!joins) break;
      if (__builtin_mul_overflow(columns, n, &columns)) return false;
    }
    for (int d = 0; d <= axis; ++d) {
      const std::int64_t n = shape.code[d];
      if (n == 0) return false;
      if (n == 1) continue;
      if (__builtin_mul_overflow(rows, n, &rows)) return false;
      count[axes] = n;
      for (int k = 0; k < c.arguments; ++k) stride[axes][k] = broadcast_stride(c[k].impl(), shape, d);
      ++axes;
    }
    if (std::int64_t all; __builtin_mul_overflow(rows, columns, &all)) return false;  // the plan reports that no memory holds so many
    for (int k = 0; k < c.arguments; ++k) {
      std::int64_t last = 0;  // where the last row begins
      for (int d = 0; d < axes; ++d) last += (count[d] - 1) * stride[d][k];
      may_read_beyond = may_read_beyond && (repeated[k] || has_room(c[k].impl(), columns, last));
    }
    return true;
  }
  /// Computes the rows and columns of a range, into a contiguous result. `is_operand`: the result is an operand too.
  void run(const DirectCall& f, const Call& c, std::byte* out, bool is_operand, const Range& range) const {
    const int width = size_of(c[0].dtype()), result = size_of(f.result), lanes = backend::tile_kernels().lanes;
    const std::int64_t last_row = range.last(SplitAxis::rows, rows), first = range.first(SplitAxis::cols), n = range.last(SplitAxis::cols, columns) - first,
                       whole = n / lanes * lanes, rest = n - whole;
    alignas(64) std::byte vector[most_direct][vector_bytes], last[vector_bytes];
    std::int64_t place[max_rank], left = range.first(SplitAxis::rows);
    const std::byte* from[most_direct];
    for (int k = 0; k < c.arguments; ++k) from[k] = c[k].impl().data + (repeated[k] ? 0 : first * width);
    for (int d = axes - 1; d >= 0; --d) {
      place[d] = left % count[d];
      left /= count[d];
      for (int k = 0; k < c.arguments; ++k) from[k] += place[d] * stride[d][k] * width;
    }
    backend::TileOperand in[most_direct];
    // Elements written past the end of a row belong to the next row, which is written later. The rest of the last row, less than a vector,
    // goes through a buffer.
    const bool may_write_beyond = n == columns && !is_operand && may_read_beyond;
    for (std::int64_t r = range.first(SplitAxis::rows); r < last_row;) {
      std::byte* const to = out + (r * columns + first) * result;
      backend::TileRows several;  // as many rows as are equally far apart
      if (axes > 0 && n == columns && (rest == 0 || may_write_beyond)) several.count = std::min(count[axes - 1] - place[axes - 1], last_row - r - (rest != 0));
      for (int k = 0; k < c.arguments; ++k) {
        several.apart[k] = axes > 0 ? stride[axes - 1][k] * width : 0;
        several.single[k] = repeated[k] && several.apart[k] != 0;
        const bool filled = repeated[k] && !(several.count > 1 && several.single[k]);
        if (filled) fill_vector(vector[k], from[k], width, lanes);
        in[k] = {filled ? vector[k] : from[k], filled};
      }
      if (several.count > 1) {
        f.function(to, in, n, 0, &several);
      } else {
        several.count = 1;
        if (whole > 0) f.function(to, in, whole, 0, nullptr);
        for (int k = 0; k < c.arguments && rest > 0; ++k) {
          if (repeated[k]) continue;
          std::memcpy(vector[k], from[k] + whole * width, static_cast<std::size_t>(rest * width));
          in[k].elements = vector[k];
        }
        if (rest > 0) {
          f.function(last, in, rest, 0, nullptr);
          std::memcpy(to + whole * result, last, static_cast<std::size_t>(rest * result));
        }
      }
      r += several.count;
      std::int64_t steps = several.count;
      for (int d = axes - 1; d >= 0 && steps > 0; --d) {
        place[d] += steps;
        const bool again = place[d] == count[d];
        for (int k = 0; k < c.arguments; ++k) from[k] += (again ? steps - count[d] : steps) * stride[d][k] * width;
        if (again) place[d] = 0;
        steps = again;
      }
    }
  }
};
/// The overhead of a row is about the cost of so many elements: shorter rows go through a plan, several at a time.
inline constexpr std::int64_t least_columns = 32;
inline bool try_rows(Call& c) {
  DirectRows d;
  if (!d.find(c) || (d.columns < least_columns && d.rows > 1)) return false;
  const DirectCall f = direct_call(*c.op, c[0].dtype());
  if (!f.function) return false;
  const TensorImpl* const into = c.into ? &c.into->impl() : nullptr;
  const bool in_place = into && into->storage && into->contiguous && into->shape == d.shape && may_write_into(*c.into, f.result, *into, c);
  c.result[0] = in_place ? *c.into : Tensor(f.result, d.shape);
  std::byte* const to = c.result[0].impl().data;
  bool is_operand = false;
  for (int k = 0; k < c.arguments; ++k) is_operand = is_operand || c[k].impl().data == to;
  const Split split = divided(d.rows, d.columns);
  in_parts(split.parts, [&](int part) { d.run(f, c, to, is_operand, split.part(part)); });
  return true;
}
/// Makes a view contiguous: rows of consecutive elements are copied whole, rows of a few elements with a stride column by column. Other
/// views, such as transposed matrices, go through a plan, square by square.
inline bool try_copy(Call& c) {
  constexpr std::int64_t least_bytes = 64, few = 8;
  const TensorImpl& t = c[0].impl();
  if (t.contiguous || !t.storage || t.numel == 0) return false;
  std::int64_t count[max_rank], stride[max_rank];  // from the innermost axis out; an axis that continues the previous one is merged with it
  int axes = 0;
  for (int k = t.shape.rank - 1; k >= 0; --k) {
    if (t.shape.code[k] == 1) continue;
    if (axes > 0 && t.stride[k] == stride[axes - 1] * count[axes - 1]) {
      count[axes - 1] *= t.shape.code[k];
      continue;
    }
    count[axes] = t.shape.code[k];
    stride[axes++] = t.stride[k];
  }
  const bool together = axes > 0 && stride[0] == 1 && count[0] * size_of(t.dtype) >= least_bytes;
  if (!together && (axes < 2 || count[0] > few)) return false;
  const int inner = together ? 1 : 2;  // axes of a piece
  const std::int64_t n = together ? count[0] : count[0] * count[1];
  c.result[0] = Tensor(t.dtype, t.shape);
  std::byte* const to = c.result[0].impl().data;
  const int width = size_of(t.dtype);
  const std::int64_t unit = together ? 1 : count[1];  // columns of a piece, which threads may share
  in_ranges(t.numel / n * unit, n / unit, [&](std::int64_t begin, std::int64_t end) {
    each_row_place(begin / unit, (end + unit - 1) / unit, axes - inner, [&](int k) { return count[inner + k]; }, [&](int k) { return stride[inner + k]; }, [&](std::int64_t piece, std::int64_t place) {
      const std::byte* const source = t.data + place * width;
      std::byte* const target = to + piece * n * width;
      if (together) return copy_memory(target, source, static_cast<std::size_t>(n * width));
      const std::int64_t first = std::max(begin - piece * unit, std::int64_t{0}), last = std::min(end - piece * unit, unit);
      with_element_size(t.dtype, [&]<class T>(T) {
        for (std::int64_t j = 0; j < count[0]; ++j)
          for (std::int64_t i = first; i < last; ++i) reinterpret_cast<T*>(target)[i * count[0] + j] = reinterpret_cast<const T*>(source)[j * stride[0] + i * stride[1]];
      });
    });
  });
  return true;
}
/// Runs the call without a graph, if the op and its operands allow that.
inline bool try_direct(Call& c) {
  if (c.op->materializes) return try_copy(c);
  if ((!c.op->body && c.op->primitive == Op::input) || c.arguments > most_direct) return false;
  return try_dense(c) || try_rows(c);
}

}  // namespace tt::detail
