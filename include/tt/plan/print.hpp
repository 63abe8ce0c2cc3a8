// A plan as text, kernel by kernel: for listings and tests.
//   const Text t = to_string(plan);
#pragma once
#include "tt/graph/print.hpp"
#include "tt/plan/plan.hpp"

namespace tt {

namespace detail {

template <class P>
constexpr void list_access(Text& t, const P& plan, const Kernel& k, const Access& a) {
  if (a.buffer >= 0) t << " b" << plan.bindings[k.first_binding + a.buffer];
  t << '[';
  if (a.offset != Extent(0)) t << a.offset << " + ";
  for (int i = 0; i < a.terms(); ++i) {
    const Term& m = a.term(plan.terms.begin(), i);
    if (i > a.term_count) t << " + ";
    t << (i < a.term_count ? "row" : "col");
    if (m.divisor != Extent(1)) t << '/' << m.divisor;
    if (m.modulus != Extent(0)) t << '%' << m.modulus;
    t << '*' << m.stride;
    if (i < a.term_count) t << " + ";
  }
  if (a.column_terms > 0) return void(t << ']');
  if (a.column == Extent(1)) t << "col";
  else if (a.column == Extent(0)) t << '0';
  else t << "col*" << a.column;
  t << ']';
}

}  // namespace detail

/// Of each kernel the grid, the instructions by segment, and the accesses of its operands; then the buffers.
template <class P>
  requires requires(const P& p) { p.bindings; }
constexpr Text to_string(const P& plan) {
  Text t;
  for (int j = 0; j < plan.kernels.size(); ++j) {
    const Kernel& k = plan.kernels[j];
    t << "kernel " << j << ' ' << name(k.kind) << ' ' << k.rows << " x " << k.cols;
    if (k.kind != KernelKind::rows) t << " over " << k.inner << (k.row_order ? " in a row's order" : "");
    if (k.code != j) t << " (code of kernel " << k.code << ')';
    t << '\n';
    if (k.kind == KernelKind::matmul) {
      t << "  product of";
      detail::list_access(t, plan, k, plan.accesses[k.a]);
      t << " and";
      detail::list_access(t, plan, k, plan.accesses[k.b]);
      if (k.windows >= 0) detail::list_access(t << " windows", plan, k, plan.accesses[k.windows]);
      t << '\n';
    }
    for (int s = 0; s < 2 * k.sweeps + 1; ++s)
      for (int i = k.segment[s]; i < k.segment[s + 1]; ++i) {
        const Instruction& x = plan.instructions[i];
        t << "  " << s << ": ";
        if (x.result >= 0) t << name(x.dtype) << " r" << x.result << " = ";
        t << (x.op == Op::call ? "call " : name(x.op));
        if (x.op == Op::call) t << x.attribute;
        for (int r : {x.a, x.b, x.c, x.d})
          if (r >= 0) t << " r" << r;
        if (x.op == Op::constant) t << ' ' << number_text(x.dtype, x.bits);
        if (x.op == Op::take) t << " * " << x.extent() << " +";
        if (x.access >= 0) detail::list_access(t, plan, k, plan.accesses[x.access]);
        t << '\n';
      }
  }
  for (int i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& b = plan.buffers[i];
    t << "b" << i << ' ' << name(b.dtype) << " x " << b.size;
    if (b.external >= 0) t << " argument " << b.external;
    else t << " at " << b.offset << " of the arena, kernels " << b.first << " to " << b.last;
    t << '\n';
  }
  return t << "arena " << plan.arena << " bytes\n";
}

}  // namespace tt
