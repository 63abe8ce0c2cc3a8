// Emits a Plan's kernels as readable C that includes nothing, one function a kernel: elementwise kernels, reductions and column
// sums whole; of a matrix product only the epilogue over a row of a tile. The bodies of intrinsics are recorded and written out,
// so the text computes the same as the SIMD kernels, in the same order: same bits.
//   void softmax_0(void *const *p, const long long *s, const long long *r)   operands, symbols, r: see divided()
//   void relu_1(void *const *p, const long long *s, row, col, n, tile)   epilogue
#pragma once
#include "tt/plan/plan.hpp"

#include <utility>

namespace tt {

/// C text with one function a kernel, named `name`_k.
TT_INLINE Text emit_c(const Plan& plan, const char* name, bool has_fma = TT_HAS_FMA);
TT_INLINE Text emit_c(const Vec<NamedPlan>& plans, bool has_fma = TT_HAS_FMA);

}  // namespace tt

#if TT_DEFINES(backends)
#include "tt/backends/cpu/jam_rows.hpp"
#include "tt/backends/cpu/prelude.hpp"
#include "tt/backends/emit_text.hpp"
#include "tt/graph/reduce_order.hpp"

namespace tt {
namespace detail {

class CEmitter : KernelText {
 public:
  void add(const NamedPlan& p) {
    plan_ = p.plan;
    name_ = p.name;
    staged_ = Vec<char>(plan_->instructions.size(), 0);
    for (int k = p.first; k < p.end(); ++k)
      if (plan_->kernels[k].code == k) kernel(k);
  }
  Text text(bool has_fma) const {
    return Text(c_head(has_fma)) << c_prelude << common_prelude << c_trees << c_lanes << trees_ << functions_ << (stages_ ? c_staged : "") << kernels_;
  }

 private:
  const char* name_ = "";
  Vec<int> written_lanes_;  // op * dtype_count + dtype
  Vec<char> staged_;        // of each instruction of the plan: 1 if its element is in a block converted as a whole: a 16-bit float as float, others as int
  bool stages_ = false;     // does any kernel have such blocks?

  void kernel(int number) {
    k_ = &plan_->kernels[number];
    Text& t = kernels_;
    t << "\n/* kernel " << number << ": " << name(k_->kind) << ' ' << k_->rows << " x " << k_->cols;
    if (k_->kind != KernelKind::rows) t << " over " << k_->inner;
    if (k_->where.line) t << ", from line " << k_->where.line;
    t << " */\nvoid " << name_ << '_' << number << "(void *const *p, const i64 *s, "
      << (k_->kind == KernelKind::matmul ? "i64 row, i64 col, i64 n, const void *tile" : "const i64 *r") << ") {\n  (void)s;\n";
    if (k_->kind != KernelKind::matmul) t << "  (void)r;\n";
    rounds_ = false;
    for (int i = k_->segment[0]; i < k_->segment[2 * k_->sweeps + 1]; ++i)
      rounds_ = rounds_ || is_cast(plan_->instructions[i], DType::f64, DType::f32);
    if (k_->kind == KernelKind::rows) rows();
    else if (k_->kind == KernelKind::cols) cols();
    else epilogue();
    t << "}\n";
  }
  /// A kernel may be called for part of its rows or columns, r = {first row, end of rows, first column, end of columns}.
  /// Where no executor would divide the kernel, the text has its extents instead.
  SplitAxis divided() const {
    const KernelExtents all{k_->kind, 1, k_->rows.code, k_->cols.code, k_->inner.code, columns_divide(*plan_, *k_)};
    const bool constant = k_->rows.is_constant() && k_->cols.is_constant() && k_->inner.is_constant();
    if (constant && split_kernel(all, 2).parts < 2) return SplitAxis::none;
    return all.columns_divide ? SplitAxis::cols : SplitAxis::rows;  // cols: or rows
  }
  Text first_row() const { return divided() == SplitAxis::none ? Text("0") : Text("r[0]"); }
  Text end_row() const { return divided() == SplitAxis::none ? extent(k_->rows) : Text("r[1]"); }
  Text first_col() const { return divided() == SplitAxis::cols ? Text("r[2]") : Text("0"); }
  Text end_col() const { return divided() == SplitAxis::cols ? Text("r[3]") : extent(k_->cols); }

