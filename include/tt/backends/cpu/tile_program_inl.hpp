// Preparation of a TileProgram before any run: its steps and registers, tiles that steps share, transpositions made in bands, placement of buffers.
#pragma once
#include "tt/backends/cpu/library_kernels.hpp"
#include "tt/backends/cpu/tile_interpreter.hpp"
#include "tt/backends/cpu/tile_kernels_inl.hpp"
#include "tt/backends/cpu/tile_steps.hpp"
#include "tt/plan/bands.hpp"
#include "tt/plan/split.hpp"

TT_KERNELS_BEGIN

namespace tt::cpu {
inline namespace TT_ISA {

/// Measured: with so few columns, compiled code takes up to ten times as long for rows, and up to four times for sums over rows.
TT_INLINE bool TileProgram::has_short_rows(const Kernel& k, const SymbolValues& s) const {
  const std::int64_t cols = k.cols.value(s);
  if (always_compiled || k.tile > 0 || cols > 32) return false;
  if (k.kind == KernelKind::cols) return true;
  if (k.rows.value(s) < 2) return false;
  if (k.kind == KernelKind::matmul) return cols <= kernels_.lanes && k.inner.value(s) <= 8;
  return cols <= 8 || reductions_[static_cast<int>(&k - plan_.kernels.begin())] > 0;
}
TT_INLINE TileProgram::~TileProgram() {
  for (Placement* p = placements_; p;) {
    Placement* next = p->next;
    delete p;
    p = next;
  }
}
TT_INLINE TileProgram::TileProgram(Plan plan) : plan_(static_cast<Plan&&>(plan)), kernels_(tile_kernels()) {
  steps_ = Vec<TileStep>(plan_.instructions.size(), TileStep{});
  for (const Kernel& k : plan_.kernels) {
    compiled_.push_back(nullptr);
    columns_divide_.push_back(columns_divide(plan_, k));
    int registers = 0;
    for (int r : k.registers) registers += r;
    const int reductions = reductions_of(plan_, k);
    const int steps = k.segment[2 * k.sweeps + 1] - k.segment[0];
    if (steps > most_steps_) most_steps_ = steps;
    if (k.scratch > most_kept_) most_kept_ = k.scratch;
    assign_tiles(k);
    if (k.bindings > most_bindings_) most_bindings_ = k.bindings;
    if (registers > most_registers_) most_registers_ = registers;
    if (reductions > most_reductions_) most_reductions_ = reductions;
    reductions_.push_back(reductions);
  }
  find_bands();
  name_expressions();
}
TT_INLINE void TileProgram::take_library_kernels() {
  if (!has_library_kernels()) return;
  const Plan& whole = plan();
  for (int j = 0; j < plan_.kernels.size(); ++j) {
    const int first = sizes_.size();
    void* const function = plan_.kernels[j].code == j ? find_library_kernel(whole, j, sizes_) : nullptr;
    if (!function) continue;
    for (int i = first; i < sizes_.size(); ++i) sizes_[i] = named(sizes_[i]);
    if (first_size_.empty()) first_size_ = Vec<int>(plan_.kernels.size(), -1);
    first_size_[j] = first;
    replace_kernel(j, function);
  }
}
/// Also keeps the source of a transposition until the kernel that makes it in bands ends.
TT_INLINE void TileProgram::find_bands() {
  bands_ = Vec<int>(plan_.kernels.size() + 1, 0);
  reader_ = Vec<int>(plan_.kernels.size() + 1, 0);
  for (int j = 0; j < plan_.kernels.size(); ++j) {
    bands_[j] = bands_before(plan_, j, columns_divide_[j] != 0);
    if (bands_[j] > most_bands_) most_bands_ = bands_[j];
    for (int t = j - bands_[j]; t < j; ++t) {
      reader_[t] = j - t;
      const Kernel& k = plan_.kernels[t];
      Buffer& source = plan_.buffers[tt::detail::buffer_of(plan_, k, source_of(plan_, k))];
      if (source.last < j) source.last = j;
    }
  }
}
/// Bands do not pay where the whole transposition stays in the cache, nor where a few rows do not fit it.
TT_INLINE bool TileProgram::in_bands(int j, const SymbolValues& s) const {
  constexpr std::int64_t least = std::int64_t{2} << 20, most_of_row = std::int64_t{1} << 14;
  if (bands_[j] == 0 || always_bands) return bands_[j] > 0;
  const Kernel& t = plan_.kernels[j - 1];
  const std::int64_t rows = t.rows.value(s), cols = t.cols.value(s), size = element_size(plan_, t);
  return (plan_.kernels[j].kind == KernelKind::cols ? rows : cols) * size <= most_of_row && rows * cols * size >= least;
}
TT_INLINE std::int64_t TileProgram::place(const SymbolValues& s, Vec<std::int64_t>& offsets) const {
  const auto plan = [&](const Vec<Buffer>& buffers) { return plan_memory(buffers.begin(), buffers.size(), plan_.kernels.size(), s, offsets.begin()); };
  if (most_bands_ == 0) return plan(plan_.buffers);
  Vec<Buffer> buffers = plan_.buffers;
  for (int t = 0; t < plan_.kernels.size(); ++t) {
    const Kernel& k = plan_.kernels[t];
    if (reader_[t] > 0 && in_bands(t + reader_[t], s))
      buffers[tt::detail::buffer_of(plan_, k, target_of(plan_, k))].first = -1;  // never written as a whole, so it needs no place in the arena
  }
  return plan(buffers);
}
/// A further symbol in place of an expression whose evaluation must parse it; other extents unchanged.
TT_INLINE Extent TileProgram::named(Extent e) {
  if (e.is_packed() || e.is_further_symbol()) return e;
  int k = 0;
  while (k < expressions_.size() && expressions_[k] != e) ++k;
  if (k == expressions_.size()) expressions_.push_back(e);
  return Extent::symbol(first_expression_ + k);
}
/// Replaces all such expressions of the plan.
TT_INLINE void TileProgram::name_expressions() {
  const auto each_extent = [&](const auto& f) {
    for (Kernel& k : plan_.kernels)
      for (Extent* e : {&k.rows, &k.cols, &k.inner, &k.batch, &k.a_row, &k.a_inner, &k.b_inner, &k.b_column}) f(*e);
    for (Access& a : plan_.accesses) f(a.offset), f(a.column);
    for (Term& t : plan_.terms) f(t.divisor), f(t.modulus), f(t.stride);
    for (Buffer& b : plan_.buffers) f(b.size);
    for (Instruction& x : plan_.instructions) {
      if (!x.has_extent()) continue;
      Extent e = x.extent();
      f(e);
      x.bits = static_cast<std::uint64_t>(e.code);
    }
  };
  bool any = false;
  first_expression_ = plan_.symbols;
  each_extent([&](Extent& e) {
    any = any || !(e.is_packed() || e.is_further_symbol());
    for (int s : symbols_of(e).some)
      if (s >= first_expression_) first_expression_ = s + 1;
  });
  if (!any) return;
  given_ = plan_;
  each_extent([&](Extent& e) { e = named(e); });
}
TT_INLINE TileStep TileProgram::step_of(const Instruction& x, const TileRegisters& numbers) const {
  using Kind = TileStep::Kind;
  TileStep p{.out = numbers.result(x), .a = numbers.a(x), .b = numbers.b(x), .c = numbers.c(x), .d = numbers.d(x), .attribute = x.attribute,
             .function = kernels_.function(x.op, x.dtype, x.from, x.attribute), .x = &x};
  switch (x.op) {
    case Op::constant:
      with_dtype(x.dtype, [&]<class T>(T) {
        const T v = decode<T>(x.bits);
        std::memcpy(&p.offset, &v, sizeof v);
      });
      [[fallthrough]];
    case Op::extent: p.kind = Kind::fixed; break;
    case Op::iota: p.kind = Kind::place; break;
    case Op::load: p.kind = Kind::load; break;
    case Op::take: p.kind = Kind::take; break;
    case Op::store: p.kind = Kind::store; break;
    case Op::accumulator: p.kind = Kind::accumulator; break;
    default:
      if (!is_reduction(x.op)) break;
      p.kind = Kind::reduce;
      p.reduce = &kernels_.reduction(x.op, x.dtype);
      p.tree = &reduction_tree(x.op, x.dtype);
  }
  if (x.access < 0) return p;
  p.access = &plan_.accesses[x.access];
  p.terms = plan_.terms.begin() + p.access->first_term;
  p.linear = p.access->term_count == 0 ||
             (p.access->term_count == 1 && p.terms->divisor == Extent(1) && p.terms->modulus == Extent(0));
  return p;
}
/// Do all elements of a row take the same index: one computed once for the row, or loaded with stride 0?
TT_INLINE void TileProgram::find_place_of_row(TileStep& take, const TileStep& places, bool before, KernelKind kind) {
  take.of_row_value = before && kind == KernelKind::rows;
  take.of_row = take.of_row_value || (!before && places.kind == TileStep::Kind::load && places.access->column == Extent(0) && places.access->column_terms == 0);
}
/// The result of a column step reuses the tile of a value that is no longer needed, so that few tiles stay in the cache; values of rows,
/// and loads that may be the same for all rows or along them, keep their own tiles.
TT_INLINE void TileProgram::assign_tiles(const Kernel& k) {
  const TileRegisters numbers(k);
  const auto passes = [&](int i, int s) {
    const Instruction& x = plan_.instructions[i];
    return x.result >= 0 && on_columns(k, s) && !is_reduction(x.op) && (x.op != Op::load || (plan_.accesses[x.access].term_count > 0 && plan_.accesses[x.access].column != Extent(0)));
  };
  Vec<int> made_by(numbers.none() + 1, -1), last_use(numbers.none() + 1, -1), uses(numbers.none() + 1, 0);
  int kept = 0;
  for (int s = 0; s <= 2 * k.sweeps; ++s) {
    int reductions = 0;
    for (int i = k.segment[s]; i < k.segment[s + 1]; ++i) {
      const Instruction& x = plan_.instructions[i];
      TileStep& step = steps_[i] = step_of(x, numbers);
      made_by[step.out] = i;
      if (step.kind == TileStep::Kind::reduce) step.reduction = reductions++;
      step.by_rows = step.kind == TileStep::Kind::load || !on_columns(k, s) || step.kind == TileStep::Kind::reduce;
      if (x.result >= 0 && !passes(i, s)) step.tile = kept++;
      if (step.kind == TileStep::Kind::take && on_columns(k, s)) find_place_of_row(step, steps_[made_by[step.a]], made_by[step.a] < k.segment[s], k.kind);
      for (int r : {step.a, step.b, step.c, step.d}) {
        if (r == numbers.none()) continue;
        last_use[r] = i;
        ++uses[r];
        if (!on_columns(k, s) || step.of_row_value) continue;
        TileStep& made = steps_[made_by[r]];
        made.spread = true;
        made.whole = made.whole || step.kind != TileStep::Kind::call;
        made.by_rows = made.by_rows && step.kind == TileStep::Kind::call && takes_rows(x.op);
      }
    }
  }
  for (int s = 1; k.kind == KernelKind::rows && s <= 2 * k.sweeps; s += 2)
    for (int i = k.segment[s]; i < k.segment[s + 1]; ++i) {
      TileStep& sum = steps_[i];  // a sum of products that have no other use
      if (sum.kind != TileStep::Kind::reduce || sum.x->op != Op::sum || !is_floating(sum.x->dtype) || uses[sum.a] > 1) continue;
      TileStep& product = steps_[made_by[sum.a]];
      if (product.kind != TileStep::Kind::call || product.x->op != Op::mul || made_by[sum.a] < k.segment[s]) continue;
      product.kind = TileStep::Kind::none;
      sum.of_products = true;
      sum.a = product.a;
      sum.b = product.b;
      for (int r : {sum.a, sum.b}) {
        last_use[r] = last_use[r] > i ? last_use[r] : i;
        steps_[made_by[r]].whole = true;
        steps_[made_by[r]].by_rows = false;
      }
    }
  for (int s = 0; s <= 2 * k.sweeps; ++s)
    for (int i = k.segment[s]; on_columns(k, s) && i < k.segment[s + 1]; ++i) {
      TileStep& step = steps_[i];
      for (int r : {step.a, step.b, step.c, step.d}) step.reads_rows = step.reads_rows || (step.kind == TileStep::Kind::call && r != numbers.none() && steps_[made_by[r]].by_rows);
    }
  Vec<int> busy_until, size;  // of the shared tiles
  for (int s = 0; s <= 2 * k.sweeps; ++s) {
    for (int& b : busy_until) b = -1;
    for (int i = k.segment[s]; i < k.segment[s + 1]; ++i) {
      if (!passes(i, s)) continue;
      const Instruction& x = plan_.instructions[i];
      const int bytes = static_cast<int>(size_of(x.dtype));
      int t = 0;  // an operand may be overwritten element by element at its last use, except a take's indices: a take writes a row at once
      while (t < busy_until.size() && (busy_until[t] > i || (busy_until[t] == i && (size[t] != bytes || x.op == Op::take)))) ++t;
      if (t == busy_until.size()) busy_until.push_back(-1), size.push_back(0);
      busy_until[t] = last_use[steps_[i].out];
      size[t] = bytes;
      steps_[i].tile = kept + t;
    }
  }
  if (kept + busy_until.size() > most_tiles_) most_tiles_ = kept + busy_until.size();
}

}  // namespace TT_ISA
}  // namespace tt::cpu

TT_KERNELS_END
