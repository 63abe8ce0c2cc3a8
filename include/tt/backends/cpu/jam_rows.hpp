// Unroll and jam: consecutive rows of a kernel that load in part the same elements (windows of a convolution, stencils) become one row of a
// kernel that loads each element once. The rows' instructions are interleaved so that a row reaches a shared load when another row has it
// in a register; each row's own instructions keep their order: same bits.
//   y[i] = f(x[i - W], x[i], x[i + W])   four rows: 6 loads in the place of 12
#pragma once
#include "tt/plan/plan.hpp"

#include <utility>

namespace tt::detail {

/// The instructions of `rows` consecutive rows of a kernel as one row of `plan`, which has only that kernel. The rows must be in one run of `run` rows
/// (0: all rows are one run). rows 1: jamming gains nothing for this kernel.
struct JammedRows {
  int rows = 1;
  Extent run = 0;
  Plan plan;
};

class RowJam {
 public:
  RowJam(const Plan& plan, const Kernel& k) : plan_(plan), k_(k) {}

  JammedRows jam() {
    if (k_.kind != KernelKind::rows || k_.sweeps != 1 || k_.tile > 0 || (end() - begin()) * rows > most_instructions || !find_run()) return {};
    if (run_.is_constant() && run_ != Extent(0) && run_.code < rows) return {};
    const int delay = common_delay();
    if (delay == 0) return {};
    JammedRows result{rows, run_, {}};
    out_ = &result.plan;
    out_->terms = plan_.terms;
    kernel_ = k_;
    for (int s = 0; s < 3; ++s) {
      kernel_.segment[s] = out_->instructions.size();
      weave(s, delay);
      kernel_.segment[s + 1] = out_->instructions.size();
    }
    for (int& r : kernel_.registers) r *= rows;
    out_->kernels.push_back(kernel_);
    return result;
  }

 private:
  static constexpr int rows = 4;
  static constexpr int most_instructions = 1000;  ///< of all rows together: 7 x 7 windows have 600; each costs the C compiler time
  static constexpr int fewest_shared = 4;         ///< loads that a row shares with the next: 3 x 3 windows have 6 and gain 16 %, a stencil of five points has 2

  const Plan& plan_;
  const Kernel& k_;
  Extent run_ = 0;
  Plan* out_ = nullptr;
  Kernel kernel_;
  Vec<int> register_[dtype_count];  ///< for each register of each row (row * registers + number), the register that holds its value

  int begin() const { return k_.segment[0]; }
  int end() const { return k_.segment[3]; }
  const Term& term(const Access& a, int i) const { return a.term(plan_.terms.begin(), i); }