  // ---- one row that threads share (see shares_row, KernelBounds): phase 0 is the whole kernel. Phase p is sweep p - 1 over this call's
  // columns; a reduction stores the value of each block, and every later phase combines these to the row's value. The last phase, number
  // sweeps + 1, runs on one thread and does the stores that happen once a row.
  bool shared_ = false;
  int reductions_ = 0;        // of the kernel
  int reductions_before_ = 0; // of the kernel's earlier sweeps
  /// The address of the value of reduction number `which` of a sweep for the block that begins at column b.
  Text block_value(const Instruction& x, int which) const {
    return Text("*(") << c_type(x.dtype) << " *)(values + 8 * (b / " << row_block << " * " << reductions_ << " + " << reductions_before_ + which << "))";
  }
  void begin_shared_row() {
    shared_ = shares_row(*plan_, *k_);
    reductions_ = reductions_of(*plan_, *k_);
    reductions_before_ = 0;
    if (!shared_) return;
    kernels_ << "    const i64 phase = r[4], first = phase ? r[5] : 0, last = phase ? r[6] : n;\n    char *const values = (char *)r[7];\n    const int stores = !phase || phase > "
             << k_->sweeps << ";\n    (void)stores;\n";
  }
  /// The steps that run once a row.
  void row_steps(int s) {
    row_pointers(s, "row", "    ");
    before_store_ = shared_ ? "if (stores) " : "";
    segment(s, "row", "    ");
    before_store_ = "";
  }

