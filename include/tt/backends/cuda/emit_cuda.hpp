// Emits a Plan's kernels for a device as readable CUDA C++ that includes nothing.
//   name_k         elementwise kernels, 16 bytes a thread; rows with reductions, a warp or a block a row;
//                  sums over rows, a thread a column; matrix products with their epilogue
//   name_k_parts, name_k_finish   a reduction whose rows are too few to fill a device, in two launches
//   name_k_large, name_k_epilogue   a product in larger tiles, and the epilogue of a product that a library computed
// backends/cuda/launch.hpp decides the number of threads of each.
#pragma once
#include "tt/backends/cuda/kernel_forms.hpp"
#include "tt/backends/cuda/prelude.hpp"
#include "tt/backends/emit_text.hpp"

namespace tt::cuda {

namespace detail {

using tt::detail::c_type;

class CudaEmitter : tt::detail::KernelText {
 public:
  CudaEmitter() {
    operands_ = "a.p";
    symbols_ = "a.s";
    accumulator_ = "sum";
  }
  void add(const NamedPlan& p) {
    const Plan& plan = *p.plan;
    plan_ = &plan;
    name_ = p.name;
    values_ = may_be_values(plan);
    symbol_count_ = plan.symbols > symbol_count_ ? plan.symbols : symbol_count_;
    for (int k = p.first; k < p.end(); ++k)
      if (plan.kernels[k].code == k) kernel(k);
  }
  Text text(bool has_fma) const {
    Text t;
    t << "#define SYMBOLS " << symbol_count_ << '\n' << cuda_head(has_fma) << cuda_prelude << tt::detail::common_prelude << cuda_kernels;
    if (matmul_) t << cuda_matmul;
    return t << trees_ << functions_ << kernels_;
  }

 private:
  const char* name_ = "";
  int number_ = 0;
  int symbol_count_ = max_symbols;
  bool matmul_ = false;
  Vec<char> values_;

  Text operand(int number) const override {
    if (!values_[plan_->bindings[k_->first_binding + number]]) return KernelText::operand(number);
    return Text("operand(a, ") << number << ')';
  }
  void kernel(int number) {
    k_ = &plan_->kernels[number];
    number_ = number;
    Text& t = kernels_;
    t << "\n/* kernel " << number << ": " << tt::name(k_->kind) << ' ' << k_->rows << " x " << k_->cols;
    if (k_->kind != KernelKind::rows) t << " over " << k_->inner;
    if (k_->where.line) t << ", from line " << k_->where.line;
    t << " */\n";
    switch (form_of(*plan_, *k_)) {
      case KernelForm::elements: elements(); break;
      case KernelForm::rows: rows(); break;
      case KernelForm::columns: columns(); break;
      case KernelForm::matmul: matmul(); break;
    }
    vectors_.clear();
  }
  Text symbol() const { return Text(name_) << '_' << number_; }
  Text operands() const { return Text("const Operands<") << (k_->bindings > 0 ? k_->bindings : 1) << "> "; }
  void entry(const char* suffix) {
    const int threads = most_threads(form_of(*plan_, *k_), Text(suffix) == Text("_parts"));
    kernels_ << "extern \"C\" __global__ void __launch_bounds__(" << threads << ") " << symbol() << suffix << "(__grid_constant__ " << operands() << "a) {\n";
  }
  bool is_scratch(const Access& a) const {
    return a.buffer >= 0 && plan_->buffers[plan_->bindings[k_->first_binding + a.buffer]].scratch;
  }
  static bool along_columns(const Access& a) { return a.column == Extent(1) && a.column_terms == 0; }

