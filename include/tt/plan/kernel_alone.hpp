// One kernel of a plan as a plan of its own, whose sizes are symbols, numbered as they are met. So kernels that differ only in how sizes are
// computed (softmax of [n, c], of [a, b, c], of rows that are known to have 40 elements) have one text, which is compiled once for all of them.
//   KernelAlone k(plan, 0);   emit_c(k.plan, "softmax");   k.sizes[1].value(symbols)   // of symbol 1
#pragma once
#include "tt/plan/plan.hpp"

namespace tt {

class KernelAlone {
 public:
  static constexpr const char* name = "k";  ///< of the function in the text whose hash identifies the kernel
  Plan plan;                                ///< of one kernel, without buffers
  Vec<Extent> sizes;                        ///< the sizes that its symbols stand for

  KernelAlone(const Plan& whole, int number) : whole_(&whole) {
    Kernel k = whole.kernels[number];
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i) {
      const Instruction& x = whole.instructions[i];
      if (x.op != Op::load) continue;
      const int buffer = whole.accesses[x.access].buffer;
      while (loads_.size() <= buffer) loads_.push_back(0);
      ++loads_[buffer];
    }
    // The kernel's own extents are symbols first, constants too, each a different one: so a square needs no text of its own. Equal sizes share these symbols.
    for (Extent* e : {&k.cols, &k.inner, &k.rows})
      if (!e->is_constant() || e->code > 1) *e = add(*e);
    for (Extent* e : {&k.batch, &k.a_row, &k.a_inner, &k.b_inner, &k.b_column}) substitute(*e);
    for (int* a : {&k.a, &k.b, &k.windows}) access(*a);
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i) plan.instructions.push_back(instruction(whole.instructions[i]));
    for (int s = 2 * k.sweeps + 1; s >= 0; --s) k.segment[s] -= k.segment[0];
    k.where = {};
    k.first_binding = 0;
    k.code = 0;
    plan.kernels.push_back(k);
  }

 private:
  const Plan* whole_;  // while it is made
  Vec<int> loads_;     // of each operand
  Vec<int> accesses_;  // of the whole plan, in the order in which they are met

  Extent add(Extent e) {
    sizes.push_back(e);
    return Extent::symbol(sizes.size() - 1);
  }
  /// `numbers`: constants above 1 become symbols too, though they are no size of the kernel.
  void substitute(Extent& e, bool numbers = false) {
    for (int s = 0; s < sizes.size(); ++s)
      if (sizes[s] == e) {
        e = Extent::symbol(s);
        return;
      }
    if (!e.is_constant() || (numbers && e.code > 1)) e = add(e);
  }
  /// Writes the offset as rows * stride + elements, if the operand is loaded at many offsets, as windows are. RowJam sees in this form which offsets of a
  /// row are offsets of the next row too; symbols for whole offsets would hide that, and be equal to sizes by chance.
  bool is_place_in_window(Access& a) {
    constexpr int fewest_places = 9, most_rows = 16, most_elements = 64;  // windows of 3 x 3 at least, of 16 x 64 at most
    const auto close = [](Extent e) { return e.is_constant() && e.code >= 0 && e.code < most_elements; };
    if (a.buffer < 0 || a.buffer >= loads_.size() || loads_[a.buffer] < fewest_places) return false;
    for (int i = 0; i < a.term_count; ++i) {
      const Term& t = a.term(whole_->terms.begin(), i);
      if (t.divisor != Extent(1) || t.stride == Extent(0)) continue;
      Extent elements = a.offset;
      for (int rows = 1; rows < most_rows; ++rows) {
        elements = elements - t.stride;
        if (!close(elements) || (t.stride.is_constant() && elements.code >= t.stride.code)) continue;
        Extent step = t.stride;
        substitute(step, true);
        a.offset = step * Extent(rows) + elements;
        return true;
      }
    }
    return close(a.offset);
  }
  void access(int& a) {
    if (a < 0) return;
    int n = 0;
    while (n < accesses_.size() && accesses_[n] != a) ++n;
    if (n == accesses_.size()) {
      accesses_.push_back(a);
      Access its = whole_->accesses[a];
      if (!is_place_in_window(its)) substitute(its.offset);
      substitute(its.column);
      const int first = plan.terms.size();
      for (int i = 0; i < its.terms(); ++i) {
        Term t = whole_->terms[its.first_term + i];
        for (Extent* e : {&t.divisor, &t.modulus, &t.stride}) substitute(*e, true);  // channels, say, or the length of a temporary's rows, rounded up
        plan.terms.push_back(t);
      }
      its.first_term = first;
      plan.accesses.push_back(its);
    }
    a = n;
  }
  /// The size that a floating constant is equal to, as the divisor of a mean is, or -1: the constant becomes that size.
  int size_of_constant(const Instruction& x) const {
    if (x.op != Op::constant || !is_floating(x.dtype) || is_narrow(x.dtype)) return -1;
    for (int s = 0; s < sizes.size(); ++s)
      if (sizes[s].is_constant() && static_cast<double>(sizes[s].code) == decode(x.dtype, x.bits)) return s;
    return -1;
  }
  Instruction instruction(Instruction x) {
    access(x.access);
    Extent e = x.has_extent() ? x.extent() : Extent(0);
    if (const int s = size_of_constant(x); s >= 0) {
      x.op = Op::extent;
      e = sizes[s];
    }
    if (x.has_extent()) {
      substitute(e);
      x.bits = static_cast<std::uint64_t>(e.code);
    }
    return x;
  }
};

/// Is there anything to compile? Not of transpositions and products: these are functions of the library (without text for a product's epilogue).
inline bool has_text_of_its_own(const Plan& plan, const Kernel& k) {
  return k.kind != KernelKind::matmul && !is_transposition(k, plan.instructions.begin(), accesses_of(plan));
}

}  // namespace tt