  // ---- blocks of narrow elements
  static constexpr int staged_columns = 64;
  static const char* block_type(DType d) { return is_floating(d) ? "float" : "int"; }
  /// Does a loop over 16 columns of a reduction read elements of 8 or 16 bits? gcc 12 makes 8-byte vectors of everything in such a loop.
  static bool narrows_group(const Instruction& x, bool reduced) { return x.op == Op::load && reduced && (x.dtype == DType::boolean || (is_narrow(x.dtype) && !is_floating(x.dtype))); }
  /// True for loads with narrows_group, and for 16-bit floats: a load whose value is only cast to float, a store of a value that is only a
  /// cast float. bf16 only in a segment that is `reduced`: elsewhere compilers vectorise its conversion.
  bool can_be_staged(int s, int at, bool reduced) const {
    const Instruction& x = plan_->instructions[at];
    const DType d = x.dtype;
    const bool integer = narrows_group(x, reduced);
    if (!integer && (x.op == Op::load ? d != DType::f16 && !(reduced && d == DType::bf16) : x.op != Op::store || d != DType::f16)) return false;
    const Access& a = plan_->accesses[x.access];
    if (a.column != Extent(1) || a.column_terms > 0 || a.tiled || other_order(s, at)) return false;
    if (integer) return true;
    const int half = x.op == Op::load ? x.result : x.a;
    for (int i = k_->segment[0]; i < k_->segment[2 * k_->sweeps + 1]; ++i) {
      const Instruction& y = plan_->instructions[i];
      const bool here = i >= k_->segment[s] && i < k_->segment[s + 1];
      const bool makes = y.result == half && y.dtype == d;
      const bool reads = (y.a == half || y.b == half || y.c == half) && (y.op == Op::store ? y.dtype == d : y.op == Op::cast ? y.from == d : y.op == Op::where && y.dtype == d);
      if (x.op == Op::load && reads && !(here && is_cast(y, d, DType::f32))) return false;
      if (x.op == Op::store && ((makes && !(here && is_cast(y, DType::f32, d))) || (reads && i != at))) return false;
    }
    return true;
  }
  /// Finds the instructions to stage in a segment of columns; `reduced`: the segment has reductions.
  bool find_staged(int s, bool reduced = false) {
    bool any = false;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (can_be_staged(s, i, reduced)) {
        const Instruction& x = plan_->instructions[i];
        staged_[i] = 1;
        any = true;
        if (!is_floating(x.dtype)) continue;
        stages_ = true;
        for (int j = k_->segment[s]; j < k_->segment[s + 1]; ++j) {
          const Instruction& y = plan_->instructions[j];
          if (x.op == Op::load ? is_cast(y, x.dtype, DType::f32) && y.a == x.result : is_cast(y, DType::f32, x.dtype) && y.result == x.a) staged_[j] = 1;
        }
      }
    if (stages_)
      for (const DType d : {DType::f16, DType::bf16}) need_conversions(d);
    return any;
  }
  template <class F>
  void each_staged(int s, Op op, const F& f) {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (const Instruction& x = plan_->instructions[i]; x.op == op && staged_[i]) f(x);
  }
  /// Text before and after the loop over m columns from w on, `columns` at most.
  void begin_block(int s, const char* indent, int columns = staged_columns) {
    Vec<char> known(plan_->accesses.size(), 0);  // two views of one shape are one access
    for (const Op op : {Op::load, Op::store})
      each_staged(s, op, [&](const Instruction& x) {
        if (known[x.access]) return;
        known[x.access] = 1;
        kernels_ << indent << block_type(x.dtype) << " h" << x.access << '[' << columns << "];\n";
        if (!is_floating(x.dtype)) kernels_ << indent << "EACH for (i64 j = 0; j < m; ++j) h" << x.access << "[j] = x" << x.access << "[w + j];\n";
        else if (op == Op::load) kernels_ << indent << "f32_of_" << name(x.dtype) << "(h" << x.access << ", x" << x.access << " + w, m);\n";
      });
  }
  void end_block(int s, const char* indent) {
    each_staged(s, Op::store, [&](const Instruction& x) { kernels_ << indent << name(x.dtype) << "_of_f32(x" << x.access << " + w, h" << x.access << ", m);\n"; });
  }
  Text own_instruction(int i) override {
    Text t;
    if (!staged_[i]) return t;
    const Instruction& x = plan_->instructions[i];
    if (x.op == Op::store) return t << 'h' << x.access << "[i - w] = " << reg(DType::f16, x.a);
    t << "const " << block_type(x.dtype) << ' ' << reg(x.dtype, x.result) << " = ";
    if (x.op == Op::load) return t << 'h' << x.access << "[i - w]";
    return t << reg(x.from, x.a);
  }
  /// A segment for all columns from `first` to `end`.
  void column_loop(int s, const char* row, const Text& first, const Text& end, const char* indent) {
    Text& t = kernels_;
    Text inner = Text(indent) << "  ";
    if (!find_staged(s)) {
      t << indent << "EACH for (i64 i = " << first << "; i < " << end << "; ++i) {\n";
      segment(s, row, inner.c_str());
      t << indent << "}\n";
      return;
    }
    t << indent << "for (i64 w = " << first << "; w < " << end << "; w += " << staged_columns << ") {\n"
      << inner << "const i64 m = " << end << " - w < " << staged_columns << " ? " << end << " - w : " << staged_columns << ";\n";
    begin_block(s, inner.c_str());
    t << inner << "EACH for (i64 i = w; i < w + m; ++i) {\n";
    segment(s, row, (Text(inner) << "  ").c_str());
    t << inner << "}\n";
    end_block(s, inner.c_str());
    t << indent << "}\n";
  }

