// One kernel of a plan as a plan of its own, whose sizes are symbols in the order in which they are met. So kernels that are the same but for how sizes are
// computed (softmax of [n, c], of [a, b, c], of rows that are known to have 40 elements) have one text, which is compiled once for all of them.
//   KernelAlone k = kernel_alone(plan, 0);   emit_c(k.plan, "softmax");   k.sizes[1].value(symbols)   // of symbol 1
#pragma once
#include "tt/plan/plan.hpp"

namespace tt {

struct KernelAlone {
  static constexpr const char* name = "k";  ///< in the text by which it is known
  Plan plan;          ///< of one kernel, without buffers
  Vec<Extent> sizes;  ///< what its symbols stand for
};
inline KernelAlone kernel_alone(const Plan& plan, int number) {
  KernelAlone r;
  Kernel k = plan.kernels[number];
  const auto find = [&](Extent e) {
    int s = 0;
    while (s < r.sizes.size() && r.sizes[s] != e) ++s;
    return s;
  };
  const auto add = [&](Extent e) {
    r.sizes.push_back(e);
    return Extent::symbol(r.sizes.size() - 1);
  };
  // Its own extents first, numbers too, each for itself: a kernel over a square is no other one. What equals one of them is that symbol.
  for (Extent* e : {&k.cols, &k.inner, &k.rows})
    if (!e->is_constant() || e->code > 1) *e = add(*e);
  const auto name = [&](Extent& e, bool numbers = false) {
    const int s = find(e);
    if (s < r.sizes.size()) e = Extent::symbol(s);
    else if (!e.is_constant() || (numbers && e.code > 1)) e = add(e);
  };
  for (Extent* e : {&k.batch, &k.a_row, &k.a_inner, &k.b_inner, &k.b_column}) name(*e);
  Vec<int> accesses;  // of the plan, in the order in which they are met
  const auto access = [&](int& a) {
    if (a < 0) return;
    int n = 0;
    while (n < accesses.size() && accesses[n] != a) ++n;
    if (n == accesses.size()) {
      accesses.push_back(a);
      Access its = plan.accesses[a];
      name(its.offset);
      name(its.column);
      const int first = r.plan.terms.size();
      for (int i = 0; i < its.terms(); ++i) {
        Term t = plan.terms[its.first_term + i];
        for (Extent* e : {&t.divisor, &t.modulus}) name(*e);
        name(t.stride, true);  // of a temporary's rows: their length, and what it is rounded up to
        r.plan.terms.push_back(t);
      }
      its.first_term = first;
      r.plan.accesses.push_back(its);
    }
    a = n;
  };
  /// A number that is one of its sizes: what means are divided by.
  const auto size_of_constant = [&](const Instruction& x) {
    const int own = r.sizes.size();
    if (x.op != Op::constant || !is_floating(x.dtype) || is_narrow(x.dtype)) return own;
    int s = 0;
    while (s < own && !(r.sizes[s].is_constant() && static_cast<double>(r.sizes[s].code) == decode(x.dtype, x.bits))) ++s;
    return s;
  };
  for (int* a : {&k.a, &k.b, &k.windows}) access(*a);
  for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i) {
    Instruction x = plan.instructions[i];
    access(x.access);
    Extent e = x.has_extent() ? x.extent() : Extent(0);
    if (const int s = size_of_constant(x); s < r.sizes.size()) {
      x.op = Op::extent;
      e = r.sizes[s];
    }
    if (x.has_extent()) {
      name(e);
      x.bits = static_cast<std::uint64_t>(e.code);
    }
    r.plan.instructions.push_back(x);
  }
  for (int s = 2 * k.sweeps + 1; s >= 0; --s) k.segment[s] -= k.segment[0];
  k.where = {};
  k.first_binding = 0;
  k.code = 0;
  r.plan.kernels.push_back(k);
  return r;
}

}  // namespace tt
