// Several short rows in one tile, so that a step is one call for all of them.
#pragma once
#include "tt/backends/cpu/tile_registers_inl.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// Rows lie one behind the other in their tile; values once a row are in tiles of their own. A step costs some ns however short it is (20,000 rows of 8, one by
/// one: 5 us a row), and so does repeating a row's value.
struct TileProgram::RowsTogether : Registers {
  using Registers::Registers;
  std::byte* kept_tiles = nullptr;  // of scratch rows
  std::int64_t group = 0;           // rows of a sum over rows, where several sums share a tile; else 0
  std::int64_t lane = -1;           // in a row's order: the lane to which a tile's elements are added; else -1

  void rows_together(std::int64_t first_row, std::int64_t count, std::int64_t columns) {
    prepare_together(columns);
    const std::int64_t together = tile_elements / columns;
    for (std::int64_t row = first_row; row < count; row += together) {
      const std::int64_t n = least(together, count - row);
      for (int s = 0; s <= last_segment(); ++s) {
        if (s % 2 == 0) values_of_rows(s, row, n, columns, row == first_row);
        else columns_of_rows(s, row, 0, n, columns, row == first_row);
      }
    }
  }
  /// Makes scratch rows tiles.
  void prepare_together(std::int64_t columns) {
    kept_in_tiles = true;
    int kept = 0;
    for (int s = 1; s <= last_segment(); s += 2)
      for (TileStep* x = begin(s); x != end(s); ++x) {
        if ((x->kind != TileStep::Kind::load && x->kind != TileStep::Kind::store) || !is_scratch(x->access->buffer)) continue;
        x->row_stride = columns;
        x->kept = true;
        x->memory = nullptr;
        for (const TileStep* y = begin(1); y != x; ++y)
          if (y->kept && y->access->buffer == x->access->buffer) x->memory = y->memory;
        if (!x->memory) x->memory = kept_tiles + static_cast<std::size_t>(kept++) * register_bytes;
      }
  }
  /// Are rows contiguous, as in a tile?
  static bool dense(const TileStep& x, std::int64_t columns) {
    return x.linear && x.row_stride == columns && x.stride == 1 && x.access->column_terms == 0;
  }
  void spread(const TileStep& x, std::int64_t rows_, std::int64_t columns) {
    if (!x.spread) return;
    if (x.by_rows && may_lie_apart(columns) && x.kind != TileStep::Kind::fixed) {
      registers[x.out] = own_row[x.out];
      layout[x.out] = {TileLayout::Kind::row_values, size_of(x.x->dtype)};
      return;
    }
    registers[x.out] = own[x.out];
    layout[x.out] = {};
    if (x.kind == TileStep::Kind::fixed && !x.whole) return repeat_vector(x, own_row[x.out]);
    detail::with_size(x.x->dtype, [&]<class T>(T) {
      const T* v = reinterpret_cast<const T*>(own_row[x.out]);
      for (std::int64_t r = 0; r < rows_; ++r)
        detail::repeat<T>(own[x.out] + r * columns * static_cast<int>(sizeof(T)), v + r, columns);
    });
  }
  void values_of_rows(int s, std::int64_t row, std::int64_t n, std::int64_t columns, bool first) {
    for (const TileStep* x = begin(s); x != end(s); ++x) {
      const std::int64_t size = size_of(x->x->dtype);
      switch (x->kind) {
        case TileStep::Kind::fixed:
          if (!first) continue;
          detail::with_size(x->x->dtype, [&]<class T>(T) { detail::repeat<T>(own_row[x->out], &x->offset, n); });
          break;
        case TileStep::Kind::call: {
          const TileOperand in[] = {{own_row[x->a]}, {own_row[x->b]}, {own_row[x->c]}, {own_row[x->d]}};
          x->function(own_row[x->out], in, n, x->attribute, nullptr);
          break;
        }
        case TileStep::Kind::place:
          for (std::int64_t r = 0; r < n; ++r) places(*x, own_row[x->out] + r * size, row + r, 0, 1);
          break;
        case TileStep::Kind::load:
          if (x->linear && x->row_stride == 1) tt::detail::copy_memory(own_row[x->out], address(*x, row, 0), count_bytes(*x, n));
          else
            detail::with_size(x->x->dtype, [&]<class T>(T) {
              each_address(*x, row, 0, n, [to = own_row[x->out]](std::int64_t r, const std::byte* from) {
                std::memcpy(to + r * static_cast<int>(sizeof(T)), from, sizeof(T));
              });
            });
          break;
        case TileStep::Kind::take:
          take(*x, own_row[x->out], places_in(own_row[x->a]), row, 0, n, 1);
          break;
        case TileStep::Kind::store:
          if (x->linear && x->row_stride == 1) tt::detail::copy_memory(address(*x, row, 0), own_row[x->a], count_bytes(*x, n));
          else
            detail::with_size(x->x->dtype, [&]<class T>(T) {
              each_address(*x, row, 0, n, [from = own_row[x->a]](std::int64_t r, std::byte* to) {
                std::memcpy(to, from + r * static_cast<int>(sizeof(T)), sizeof(T));
              });
            });
          continue;
        default: continue;
      }
      spread(*x, n, columns);
    }
  }
  /// The address of all rows of a tile where they are contiguous outside of it, or null.
  std::byte* whole(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t all, std::int64_t columns) const {
    if (!dense(x, columns)) return nullptr;
    if (x.kept) return x.memory;
    return all % width == 0 ? address(x, row, col) : nullptr;
  }
  /// Are rows long enough to be worth a loop over rows? They are then read in whole vectors.
  bool may_lie_apart(std::int64_t columns) const {
    constexpr std::int64_t least_columns = 32;
    return columns >= least_columns && columns % width == 0;
  }
  /// Leaves a load's rows in memory if they are equally spaced; false: they are not. Short rows that are all the same row are copied to a tile, once.
  bool leave_rows(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) {
    constexpr std::int64_t short_columns = 128;
    const bool same = x.linear && x.row_stride == 0;
    if (!x.by_rows || !may_lie_apart(columns) || (same && (x.stride == 0 || columns < short_columns))) return false;
    const RowRuns run(x, row, symbols);
    if (run.count < n) return false;
    registers[x.out] = x.memory + bytes(x, run.at + (x.stride == 0 || x.access->tiled ? 0 : col));
    layout[x.out] = {x.stride == 0 ? TileLayout::Kind::row_values : TileLayout::Kind::rows, bytes(x, run.step)};
    return true;
  }
  /// `columns` columns of n rows, from this row and column on. first: these begin a sequence, so loads that all its rows share are made.
  void columns_of_rows(int s, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns, bool first) {
    const std::int64_t all = n * columns;
    for (const TileStep *x = begin(s), *last = end(s); x != last; ++x) {
      if (x->kind == TileStep::Kind::call) {
        std::byte* const direct = x->direct >= 0 ? whole(steps[x->direct], row, col, all, columns) : nullptr;
        std::byte* const to = direct ? direct : own[x->out];
        if (x->reads_rows) call_on_rows(*x, to, n, columns);
        else call(*x, to, all);
      } else if (x->kind == TileStep::Kind::load) {
        std::byte* const from = x->in_place ? whole(*x, row, col, all, columns) : nullptr;
        if (from) registers[x->out] = from, layout[x->out] = {};
        else if (!leave_rows(*x, row, col, n, columns) && (first || !x->in_place || !x->linear || x->row_stride != 0)) load_rows(*x, row, col, n, columns);
      } else {
        other_of_rows(*x, row, col, n, columns);
      }
    }
  }
  void load_rows(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) {
    std::byte* to = registers[x.out] = own[x.out];
    layout[x.out] = {};
    if (dense(x, columns)) {
      tt::detail::copy_memory(to, x.kept ? x.memory : address(x, row, col), count_bytes(x, n * columns));
      return;
    }
    const bool plain = x.access->column_terms == 0;
    if (repeats_vector(x) && x.linear && x.row_stride == 0) repeat_vector(x, address(x, row, 0));
    else if (plain && x.stride == 0 && x.linear && x.row_stride == 0)  // one element for all
      detail::with_size(x.x->dtype, [&]<class T>(T) { detail::repeat<T>(to, address(x, row, 0), n * columns); });
    else if (plain && x.stride == 0)
      detail::with_size(x.x->dtype, [&]<class T>(T) {
        each_address(x, row, 0, n, [&](std::int64_t r, const std::byte* from) {
          detail::repeat<T>(to + r * columns * static_cast<int>(sizeof(T)), from, columns);
        });
      });
    else if (plain && x.stride == 1 && size_of(x.x->dtype) == 4) copy_short_rows<float>(x, to, row, col, n, columns);
    else if (plain && x.stride == 1 && size_of(x.x->dtype) == 8) copy_short_rows<double>(x, to, row, col, n, columns);
    else
      each_address(x, row, col, n, [&](std::int64_t r, const std::byte* from) { load(x, to + bytes(x, r * columns), from, col, columns); });
  }
  /// Copies whole vectors: the part beyond a row's columns is overwritten by the next row.
  template <class T>
  void copy_short_rows(const TileStep& x, std::byte* to, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) const {
    const std::int64_t whole = columns / lanes * lanes;
    const auto rest = static_cast<int>(columns - whole);
    each_address(x, row, col, n, [&](std::int64_t r, const std::byte* from) {
      T* const d = reinterpret_cast<T*>(to) + r * columns;
      const T* const source = reinterpret_cast<const T*>(from);
      for (std::int64_t i = 0; i < whole; i += lanes) cpu::store(d + i, cpu::load(source + i));
      if (rest > 0) cpu::store(d + whole, load_first(source + whole, rest));
    });
  }
  void other_of_rows(const TileStep& x, std::int64_t row, std::int64_t col, std::int64_t n, std::int64_t columns) {
    if (x.kind == TileStep::Kind::reduce && k->kind == KernelKind::cols) {
      if (group > 0) {
        registers[x.out] = own[x.out];
        x.reduce->groups(own[x.out], registers[x.a], n / group, group, columns);
      } else if (lane >= 0) {
        x.reduce->elements(lanes_of(x) + bytes(x, lane), registers[x.a], n * columns);
      } else {
        x.reduce->columns(lanes_of(x), registers[x.a], n, columns);
      }
    } else if (x.kind == TileStep::Kind::reduce) {
      x.reduce->rows(own_row[x.out], registers[x.a], x.of_products ? registers[x.b] : nullptr, n, columns);
      spread(x, n, columns);
    } else if (x.kind == TileStep::Kind::take) {
      registers[x.out] = own[x.out];
      layout[x.out] = {};
      take(x, own[x.out], places_in(x.of_row_value ? own_row[x.a] : registers[x.a]), row, col, n, columns);
    } else if (x.kind == TileStep::Kind::store) {
      const std::byte* from = registers[x.a];
      if (dense(x, columns)) store(x, x.kept ? x.memory : address(x, row, col), from, col, n * columns);
      else
        each_address(x, row, col, n, [&](std::int64_t r, std::byte* to) { store(x, to, from + bytes(x, r * columns), col, columns); });
    } else if (x.kind == TileStep::Kind::place) {
      for (std::int64_t r = 0; r < n; ++r) places(x, own[x.out] + r * bytes(x, columns), row + r, col, columns);
    } else if (x.kind == TileStep::Kind::accumulator) {
      registers[x.out] = static_cast<std::byte*>(const_cast<void*>(tile));
    }
  }
};

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
