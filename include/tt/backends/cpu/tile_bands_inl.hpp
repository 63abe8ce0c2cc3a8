// Transpositions, and copies of columns that lie apart: whole, or made for some rows at a time right before the kernel that reads them (plan/bands.hpp).
#pragma once
#include "tt/backends/cpu/tile_rows_together_inl.hpp"
#include "tt/plan/bands.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// The copies that one thread makes.
struct TileProgram::Bands : RowsTogether {
  using RowsTogether::RowsTogether;
  /// A copy, mostly a transposition, that is made for some rows or columns of this kernel at a time (plan/bands.hpp).
  struct Band {
    const Kernel* k = nullptr;
    const std::byte* from = nullptr;
    int operand = -1;            // the kernel's operand that the copy makes
    std::byte* rows = nullptr;   // memory for band_rows() rows, or for all rows of band_columns() columns
  };
  Band* bands = nullptr;
  int band_count = 0;
  /// How the kernel traverses the elements of bands: by the same rows; as one row of all elements, to reduce; or down columns, some in a band.
  enum class BandsOf { nothing, rows, one_row, columns };
  BandsOf bands_of = BandsOf::nothing;
  std::int64_t band_first = 0, band_end = 0;  // one_row: the range of the copies' rows that the bands hold
  std::byte* band_memory = nullptr;

