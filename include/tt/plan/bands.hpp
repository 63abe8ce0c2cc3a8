// Bands: copies (transpositions, strided rows) that only the next kernel reads, in the same rows. An executor may make them for a block of rows at a
// time, right before these rows are read from the cache, and needs no memory for the whole copy.
//   const int bands = bands_before(plan, kernel, columns_divide(plan, plan.kernels[kernel]));   // kernels right before it
#pragma once
#include "tt/plan/plan.hpp"

namespace tt {

/// The accesses by which such a copy reads and writes. (See materializes_rows.)
constexpr const Access& source_of(const Plan& plan, const Kernel& copy) { return plan.accesses[plan.instructions[copy.segment[1]].access]; }
constexpr const Access& target_of(const Plan& plan, const Kernel& copy) { return plan.accesses[plan.instructions[copy.segment[1] + 1].access]; }
constexpr int element_size(const Plan& plan, const Kernel& copy) { return size_of(plan.instructions[copy.segment[1]].dtype); }

namespace detail {

/// Is element (row, column) at row * pitch + column? In a kernel of one row, whose columns are all the elements, at `column`.
constexpr bool lies_in_rows(const Access& a, const Term* terms, Extent pitch, bool one_row) {
  if (a.offset != Extent(0) || a.column != Extent(1) || a.column_terms > 0 || a.tiled) return false;
  if (one_row) return a.term_count == 0;
  Extent rows = 1;  // counted by the terms so far, innermost axis first
  for (int i = 0; i < a.term_count; ++i) {
    const Term& t = a.term(terms, i);
    if (t.divisor != rows || t.stride != pitch * rows || (t.modulus == Extent(0)) != (i + 1 == a.term_count)) return false;
    rows = rows * t.modulus;
  }
  return a.term_count > 0;
}
constexpr int buffer_of(const Plan& plan, const Kernel& k, const Access& a) { return plan.bindings[k.first_binding + a.buffer]; }
/// Does a kernel reduce its rows in a single sweep?
constexpr bool reduces_its_row(const Plan& plan, const Kernel& k) {
  if (k.kind != KernelKind::rows || k.sweeps != 1 || k.tile > 0) return false;
  for (int i = k.segment[1]; i < k.segment[2]; ++i)
    if (is_reduction(plan.instructions[i].op)) return true;
  return false;
}
/// May the copy `transposition` be made band by band within `kernel`, a later one: with that kernel's rows, with blocks of its only row, or, if it
/// sums down columns, with its columns? Operands of a kernel never overlap, except that an output may be written over an input.
constexpr bool is_band_of(const Plan& plan, int transposition, int kernel, bool columns_divide) {
  const Kernel &t = plan.kernels[transposition], &k = plan.kernels[kernel];
  const Accesses accesses = accesses_of(plan);
  if (!materializes_rows(t, plan.instructions.begin(), accesses) || k.kind == KernelKind::matmul) return false;
  const bool down_columns = k.kind == KernelKind::cols, one_row = !down_columns && k.rows == Extent(1) && k.cols == t.rows * t.cols && (columns_divide || reduces_its_row(plan, k));
  if (down_columns && (k.rows != Extent(1) || k.row_order)) return false;
  if (!one_row && ((down_columns ? k.inner : k.rows) != t.rows || k.cols != t.cols)) return false;
  const Access &from = source_of(plan, t), &to = target_of(plan, t);
  const Term* const terms = plan.terms.begin();
  if (const int across = neighbours_term(from, terms); across >= 0 && from.term(terms, across).divisor != Extent(1)) return false;  // lines are read again
  const int source = buffer_of(plan, t, from), made = buffer_of(plan, t, to);
  const Buffer& b = plan.buffers[made];
  if (b.external >= 0 || b.scratch || b.first != transposition || b.last != kernel || !lies_in_rows(to, terms, t.cols, false)) return false;
  for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i) {
    const Instruction& x = plan.instructions[i];
    if (x.access < 0 || accesses[x.access].buffer < 0) continue;
    const int buffer = buffer_of(plan, k, accesses[x.access]);
    if (buffer == made && (x.op != Op::load || !lies_in_rows(accesses[x.access], terms, t.cols, one_row) || (down_columns && accesses[x.access].term_count != 1))) return false;
    const bool same_memory = buffer == source || (plan.buffers[buffer].external >= 0 && plan.buffers[buffer].external == plan.buffers[source].external);
    if (same_memory && x.op == Op::store) return false;  // later bands would read rows that were overwritten
  }
  return true;
}

}  // namespace detail

/// How many kernels right before this one are copies of the same rows that may be made with it. `columns_divide`: the result of columns_divide() for it.
constexpr int bands_before(const Plan& plan, int kernel, bool columns_divide) {
  const auto read_by_a_band = [&](int copy, int bands) {  // then the whole copy must be in memory
    const Kernel& c = plan.kernels[copy];
    const int made = detail::buffer_of(plan, c, target_of(plan, c));
    for (int b = kernel - bands; b < kernel; ++b)
      if (detail::buffer_of(plan, plan.kernels[b], source_of(plan, plan.kernels[b])) == made) return true;
    return false;
  };
  int n = 0;
  for (int c = kernel - 1; c >= 0 && detail::is_band_of(plan, c, kernel, columns_divide); --c, ++n)
    if (plan.kernels[c].rows != plan.kernels[kernel - 1].rows || plan.kernels[c].cols != plan.kernels[kernel - 1].cols || read_by_a_band(c, n)) break;
  return n;
}

}  // namespace tt