  // ---- vectors of a sweep
  /// Finds the accesses of a segment that are vectors: loaded before, stored behind the loop over the elements.
  void find_vectors(int s, bool keep_scratch) {
    vectors_ = Vec<char>(plan_->accesses.size(), 0);
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (x.op != Op::load && x.op != Op::store) continue;
      const Access& a = plan_->accesses[x.access];
      if (keep_scratch && is_scratch(a)) vectors_[x.access] = kept;
      else if (along_columns(a) && !other_order(s, i)) vectors_[x.access] |= x.op == Op::load ? loaded : stored;
    }
  }
  template <class F>
  void each_vector(int s, Vectors how, const F& f) {
    Vec<char> done(plan_->accesses.size(), 0);
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (x.op != (how == loaded ? Op::load : Op::store) || !(vectors_[x.access] & how) || done[x.access]) continue;
      done[x.access] = 1;
      f(x);
    }
  }
  /// The condition under which vectors of `width` elements can be used in all sweeps, joined by &&.
  Text vectors_fit(int width, const Text& columns) {
    Text t;
    t << columns;
    Vec<char> done(plan_->accesses.size(), 0);
    for (int s = 1; s < 2 * k_->sweeps + 1; s += 2)
      for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
        const Instruction& x = plan_->instructions[i];
        if ((x.op != Op::load && x.op != Op::store) || done[x.access]) continue;
        const Access& a = plan_->accesses[x.access];
        if (!along_columns(a) || is_scratch(a)) continue;
        done[x.access] = 1;
        if (!t.empty()) t << " && ";
        t << "aligned<" << width << ">((" << c_type(x.dtype) << " *)" << operand(a.buffer) << " + " << extent(a.offset) << ')';
        for (int m = 0; m < a.term_count; ++m)
          if (const Extent stride = a.term(plan_->terms.begin(), m).stride; !stride.is_constant() || stride.code % width != 0)
            t << " && (" << extent(stride) << ") % " << width << " == 0";
      }
    return t.empty() ? Text("true") : t;
  }
  /// The elements of a sweep's vectors one after the other; `i` is the column of element k.
  void vector_body(int s, const char* column, const char* guard, const char* row, int width) {
    Text& t = kernels_;
    t << "        #pragma unroll\n        for (int k = 0; k < " << (width ? Text("") << width : Text("V"))
      << "; ++k) {\n          const i64 i = " << column << ";\n          (void)i;\n" << guard;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (!is_reduction(x.op)) {
        instruction(i, row, "          ");
        continue;
      }
      Text lane;
      lane << 'l' << reg(x.dtype, x.result) << "[k]";
      t << "          " << lane << " = " << combine_name(x.op) << tt::name(x.dtype) << '(' << lane << ", "
        << reg(x.dtype, x.a) << ");\n";
    }
    t << "        }\n";
  }

  // ---- elementwise: a thread computes four consecutive elements, or one
  void elements() {
    Text& t = kernels_;
    t << "template <int V> FN void " << symbol() << "_step(" << operands() << "&a, i64 row, i64 col) {\n  (void)row;\n";
    kept_rows();
    row_pointers(0, "row", "  ");
    segment(0, "row", "  ");
    for (int sweep = 0; sweep < k_->sweeps; ++sweep) {
      const int s = 2 * sweep + 1;
      find_vectors(s, true);
      t << "      {\n";
      pointers(s, "        ");
      each_vector(s, loaded, [&](const Instruction& x) {
        t << "        const Vector<" << c_type(x.dtype) << ", V> v" << x.access << " = load<V>(x" << x.access << " + col);\n";
      });
      each_vector(s, stored, [&](const Instruction& x) {
        t << "        Vector<" << c_type(x.dtype) << ", V> w" << x.access << ";\n";
      });
      vector_body(s, "col + k", "", "row", 0);
      each_vector(s, stored, [&](const Instruction& x) {
        t << "        store<V>(x" << x.access << " + col, w" << x.access << ");\n";
      });
      t << "      }\n";
      vectors_.clear();
      row_pointers(s + 1, "row", "  ");
      segment(s + 1, "row", "  ");
    }
    t << "}\n";
    entry("");
    const bool one_row = k_->rows == Extent(1);
    t << "  const i64 rows = " << extent(k_->rows) << ", n = " << extent(k_->cols)
      << ", first = blockIdx.x * (i64)blockDim.x + threadIdx.x, step = (i64)gridDim.x * blockDim.x;\n";
    t << "  if (" << vectors_fit(vector_elements, one_row ? Text() : Text("n % 4 == 0")) << ") {\n";
    if (one_row) {
      t << "    for (i64 e = first; e < n / 4; e += step) " << symbol() << "_step<4>(a, 0, e * 4);\n"
        << "    for (i64 e = n / 4 * 4 + first; e < n; e += step) " << symbol() << "_step<1>(a, 0, e);\n"
        << "  } else {\n    for (i64 e = first; e < n; e += step) " << symbol() << "_step<1>(a, 0, e);\n  }\n  (void)rows;\n}\n";
      return;
    }
    for (int width : {4, 1}) {
      if (width == 1) t << "  } else {\n";
      Text columns("n");
      if (width != 1) columns << " / " << width;
      t << "    for (i64 e = first; e < rows * (" << columns << "); e += step) {\n      i64 row, col;\n      split(e, "
        << columns << ", row, col);\n      " << symbol() << "_step<" << width << ">(a, row, col" << (width == 1 ? "" : " * 4") << ");\n    }\n";
    }
    t << "  }\n}\n";
  }
  /// Rows that are kept between sweeps: a thread keeps its own elements.
  void kept_rows() {
    for (int b = 0; b < k_->bindings; ++b)
      if (const Buffer& x = plan_->buffers[plan_->bindings[k_->first_binding + b]]; x.scratch)
        kernels_ << "  Vector<" << c_type(x.dtype) << ", V> r" << b << ";\n";
  }
  /// Pointers for a sweep, except to the rows that a thread or a team keeps.
  void pointers(int s, const char* indent) {
    row_pointers(s, "row", indent, [this](const Access& a) { return is_scratch(a); });
  }

  // ---- rows with reductions: a warp takes a block of 4,096 columns, a team of warps the row
  void rows() {
    Text& t = kernels_;
    const bool parts = has_parts(*plan_, *k_);
    t << "/* Mode 0: the row; 1: block `block` of it, as a partial result; 2: from those */\n"
      << "template <int V, int Mode> FN void " << symbol() << "_row(" << operands()
      << "&a, const Team &t, i64 row, i64 block, char *parts) {\n  (void)row; (void)block; (void)parts;\n  const i64 n = "
      << extent(k_->cols) << ", blocks = (n + 4095) / 4096;\n  (void)blocks;\n";
    team_rows();
    row_pointers(0, "row", "  ");
    row_segment(0);
    int reduction = 0;
    for (int sweep = 0; sweep < k_->sweeps; ++sweep) {
      const int s = 2 * sweep + 1;
      each_reduction(s, [&](const Instruction& x, const Text&) {
        need_tree(x.op, x.dtype);
        const Text r = reg(x.dtype, x.result);
        t << "  " << c_type(x.dtype) << ' ' << r << " = " << c_identity(x.op, x.dtype) << ";\n  " << c_type(x.dtype)
          << " *part_" << r << " = (" << c_type(x.dtype) << " *)(parts + blocks * " << 8 * reduction++ << ");\n";
      });
      if (parts) t << "  if (Mode != 2)\n";
      t << "  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {\n"
        << "      const i64 end = least(n, (b + 1) * 4096);\n";
      each_reduction(s, [&](const Instruction& x, const Text&) {
        const Text id = c_identity(x.op, x.dtype);
        t << "      " << c_type(x.dtype) << " l" << reg(x.dtype, x.result) << "[2] = {" << id << ", " << id << "};\n";
      });
      find_vectors(s, false);
      pointers(s, "      ");
      if (!stores_in(s)) t << "      #pragma unroll 4\n";
      t << "      for (i64 g = b * 4096 + V * t.lane; g < end; g += 64) {\n";
      each_vector(s, loaded, [&](const Instruction& x) {
        t << "        const Vector<" << c_type(x.dtype) << ", 2> v" << x.access << " = load_pair<V>(x" << x.access << ", g, end);\n";
      });
      each_vector(s, stored, [&](const Instruction& x) {
        t << "        Vector<" << c_type(x.dtype) << ", 2> w" << x.access << ";\n";
      });
      vector_body(s, "V == 2 ? g + k : g + 32 * k", "          if (V == 1 && i >= end) break;\n", "row", 2);
      each_vector(s, stored, [&](const Instruction& x) {
        t << "        store_pair<V>(x" << x.access << ", g, end, w" << x.access << ");\n";
      });
      t << "      }\n";
      vectors_.clear();
      each_reduction(s, [&](const Instruction& x, const Text& c) {
        const Text r = reg(x.dtype, x.result);
        t << "      " << r << " = fold_" << c << "<V>(l" << r << ");\n      if ((Mode == 1 || blocks > 1) && t.lane == 0) part_"
          << r << "[b] = " << r << ";\n";
      });
      t << "  }\n";
      if (parts) t << "  if (Mode == 1) return;\n";
      each_reduction(s, [&](const Instruction& x, const Text& c) {
        const Text r = reg(x.dtype, x.result);
        t << "  if (blocks > 1) " << r << " = combine_" << c << "(part_" << r << ", blocks, t);\n";
      });
      if (parts)
        each_reduction(s, [&](const Instruction& x, const Text&) {
          t << "  if (Mode == 2 && blocks == 1) " << reg(x.dtype, x.result) << " = part_" << reg(x.dtype, x.result) << "[0];\n";
        });
      row_pointers(s + 1, "row", "  ");
      row_segment(s + 1);
    }
    t << "  sync(t);\n}\n";
    const Text wide = vectors_fit(2, Text("n % 2 == 0"));
    const auto each_mode = [&](const char* suffix, int mode, const char* loop, const char* call) {
      entry(suffix);
      t << "  const Team t = team_of(a);\n  const i64 rows = " << extent(k_->rows) << ", n = " << extent(k_->cols)
        << ", blocks = (n + 4095) / 4096;\n  (void)blocks;\n  const bool wide = " << wide << ";\n  " << loop << " {\n";
      for (int v : {2, 1})
        if (v == 1 || mode != 2) t << "    " << (mode == 2 ? "" : v == 2 ? "if (wide) " : "else ") << symbol() << "_row<" << v << ", " << mode << ">(a, t, " << call << ");\n";
      t << "  }\n}\n";
    };
    each_mode("", 0, "for (i64 row = t.first; row < rows; row += t.step)", "row, 0, t.parts");
    if (!parts) return;
    each_mode("_parts", 1, "for (i64 unit = t.first; unit < rows * blocks; unit += t.step)",
              "unit / blocks, unit % blocks, a.work + unit / blocks * a.work_bytes");
    each_mode("_finish", 2, "for (i64 row = t.first; row < rows; row += t.step)", "row, 0, a.work + row * a.work_bytes");
  }
  /// Rows kept between sweeps belong to this team: in shared memory or behind its partial results.
  void team_rows() {
    for (int number = 0; number < plan_->accesses.size(); ++number) {
      bool used = false;
      DType dtype = DType::f32;
      for (int i = k_->segment[0]; i < k_->segment[2 * k_->sweeps + 1]; ++i)
        if (const Instruction& x = plan_->instructions[i]; x.access == number && x.op != Op::iota) {
          used = true;
          dtype = x.dtype;
        }
      const Access& a = plan_->accesses[number];
      if (!used || !is_scratch(a)) continue;
      kernels_ << "  " << c_type(dtype) << " *x" << number << " = (" << c_type(dtype) << " *)(t.rows + " << scratch_offset(a.buffer) << ");\n";
    }
  }
  /// The offset in bytes of an operand's scratch in the kernel's scratch: each is padded to a multiple of 16 elements.
  Text scratch_offset(int operand) const {
    Text t("0");
    for (int b = 0; b < operand; ++b)
      if (const Buffer& x = plan_->buffers[plan_->bindings[k_->first_binding + b]]; x.scratch)
        t << " + ((i64)(" << extent(x.size) << ") + 15) / 16 * " << 16 * size_of(x.dtype);
    return t;
  }
  /// The steps that run once a row, in every thread of the team; one thread stores.
  void row_segment(int s) {
    Text& t = kernels_;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      if (plan_->instructions[i].op == Op::store) t << "  sync(t);\n  if (t.thread == 0)\n";
      instruction(i, "row", "  ");
    }
    if (stores_in(s)) t << "  sync(t);\n";
  }

  // ---- sums over rows: a thread a column, a warp a part of the rows: a block of 256, or a lane of a row's order
  Text count_parts(const Text& inner) {
    if (!k_->row_order) return Text("(") << inner << " + 255) / 256";
    return Text("(") << inner << " + 4095) / 4096 * lanes_of(" << inner << ')';
  }
  void columns() {
    Text& t = kernels_;
    need_column_order();
    t << "/* Mode 0: 32 columns; 1: part `block` of their rows, as partial results; 2: from those */\n"
      << "template <int Mode> FN void " << symbol() << "_columns(" << operands()
      << "&a, const Team &t, i64 row, i64 i, i64 block, char *parts, i64 place, i64 apart) {\n"
      << "  const i64 n = " << extent(k_->cols) << ", inner = " << extent(k_->inner) << ", blocks = " << count_parts(Text("inner")) << ";\n"
      << "  (void)row; (void)block;\n";
    row_pointers(0, "row", "  ");
    segment(0, "row", "  ");
    int reduction = 0;
    each_reduction(1, [&](const Instruction& x, const Text&) {
      need_tree(x.op, x.dtype);
      const Text r = reg(x.dtype, x.result);
      t << "  " << c_type(x.dtype) << " s" << r << " = " << c_identity(x.op, x.dtype) << ", *part_" << r << " = ("
        << c_type(x.dtype) << " *)(parts + blocks * apart * " << 8 * reduction++ << ") + place;\n";
    });
    t << "  if (Mode != 2)\n  for (i64 b = Mode == 1 ? block : t.warp; b < (Mode == 1 ? block + 1 : blocks); b += t.warps) {\n";
    if (k_->row_order)
      t << "    const i64 lanes = lanes_of(inner), first = b / lanes * 4096, begin = first + lane_at(b % lanes, lanes), end = least(inner, first + 4096);\n";
    else t << "    const i64 end = least(inner, (b + 1) * 256);\n";
    each_reduction(1, [&](const Instruction& x, const Text&) {
      t << "    " << c_type(x.dtype) << " l" << reg(x.dtype, x.result) << "[1] = {" << c_identity(x.op, x.dtype) << "};\n";
    });
    t << "    if (i < n) {\n      #pragma unroll 8\n      for (i64 q = " << (k_->row_order ? "begin; q < end; q += 64" : "b * 256; q < end; ++q") << ") {\n        const i64 at = row * inner + q;\n        (void)at;\n";
    row_pointers(1, "at", "        ");
    for (int i = k_->segment[1]; i < k_->segment[2]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (!is_reduction(x.op)) {
        instruction(i, "at", "        ");
        continue;
      }
      const Text lane = Text("l") << reg(x.dtype, x.result) << "[0]";
      t << "        " << lane << " = " << combine_name(x.op) << tt::name(x.dtype) << '(' << lane << ", " << reg(x.dtype, x.a) << ");\n";
    }
    t << "      }\n    }\n";
    each_reduction(1, [&](const Instruction& x, const Text&) {
      const Text r = reg(x.dtype, x.result);
      t << "    s" << r << " = l" << r << "[0];\n    if (Mode == 1 || blocks > 1) part_" << r << "[b * apart] = s" << r << ";\n";
    });
    t << "  }\n  if (Mode == 1) return;\n";
    each_reduction(1, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "  if (blocks > 1) s" << r << " = combine_columns_" << c << "(part_" << r << ", blocks, apart, t);\n"
        << "  else if (Mode == 2 && blocks == 1) s" << r << " = part_" << r << "[0];\n"
        << "  const " << c_type(x.dtype) << ' ' << r << " = s" << r << ";\n";
    });
    t << "  if (t.warp == 0 && i < n) {\n";
    row_pointers(2, "row", "    ");
    segment(2, "row", "    ");
    t << "  }\n  sync(t);\n}\n";
    const auto each_mode = [&](const char* suffix, int mode, const char* units, const char* call) {
      entry(suffix);
      t << "  const Team t = team_of(a);\n  const i64 rows = " << extent(k_->rows) << ", groups = (" << extent(k_->cols)
        << " + 31) / 32, blocks = " << count_parts(extent(k_->inner)) << ";\n  (void)blocks;\n  for (i64 unit = t.first; unit < "
        << units << "; unit += t.step)\n    " << symbol() << "_columns<" << mode << ">(a, t, " << call << ");\n}\n";
    };
    each_mode("", 0, "rows * groups", "unit / groups, unit % groups * 32 + t.lane, 0, t.parts, t.lane, 32");
    // the partial results of all columns of a row are consecutive
    each_mode("_parts", 1, "rows * groups * blocks",
              "unit / groups / blocks, unit % groups * 32 + t.lane, unit / groups % blocks, "
              "a.work + unit / groups / blocks * a.work_bytes, unit % groups * 32 + t.lane, groups * 32");
    each_mode("_finish", 2, "rows * groups",
              "unit / groups, unit % groups * 32 + t.lane, 0, "
              "a.work + unit / groups * a.work_bytes, unit % groups * 32 + t.lane, groups * 32");
  }

  // ---- products
  /// Does a segment call an intrinsic? Inlined, its body would be in the machine code S x S times.
  bool holds_call(int s) const {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (plan_->instructions[i].op == Op::call) return true;
    return false;
  }
  void matmul() {
    matmul_ = true;
    Text& t = kernels_;
    const char* type = c_type(k_->dtype);
    t << (holds_call(1) ? "static __device__ __noinline__" : "FN") << " void " << symbol() << "_element(" << operands() << "&a, i64 row, i64 i, " << type << " sum) {\n  (void)row; (void)i;\n";
    row_pointers(0, "0", "  ");
    segment(0, "0", "  ");
    row_pointers(1, "row", "  ");
    segment(1, "row", "  ");
    t << "}\n";
    const Access &xa = plan_->accesses[k_->a], &xb = plan_->accesses[k_->b];
    const auto memory = [&](const Access& x) {
      return Text("(const ") << type << " *)" << operand(x.buffer) << " + " << row_offset(x, "q");
    };
    for (int side : {matmul_small, matmul_large}) {
      entry(side == matmul_large ? "_large" : "");
      const int tile = 16 * side;
      t << "  const i64 rows = " << extent(k_->rows) << ", cols = " << extent(k_->cols) << ", inner = " << extent(k_->inner)
        << ",\n            down = (rows + " << tile - 1 << ") / " << tile << ", across = (cols + " << tile - 1 << ") / " << tile
        << ";\n  for (i64 unit = blockIdx.x; unit < (" << extent(k_->batch) << ") * down * across; unit += gridDim.x) {\n"
        << "    const i64 q = unit / across / down;\n    const " << type << " *b = " << memory(xb) << ";\n    matmul_tile<" << type << ", " << side
        << ">(\n        " << memory(xa) << ", " << extent(k_->a_row) << ", " << extent(k_->a_inner) << ",\n        " << right_side()
        << ",\n        rows, cols, inner, unit / across % down * " << tile << ", unit % across * " << tile
        << ",\n        [&](i64 i, i64 j, " << type << " sum) { " << symbol() << "_element(a, q * rows + i, j, sum); });\n  }\n}\n";
    }
    entry("_epilogue");
    t << "  const i64 cols = " << extent(k_->cols) << ", all = (i64)(" << extent(k_->batch) << ") * (" << extent(k_->rows) << ") * cols;\n"
      << "  for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < all; e += (i64)gridDim.x * blockDim.x) {\n"
      << "    const i64 row = all >> 32 ? e / cols : (unsigned)e / (unsigned)cols;\n    " << symbol() << "_element(a, row, e - row * cols, ((const "
      << type << " *)a.work)[e]);\n  }\n}\n";
  }
  /// Element (k, j) of b, and whether its columns (elements with consecutive k) are contiguous.
  Text right_side() const {
    if (k_->windows < 0)
      return Text("[&](i64 k, i64 j) { return b[k * (") << extent(k_->b_inner) << ") + j * (" << extent(k_->b_column) << ")]; }, ("
                                                        << extent(k_->b_inner) << ") == 1";
    const Access& w = plan_->accesses[k_->windows];
    const char* index = windows_are_narrow(*k_, w, plan_->terms.begin()) ? "int" : "i64";
    return Text("[&](") << index << " k, " << index << " j) { return b[" << row_offset(w, "k") << " + " << column_offset(w, "j") << "]; }, "
                        << (windows_lie_down(*k_, w, plan_->terms.begin()) ? "true" : "false");
  }
};

}  // namespace detail

/// CUDA C++ text with the functions of every kernel, named `name`_k.
TT_INLINE Text emit_cuda(const Vec<NamedPlan>& plans, bool has_fma = TT_HAS_FMA);

#if TT_DEFINES(cuda)
TT_INLINE Text emit_cuda(const Vec<NamedPlan>& plans, bool has_fma) {
  detail::CudaEmitter emitter;
  for (const NamedPlan& p : plans) emitter.add(p);
  return emitter.text(has_fma);
}
#endif

}  // namespace tt::cuda