  /// Does every access advance by a constant step from a row to the next, within runs of equal length? Refused: a kernel that stores to
  /// a buffer that it loads, and 16-bit floats, which are converted a block at a time.
  bool find_run() {
    for (int i = begin(); i < end(); ++i) {
      const Instruction& x = plan_.instructions[i];
      if (is_reduction(x.op) || x.op == Op::take || is_narrow(x.dtype)) return false;
      for (int j = begin(); j < end() && x.op == Op::store; ++j)
        if (const Instruction& y = plan_.instructions[j]; y.op == Op::load && plan_.accesses[y.access].buffer == plan_.accesses[x.access].buffer) return false;
    }
    const auto each_term = [&](const auto& f) {
      for (int i = begin(); i < end(); ++i)
        if (const int number = plan_.instructions[i].access; number >= 0)
          for (int t = 0; t < plan_.accesses[number].term_count; ++t) f(term(plan_.accesses[number], t));
    };
    bool even = true;
    each_term([&](const Term& m) {
      if (m.divisor != Extent(1) || m.modulus == Extent(0)) return;
      even = even && (run_ == Extent(0) || run_ == m.modulus);
      run_ = m.modulus;
    });
    each_term([&](const Term& m) {
      if (m.divisor == Extent(1)) return;
      if (run_ == Extent(0)) run_ = m.divisor;
      Extent times;
      even = even && divide(m.divisor, run_, times);
    });
    return even;
  }
  /// The offset from a row to the next one of its run.
  Extent row_step(const Access& a) const {
    Extent step = 0;
    for (int t = 0; t < a.term_count; ++t)
      if (const Term& m = term(a, t); m.divisor == Extent(1)) step = step + m.stride;
    return step;
  }
  Access access_of_row(const Instruction& x, int row) const {
    Access a = plan_.accesses[x.access];
    a.offset = a.offset + row_step(a) * Extent(row);
    return a;
  }
  /// The distance, in instructions, from a load of a row to the load of the same elements by the row before it, for as many loads as possible; 0 if these are too few.
  int common_delay() const {
    Vec<int> delays;
    for (int i = k_.segment[1]; i < k_.segment[2]; ++i) {
      if (plan_.instructions[i].op != Op::load) continue;
      const Access next = access_of_row(plan_.instructions[i], 1);
      if (next.offset == plan_.accesses[plan_.instructions[i].access].offset) continue;
      for (int j = k_.segment[1]; j < k_.segment[2]; ++j)
        if (const Instruction& y = plan_.instructions[j]; y.op == Op::load && next.equals(plan_.accesses[y.access], plan_.terms.begin())) delays.push_back(j - i);
    }
    int best = 0, most = fewest_shared - 1;
    for (const int d : delays) {
      int count = 0;
      for (const int e : delays) count += d == e;
      if (count > most) best = d, most = count;
    }
    return best;
  }
  /// Interleaves segment s of all rows: instruction i of row r stands beside instruction i + r * delay of row 0.
  void weave(int s, int delay) {
    const int count = k_.segment[s + 1] - k_.segment[s], reach = (delay < 0 ? -delay : delay) * (rows - 1);
    for (int at = delay < 0 ? -reach : 0; at < count + (delay < 0 ? 0 : reach); ++at)
      for (int row = 0; row < rows; ++row)
        if (const int i = at - row * delay; i >= 0 && i < count) add(plan_.instructions[k_.segment[s] + i], row, s);
  }
  /// The register that holds the value of register `number` of a row: its own, until another is known to be equal.
  int& value_of(DType d, int number, int row) {
    Vec<int>& all = register_[static_cast<int>(d)];
    const int own = row * k_.registers[static_cast<int>(d)] + number;
    while (all.size() <= own) all.push_back(all.size());
    return all[own];
  }
  /// Adds an instruction of that row, unless an equal instruction visible from segment s exists already.
  void add(Instruction x, int row, int s) {
    int* const operands[] = {&x.a, &x.b, &x.c, &x.d};
    for (int k = 0; k < 4; ++k)
      if (int& o = *operands[k]; o >= 0) o = value_of(operand_dtype(x, k), o, row);
    if (x.access >= 0) x.access = number_of(access_of_row(x, row));
    if (x.result >= 0) {
      const int number = x.result;
      x.result = -1;
      int& result = value_of(x.dtype, number, row);
      for (int i = 0; i < out_->instructions.size(); ++i) {
        Instruction known = out_->instructions[i];
        const int same = std::exchange(known.result, -1);
        const bool in_columns = s == 2 && i >= kernel_.segment[1] && i < kernel_.segment[2];
        if (same >= 0 && known == x && !in_columns) {
          result = same;
          return;
        }
      }
      x.result = result = row * k_.registers[static_cast<int>(x.dtype)] + number;
    }
    out_->instructions.push_back(x);
  }
  int number_of(const Access& a) {
    for (int i = 0; i < out_->accesses.size(); ++i)
      if (out_->accesses[i].equals(a, plan_.terms.begin())) return i;
    out_->accesses.push_back(a);
    return out_->accesses.size() - 1;
  }
};

}  // namespace tt::detail