  /// Several rows at once, where that saves loads (RowJam); the loop then continues with the row after them.
  void jammed_rows() {
    const JammedRows jammed = RowJam(*plan_, *k_).jam();
    if (jammed.rows == 1) return;
    Text& t = kernels_;
    t << "    if (row + " << jammed.rows << " <= " << end_row();
    if (jammed.run != Extent(0)) t << " && row % (" << extent(jammed.run) << ") + " << jammed.rows << " <= " << extent(jammed.run);
    t << ") {\n";
    const Text first = first_col();
    const Plan* const plan = std::exchange(plan_, &jammed.plan);
    const Kernel* const kernel = std::exchange(k_, &jammed.plan.kernels[0]);
    const Vec<char> staged = std::exchange(staged_, Vec<char>(jammed.plan.instructions.size(), 0));
    row_pointers(0, "row", "      ");
    segment(0, "row", "      ");
    t << "      {\n";
    row_pointers(1, "row", "        ");
    column_loop(1, "row", first, Text("n"), "        ");
    t << "      }\n";
    row_pointers(2, "row", "      ");
    segment(2, "row", "      ");
    plan_ = plan, k_ = kernel, staged_ = staged;
    t << "      row += " << jammed.rows - 1 << ";\n      continue;\n    }\n";
  }
  void rows() {
    Text& t = kernels_;
    t << "  for (i64 row = " << first_row() << "; row < " << end_row() << "; ++row) {\n    const i64 n = "
      << end_col() << ";\n";
    jammed_rows();
    begin_shared_row();
    row_steps(0);
    if (k_->tile > 0)
      t << "    for (i64 b = " << first_col() << "; b < n; b += " << k_->tile << ") {\n    const i64 end = n < b + "
        << k_->tile << " ? n : b + " << k_->tile << ";\n";
    const Text first = k_->tile > 0 ? Text("b") : shared_ ? Text("first") : first_col(), end = k_->tile > 0 ? Text("end") : shared_ ? Text("last") : Text("n");
    for (int sweep = 0; sweep < k_->sweeps; ++sweep) {
      const int s = 2 * sweep + 1;
      if (has_reduction(s)) {
        reducing_sweep(s);
      } else {
        if (shared_) t << "    if (!phase || phase == " << sweep + 1 << ") {\n";
        else t << "    {\n";
        row_pointers(s, "row", "      ");
        column_loop(s, "row", first, end, "      ");
        t << "    }\n";
        if (shared_) t << "    if (phase == " << sweep + 1 << ") return;\n";
      }
      row_steps(s + 1);
    }
    if (k_->tile > 0) t << "    }\n";
    t << "  }\n";
  }
  /// The inside of a reducing loop. Element i is combined with lane l of each reduction, or (keep) stored in a group of elements for that.
  void accumulating_segment(int s, const char* row, bool keep = false) {
    Text& t = kernels_;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (!is_reduction(x.op)) {
        instruction(i, row, "          ");
        continue;
      }
      if (keep && !as_they_lie(s, x).empty()) continue;
      Text lane;
      lane << (keep ? 'e' : 'l') << reg(x.dtype, x.result) << "[l]";
      t << "          " << lane << " = ";
      if (keep) t << reg(x.dtype, x.a) << ";\n";
      else t << combine_name(x.op) << name(x.dtype) << '(' << lane << ", " << reg(x.dtype, x.a) << ");\n";
    }
  }
  /// The elements of a group that a reduction of segment s takes, if they are consecutive in memory and not overwritten (an output may share
  /// an input's memory), else nothing. Where such elements are copied first, gcc 12 stores half vectors, on which loads of whole vectors stall.
  Text as_they_lie(int s, const Instruction& reduction) const {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (x.result != reduction.a || x.dtype != reduction.dtype) continue;
      if (x.op == Op::cast && staged_[i])
        for (int j = k_->segment[s]; j < i; ++j)
          if (const Instruction& y = plan_->instructions[j]; y.op == Op::load && staged_[j] && y.result == x.a && y.dtype == x.from) return Text("h") << y.access << " + u";
      if (x.op != Op::load || stores_in(s)) return {};
      const Access& a = plan_->accesses[x.access];
      if (a.column != Extent(1) || a.column_terms > 0) return {};
      return Text("x") << x.access << " + g + u" << (a.tiled ? " - b" : "");
    }
    return {};
  }
  /// Does a segment only reduce elements that are consecutive in memory (as_they_lie)?
  bool only_lie(int s) const {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (is_reduction(x.op) ? as_they_lie(s, x).empty() : x.op != Op::load && !staged_[i]) return false;
    }
    return true;
  }
  void need_lanes(Op op, DType d) {
    const int key = static_cast<int>(op) * dtype_count + static_cast<int>(d);
    for (int w : written_lanes_)
      if (w == key) return;
    written_lanes_.push_back(key);
    trees_ << "LANES(" << c_type(d) << ", v_" << name(d) << ", " << 8 * size_of(d) << ", " << combine_name(op) << name(d) << ")\n";
  }
  void reducing_sweep(int s) {
    Text& t = kernels_;
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      need_tree(x.op, x.dtype);
      need_lanes(x.op, x.dtype);
      const Text r = reg(x.dtype, x.result);
      t << "    " << c_type(x.dtype) << ' ' << r << ";\n    tree_" << c << " t" << r << ";\n    t" << r << ".used = 0, t" << r
        << ".pushed = 0;\n";
    });
    const int phase = (s + 1) / 2;
    int which = 0;
    if (shared_) {
      t << "    for (i64 b = 0; b < n && phase > " << phase << "; b += " << row_block << ") {\n";
      each_reduction(s, [&](const Instruction& x, const Text& c) { t << "      push_" << c << "(&t" << reg(x.dtype, x.result) << ", " << block_value(x, which++) << ");\n"; });
      t << "    }\n    for (i64 b = first; (b < last || b == 0) && phase <= " << phase << "; b += " << row_block << ") {\n";
    } else {
      t << "    for (i64 b = 0; b < n || b == 0; b += " << row_block << ") {\n";
    }
    t << "      const i64 end = n < b + " << row_block << " ? n : b + " << row_block << ";\n";
    row_pointers(s, "row", "      ");
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "      lanes_" << c << " v" << r << ";\n      begin_" << c << "(&v" << r << ", " << c_identity(x.op, x.dtype) << ");\n";
    });
    const bool staged = find_staged(s, true);
    t << "      i64 g = b;\n      for (; end - g >= 64; g += 64) ";
    if (staged) {
      t << "{\n        const i64 w = g, m = 64;\n";
      begin_block(s, "        ");
      t << "        ";
    }
    t << "UNROLL for (int u = 0; u < 64; u += GROUP) {\n";
    each_reduction(s, [&](const Instruction& x, const Text&) {
      if (as_they_lie(s, x).empty()) t << "        " << c_type(x.dtype) << " e" << reg(x.dtype, x.result) << "[GROUP];\n";
    });
    if (!only_lie(s)) {
      t << "        EACH_IN_GROUP for (i64 l = 0; l < GROUP; ++l) {\n          const i64 i = g + u + l;\n          (void)i;\n";
      accumulating_segment(s, "row", true);
      t << "        }\n";
    }
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      const Text lying = as_they_lie(s, x);
      t << "        take_" << c << "(&v" << r << ", " << (lying.empty() ? Text("e") << r : lying) << ", u);\n";
    });
    t << "      }\n";
    if (staged) {
      end_block(s, "        ");
      t << "      }\n";
    }
    t << "      if (g < end) {\n";
    if (staged) {
      t << "        const i64 w = g, m = end - g;\n";
      begin_block(s, "        ");
    }
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "        " << c_type(x.dtype) << " l" << r << "[64];\n        spill_" << c << "(l" << r << ", &v" << r << ");\n";
    });
    t << "        EACH for (i64 l = 0; l < end - g; ++l) {\n          const i64 i = g + l;\n          (void)i;\n";
    accumulating_segment(s, "row");
    t << "        }\n";
    if (staged) end_block(s, "        ");
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "        fill_" << c << "(&v" << r << ", l" << r << ");\n";
    });
    t << "      }\n";
    which = 0;
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result), value = Text("fold_") << c << "(&v" << r << ')';
      if (shared_) t << "      if (phase) " << block_value(x, which++) << " = " << value << ";\n      else ";
      else t << "      ";
      t << "push_" << c << "(&t" << r << ", " << value << ");\n";
    });
    t << "    }\n";
    if (shared_) t << "    if (phase == " << phase << ") return;\n";
    reductions_before_ += which;
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "    " << r << " = result_" << c << "(&t" << r << ", " << c_identity(x.op, x.dtype)
        << ");\n";
    });
  }
  /// The number of partial sums that wait to be combined; see PairwiseTree.
  int waiting_parts() const {
    if (!k_->inner.is_constant()) return most_parts;
    int n = 1;
    for (std::int64_t parts = ColumnParts(k_->inner.code, k_->row_order).count(); parts > 1; parts /= 2) ++n;
    return n;
  }
  /// Columns whose sums are taken together: many, so that rows are read in memory order, but all sums of a kernel take at most
  /// some 64 KiB of the stack.
  int columns_together(int waiting) const {
    int bytes = 0;
    for (int i = k_->segment[1]; i < k_->segment[2]; ++i)
      if (const Instruction& x = plan_->instructions[i]; is_reduction(x.op)) bytes += size_of(x.dtype) * waiting;
    const int columns = bytes > 0 ? (1 << 16) / bytes / 16 * 16 : most_columns;
    return columns < 16 ? 16 : columns > most_columns ? most_columns : columns;
  }
  static constexpr int most_columns = 512;
  void cols() {
    Text& t = kernels_;
    const int waiting = waiting_parts(), together = columns_together(waiting);
    t << "  for (i64 row = " << first_row() << "; row < " << end_row() << "; ++row)\n  for (i64 col = " << first_col()
      << "; col < " << end_col() << "; col += " << together << ") {\n    const i64 n = " << end_col()
      << " - col < " << together << " ? " << end_col() << " - col : " << together << ", inner = " << extent(k_->inner) << ";\n";
    row_pointers(0, "row", "    ");
    segment(0, "row", "    ");
    t << "    int used = 0;\n    unsigned long long pushed = 0;\n";
    each_reduction(1, [&](const Instruction& x, const Text&) {
      t << "    " << c_type(x.dtype) << " t" << reg(x.dtype, x.result) << '[' << waiting << "][" << together << "];\n";
    });
    need_column_order();
    if (k_->row_order)
      t << "    const i64 lanes = lanes_of(inner), parts = (inner + " << row_block - 1 << ") / " << row_block
        << " * lanes;\n    for (i64 part = 0; part < parts || part == 0; ++part) {\n      const i64 block = part / lanes * " << row_block
        << ", b = block + lane_at(part % lanes, lanes), end = inner < block + " << row_block << " ? inner : block + " << row_block << ";\n";
    else
      t << "    for (i64 b = 0; b < inner || b == 0; b += " << column_block << ") {\n      const i64 end = inner < b + " << column_block
        << " ? inner : b + " << column_block << ";\n";
    each_reduction(1, [&](const Instruction& x, const Text&) {
      const Text r = reg(x.dtype, x.result);
      t << "      " << c_type(x.dtype) << " *const l" << r << " = t" << r << "[used];\n      for (i64 l = 0; l < n; ++l) l" << r << "[l] = "
        << c_identity(x.op, x.dtype) << ";\n";
    });
    t << "      for (i64 q = b; q < end; q += " << (k_->row_order ? reduction_lanes : 1)
      << ") {\n        const i64 at = row * inner + q;\n        (void)at;\n";
    row_pointers(1, "at", "        ");
    const bool staged = find_staged(1);
    if (staged) {
      t << "        const i64 w = col, m = n;\n";
      begin_block(1, "        ", together);
    }
    t << "        EACH for (i64 l = 0; l < n; ++l) {\n          const i64 i = col + l;\n          (void)i;\n";
    accumulating_segment(1, "at");
    t << "        }\n";
    if (staged) end_block(1, "        ");
    t << "      }\n      ++used;\n      for (unsigned long long m = pushed++; m & 1; m >>= 1) {\n        --used;\n";
    merge_columns("        ");
    t << "      }\n    }\n    while (used > 1) {\n      --used;\n";
    merge_columns("      ");
    t << "    }\n";
    row_pointers(2, "row", "    ");
    t << "    EACH for (i64 l = 0; l < n; ++l) {\n      const i64 i = col + l;\n      (void)i;\n";
    each_reduction(1, [&](const Instruction& x, const Text&) {
      const Text r = reg(x.dtype, x.result);
      t << "      const " << c_type(x.dtype) << ' ' << r << " = t" << r << "[0][l];\n";
    });
    segment(2, "row", "      ");
    t << "    }\n  }\n";
  }
  void merge_columns(const char* indent) {
    each_reduction(1, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      kernels_ << indent << "for (i64 l = 0; l < n; ++l) t" << r << "[used - 1][l] = " << c << "(t" << r << "[used - 1][l], t" << r << "[used][l]);\n";
    });
  }
  void epilogue() {
    row_pointers(0, "0", "  ");
    segment(0, "0", "  ");
    row_pointers(1, "row", "  ");
    column_loop(1, "row", Text("col"), Text("col + n"), "  ");
  }
};

}  // namespace detail

TT_INLINE Text emit_c(const Vec<NamedPlan>& plans, bool has_fma) {
  detail::CEmitter emitter;
  for (const NamedPlan& p : plans) emitter.add(p);
  return emitter.text(has_fma);
}
TT_INLINE Text emit_c(const Plan& plan, const char* name, bool has_fma) {
  return emit_c(Vec<NamedPlan>{{&plan, name}}, has_fma);
}

}  // namespace tt
#endif