  int size_of_moved(const Kernel& t) const { return element_size(plan, t); }
  /// The address of the first row that a transposition writes, and the distance of rows in elements.
  struct Rows {
    std::byte* begin;
    std::int64_t pitch;
  };
  /// Does a part of a transposition. rows(place, pitch): the target of the row that begins at element `place`, `pitch` elements before the next one.
  template <class F>
  void transpose(const Kernel& t, const std::byte* source, const Range& part, const F& rows) const {
    const Access &from = source_of(plan, t), &to = target_of(plan, t);
    const std::int64_t stride = value(from.column), col = part.first(SplitAxis::cols), end = part.last(SplitAxis::cols, value(t.cols));
    const int size = size_of_moved(t);
    if (neighbours_term(from, plan.terms.begin()) < 0) {  // rows whose elements are at a stride
      for (std::int64_t r = part.first(SplitAxis::rows), last = part.last(SplitAxis::rows, value(t.rows)); r < last; ++r) {
        const Rows target = rows(to.row_offset(plan.terms.begin(), r, symbols), 0);
        detail::with_size(plan.instructions[t.segment[1]].dtype, [&]<class T>(T) {
          detail::gather(reinterpret_cast<T*>(target.begin) + col, reinterpret_cast<const T*>(source) + from.row_offset(plan.terms.begin(), r, symbols) + col * stride, end - col, stride);
        });
      }
      return;
    }
    each_transposed(from, to, plan.terms.begin(), symbols, part.first(SplitAxis::rows), part.last(SplitAxis::rows, value(t.rows)),
                    [&](std::int64_t in, std::int64_t out, std::int64_t n, std::int64_t pitch) {
      const Rows target = rows(out, pitch);
      kernels.transpose(size, source + (in + col * stride) * size, stride, 1, end - col, n, target.begin + col * size, target.pitch);
    });
  }
  /// Rows made together: whole cache lines of the source, whole vectors, and about as many as stay in the cache beside the other operands.
  std::int64_t band_rows(const Kernel& t) const { return fit_a_band(t, value(t.cols)); }
  /// The same for columns, for a kernel that sums down columns.
  std::int64_t band_columns(const Kernel& t) const { return fit_a_band(t, value(t.rows)); }
  /// The number of rows or columns of `elements` elements each.
  std::int64_t fit_a_band(const Kernel& t, std::int64_t elements) const {
    const std::int64_t bytes = elements * size_of_moved(t), n = bytes > 0 ? most_of_band / bytes : 0, each = rows_of_line(t);
    return n < each ? each : n / each * each;
  }
  static constexpr std::int64_t line_bytes = 64, most_of_band = 1 << 17;
  std::int64_t rows_of_line(const Kernel& t) const {
    const std::int64_t elements = line_bytes / size_of_moved(t);
    return elements > width ? elements : width;
  }
  /// From one row to the next, in elements: one cache line more where all rows would begin in the same cache sets.
  std::int64_t band_pitch(const Kernel& t) const {
    const std::int64_t cols = value(t.cols);
    return cols * size_of_moved(t) % 1024 == 0 ? cols + line_bytes / size_of_moved(t) : cols;
  }
  std::size_t band_bytes(const Kernel& t, BandsOf what) const {
    const std::int64_t elements = what == BandsOf::columns ? value(t.rows) * least(band_columns(t), value(t.cols)) : least(band_rows(t), value(t.rows)) * band_pitch(t);
    return rounded(static_cast<std::size_t>(elements * size_of_moved(t)) + register_bytes);  // vectors are read beyond the last row
  }
  BandsOf bands_of_kernel(int j) const {
    const Kernel& reader = plan.kernels[j];
    if (reader.kind == KernelKind::cols) return BandsOf::columns;
    return j > 0 && !program.columns_divide_[j] && reader.rows != plan.kernels[j - 1].rows ? BandsOf::one_row : BandsOf::rows;
  }
  std::size_t most_band_bytes() const {
    std::size_t most = 0;
    for (int j = 0; program.most_bands_ > 0 && j < plan.kernels.size(); ++j) {
      std::size_t all = 0;
      for (int b = 0; b < program.bands_[j] && program.in_bands(j, symbols); ++b) all += band_bytes(plan.kernels[j - 1 - b], bands_of_kernel(j));
      if (all > most) most = all;
    }
    return most;
  }
  /// Sets up the bands of kernel j. buffer_at(b): the address of a buffer of the plan.
  template <class F>
  void begin_bands(int j, const F& buffer_at) {
    band_count = program.in_bands(j, symbols) ? program.bands_[j] : 0;
    band_first = band_end = 0;
    if (band_count > 0) bands_of = bands_of_kernel(j);
    if (reads_parts_of_bands()) function = nullptr;
    std::byte* rows = band_memory;
    for (int b = 0; b < band_count; ++b) {
      const Kernel& t = plan.kernels[j - 1 - b];
      const int made = tt::detail::buffer_of(plan, t, target_of(plan, t));
      int operand = 0;
      while (plan.bindings[k->first_binding + operand] != made) ++operand;
      new (bands + b) Band{&t, buffer_at(tt::detail::buffer_of(plan, t, source_of(plan, t))), operand, rows};
      rows += band_bytes(t, bands_of);
    }
  }
  /// Does the kernel read its operands elsewhere than at the addresses of its range? Compiled code cannot.
  bool reads_parts_of_bands() const { return bands_of == BandsOf::one_row || bands_of == BandsOf::columns; }
  /// The bands of another worker, in this worker's memory.
  void join_bands(const Bands& first) {
    band_count = first.band_count;
    bands_of = first.bands_of;
    band_first = band_end = 0;
    for (int b = 0; b < band_count; ++b) {
      new (bands + b) Band(first.bands[b]);
      bands[b].rows = band_memory + (first.bands[b].rows - first.band_memory);
    }
  }
  /// Rows, or columns, that fit the memory of each band: the least of band_rows or band_columns.
  std::int64_t least_of_bands(std::int64_t (Bands::*some_of)(const Kernel&) const) const {
    std::int64_t some = (this->*some_of)(*bands[0].k);
    for (int b = 1; b < band_count; ++b) some = least(some, (this->*some_of)(*bands[b].k));
    return some;
  }
  /// Is there padding between their rows?
  bool bands_lie_apart() const {
    for (int b = 0; b < band_count; ++b)
      if (band_pitch(*bands[b].k) != value(bands[b].k->cols)) return true;
    return false;
  }
  void make_bands(std::int64_t begin, std::int64_t end) const {
    for (int b = 0; b < band_count; ++b) {
      const Band& x = bands[b];
      const std::int64_t pitch = band_pitch(*x.k), cols = value(x.k->cols);
      transpose(*x.k, x.from, {SplitAxis::rows, begin, end}, [&](std::int64_t place, std::int64_t) {
        return Rows{cols > 0 ? x.rows + (place / cols - begin) * pitch * size_of_moved(*x.k) : x.rows, pitch};
      });
    }
  }
  /// Makes operands point into bands that begin with row `begin`, for use from `row` on: an operand's address is that of its first row, if all rows were there.
  void show_bands(std::int64_t begin, std::int64_t row) {
    for (int b = 0; b < band_count; ++b) {
      const Band& x = bands[b];
      move_operand(x.operand, x.rows + ((row - begin) * band_pitch(*x.k) - row * value(x.k->cols)) * size_of_moved(*x.k));
    }
  }
  /// Changes the address of an operand of a prepared kernel, and its row stride if given.
  void move_operand(int operand, std::byte* to, std::int64_t row_stride = -1) {
    operands[operand] = to;
    if (function) return;
    for (TileStep* x = begin(0); x != end(last_segment()); ++x)
      if (x->access && x->access->buffer == operand) {
        x->memory = to;
        if (row_stride >= 0) x->row_stride = row_stride;
      }
  }
};

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
