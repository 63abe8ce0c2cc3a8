// Emitted text: a Plan's kernels as readable C that includes nothing. One function a kernel;
// elementwise kernels, reductions and column sums whole, of a matrix product the epilogue over a
// row of a tile. The bodies of opaque ops are recorded and written out, so the text says what the
// SIMD kernels do, in the same order: same bits.
//   void softmax_0(void *const *p, const long long *s, const long long *r)   rows, cols; r: see below
//   void relu_1(void *const *p, const long long *s, row, col, n, tile)   epilogue
#pragma once
#include "tt/graph/memory.hpp"
#include "tt/graph/print.hpp"
#include "tt/graph/split.hpp"
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

constexpr const char* c_type(DType d) {
  constexpr const char* names[] = {"_Bool", "int", "long long", "float", "double"};
  return names[static_cast<int>(d)];
}

/// The bytes before every kernel; TT_FMA is the program's multiply-add mode.
constexpr const char* c_head(bool has_fma) {
  return has_fma ? R"(#define FMA_f32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_f64(a, b, c) __builtin_fma(a, b, c)
)"
                 : R"(#define FMA_f32(a, b, c) ((a) * (b) + (c))
#define FMA_f64(a, b, c) ((a) * (b) + (c))
)";
}
inline constexpr const char* c_prelude = R"(#define FN static inline __attribute__((always_inline))
typedef long long i64;
FN int bits_f32(float x) { union { float f; int i; } u = { .f = x }; return u.i; }
FN float f32_bits(int x) { union { int i; float f; } u = { .i = x }; return u.f; }
FN i64 bits_f64(double x) { union { double f; i64 i; } u = { .f = x }; return u.i; }
FN double f64_bits(i64 x) { union { i64 i; double f; } u = { .i = x }; return u.f; }
FN float max_f32(float a, float b) { return a > b || a != a ? a : b; }
FN float min_f32(float a, float b) { return a < b || a != a ? a : b; }
FN double max_f64(double a, double b) { return a > b || a != a ? a : b; }
FN double min_f64(double a, double b) { return a < b || a != a ? a : b; }
FN int max_i32(int a, int b) { return a > b ? a : b; }
FN int min_i32(int a, int b) { return a < b ? a : b; }
FN i64 max_i64(i64 a, i64 b) { return a > b ? a : b; }
FN i64 min_i64(i64 a, i64 b) { return a < b ? a : b; }
FN int i32_f32(float x) { return x >= -0x1p31f && x < 0x1p31f ? (int)x : (int)0x80000000; }
FN int i32_f64(double x) { return x >= -0x1p31 && x < 0x1p31 ? (int)x : (int)0x80000000; }
FN i64 i64_f32(float x) { return x >= -0x1p63f && x < 0x1p63f ? (i64)x : (i64)1 << 63; }
FN i64 i64_f64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (i64)x : (i64)1 << 63; }
#define IADD_i32(a, b) ((int)((unsigned)(a) + (unsigned)(b)))
#define ISUB_i32(a, b) ((int)((unsigned)(a) - (unsigned)(b)))
#define IMUL_i32(a, b) ((int)((unsigned)(a) * (unsigned)(b)))
#define IADD_i64(a, b) ((i64)((unsigned long long)(a) + (unsigned long long)(b)))
#define ISUB_i64(a, b) ((i64)((unsigned long long)(a) - (unsigned long long)(b)))
#define IMUL_i64(a, b) ((i64)((unsigned long long)(a) * (unsigned long long)(b)))
/* constant widths: gcc 12 keeps a loop over widths scalar */
#define HALVE(w, C) for (int i = 0; i < w; ++i) l[i] = C(l[i], l[i + w]);
/* partial results of blocks combine pairwise, like carries of a counter */
#define TREE(T, C) \
  typedef struct { T part[48]; int used; unsigned long long pushed; } tree_##C; \
  FN void push_##C(tree_##C *t, T x) { \
    for (unsigned long long n = t->pushed++; n & 1; n >>= 1) x = C(t->part[--t->used], x); \
    t->part[t->used++] = x; } \
  FN T result_##C(tree_##C *t, T empty) { \
    if (!t->used) return empty; \
    T x = t->part[--t->used]; \
    while (t->used > 0) x = C(t->part[--t->used], x); \
    return x; } \
  FN T fold_##C(T *l) { \
    HALVE(32, C) HALVE(16, C) HALVE(8, C) HALVE(4, C) HALVE(2, C) \
    return C(l[0], l[1]); }
FN float add_f32(float a, float b) { return a + b; }
FN double add_f64(double a, double b) { return a + b; }
FN int add_i32(int a, int b) { return IADD_i32(a, b); }
FN i64 add_i64(i64 a, i64 b) { return IADD_i64(a, b); }
)";

/// A constant that gives the same bits in C.
inline Text c_constant(DType d, std::uint64_t bits) {
  Text t;
  const auto hex = [&](std::uint64_t v, int digits) {
    t << "0x";
    for (int k = digits - 1; k >= 0; --k) t << "0123456789abcdef"[v >> (4 * k) & 15];
  };
  switch (d) {
    case DType::boolean: return t << (bits ? 1 : 0);
    case DType::i32: return t << '(' << decode<std::int32_t>(bits) << ')';
    case DType::i64:
      t << "(i64)";
      hex(bits, 16);
      return t << "ULL";
    case DType::f32: case DType::f64: break;
  }
  const double v = decode(d, bits);
  const std::int64_t whole = v > -1e6 && v < 1e6 ? static_cast<std::int64_t>(v) : 0;
  if (static_cast<double>(whole) == v && (whole != 0 || bits == 0))
    return t << (whole < 0 ? "(" : "") << whole << (d == DType::f32 ? ".0f" : ".0")
             << (whole < 0 ? ")" : "");
  t << (d == DType::f32 ? "f32_bits((int)" : "f64_bits((i64)");
  hex(bits, d == DType::f32 ? 8 : 16);
  t << (d == DType::f32 ? "u)" : "ull)");
  if (v == v && v < 1e300 && v > -1e300) t << " /* " << number_text(d, bits) << " */";
  return t;
}

/// The C expression of one elementwise op; a, b, c are the operands' texts.
inline Text c_expression(Op op, DType d, DType from, int n, const Text& a, const Text& b,
                         const Text& c) {
  Text t;
  const bool integer = is_integral(d);
  const char* D = name(d);
  const auto infix = [&](const char* o) -> Text& { return t << a << ' ' << o << ' ' << b; };
  const auto function = [&](const char* f) -> Text& {
    t << f << '(' << a;
    if (!b.empty()) t << ", " << b;
    return t << ')';
  };
  switch (op) {
    case Op::add: return integer ? t << "IADD_" << D << '(' << a << ", " << b << ')' : infix("+");
    case Op::sub: return integer ? t << "ISUB_" << D << '(' << a << ", " << b << ')' : infix("-");
    case Op::mul: return integer ? t << "IMUL_" << D << '(' << a << ", " << b << ')' : infix("*");
    case Op::div: return infix("/");
    case Op::max: return t << "max_" << D << '(' << a << ", " << b << ')';
    case Op::min: return t << "min_" << D << '(' << a << ", " << b << ')';
    case Op::fma:
      if (integer) return t << "IADD_" << D << "(IMUL_" << D << '(' << a << ", " << b << "), " << c << ')';
      return t << "FMA_" << D << '(' << a << ", " << b << ", " << c << ')';
    case Op::neg: return integer ? t << "ISUB_" << D << "(0, " << a << ')' : t << '-' << a;
    case Op::abs:
      if (integer) return t << '(' << a << " < 0 ? ISUB_" << D << "(0, " << a << ") : " << a << ')';
      return function(d == DType::f32 ? "__builtin_fabsf" : "__builtin_fabs");
    case Op::sqrt: return function(d == DType::f32 ? "__builtin_sqrtf" : "__builtin_sqrt");
    case Op::floor: case Op::ceil: case Op::trunc: case Op::round: {
      if (integer) return t << a;
      t << "__builtin_" << (op == Op::floor  ? "floor"
                            : op == Op::ceil ? "ceil"
                            : op == Op::trunc ? "trunc" : "nearbyint");
      return t << (d == DType::f32 ? "f(" : "(") << a << ')';
    }
    case Op::bit_and: return infix("&");
    case Op::bit_or: return infix("|");
    case Op::bit_xor: return infix("^");
    case Op::shift_left:
      return t << '(' << c_type(d) << ")((unsigned " << c_type(d) << ')' << a << " << " << n << ')';
    case Op::shift_right: return t << a << " >> " << n;
    case Op::shift_right_logical:
      return t << '(' << c_type(d) << ")((unsigned " << c_type(d) << ')' << a << " >> " << n << ')';
    case Op::lt: return infix("<");
    case Op::le: return infix("<=");
    case Op::eq: return infix("==");
    case Op::ne: return infix("!=");
    case Op::logical_and: return infix("&");
    case Op::logical_or: return infix("|");
    case Op::logical_not: return t << '!' << a;
    case Op::where: return t << a << " ? " << b << " : " << c;
    case Op::cast:
      if (d == DType::boolean) return t << a << " != 0";
      if (is_integral(d) && is_floating(from)) return t << D << '_' << name(from) << '(' << a << ')';
      return t << '(' << c_type(d) << ')' << a;
    case Op::bitcast:
      if (is_floating(from)) return t << "bits_" << name(from) << '(' << a << ')';
      return t << name(d) << "_bits(" << a << ')';
    default: return t << a;
  }
}

class CEmitter {
 public:
  void add(const Plan& plan, const char* name) {
    plan_ = &plan;
    name_ = name;
    for (int k = 0; k < plan.kernels.size(); ++k)
      if (plan.kernels[k].code == k) kernel(k);
  }
  Text text(bool has_fma) const {
    return Text(c_head(has_fma)) << c_prelude << trees_ << functions_ << kernels_;
  }

 private:
  const Plan* plan_ = nullptr;
  const char* name_ = "";
  Text functions_, trees_, kernels_;
  Vec<int> written_;        // opaque ops, code * dtype_count + dtype
  Vec<int> written_trees_;
  const Kernel* k_ = nullptr;

  // ---- bodies of opaque ops
  void need_function(int code, DType d) {
    const int key = code * dtype_count + static_cast<int>(d);
    for (int w : written_)
      if (w == key) return;
    written_.push_back(key);
    const OpDef& def = opaque_op(code);
    Graph g;
    int in[max_operands] = {};
    for (int i = 0; i < def.info.arity; ++i) in[i] = g.input(d, {});
    g.output(def.record(g, in));
    const Graph body = inline_bodies(g);
    Text t;
    t << "FN " << c_type(d) << ' ' << def.info.name << '_' << name(d) << '(';
    for (int i = 0; i < def.info.arity; ++i)
      t << (i ? ", " : "") << c_type(d) << " v" << body.inputs[i];
    t << ") {\n";
    for (int i = 0; i < body.size(); ++i) {
      const Node& n = body[i];
      if (n.op == Op::input) continue;
      t << "  const " << c_type(n.dtype) << " v" << i << " = ";
      if (n.op == Op::constant) t << c_constant(n.dtype, n.bits);
      else {
        Text o[3];
        for (int j = 0; j < 3; ++j)
          if (n.operand[j] >= 0) o[j] << 'v' << n.operand[j];
        if (n.op == Op::call) t << call_text(n.def->code, n.dtype, o);
        else
          t << c_expression(n.op, n.dtype, body[n.operand[arity(n.op) - 1]].dtype,
                            static_cast<int>(n.attribute), o[0], o[1], o[2]);
      }
      t << ";\n";
    }
    t << "  return v" << body.outputs[0] << ";\n}\n";
    functions_ << t;
  }
  Text call_text(int code, DType d, const Text* o) {
    need_function(code, d);
    Text t;
    t << opaque_op(code).info.name << '_' << name(d) << '(' << o[0];
    for (int j = 1; j < opaque_op(code).info.arity; ++j) t << ", " << o[j];
    return t << ')';
  }
  static const char* combine_name(Op op) {
    return op == Op::sum ? "add_" : op == Op::amax ? "max_" : "min_";
  }
  void need_tree(Op op, DType d) {
    const int key = static_cast<int>(op) * dtype_count + static_cast<int>(d);
    for (int w : written_trees_)
      if (w == key) return;
    written_trees_.push_back(key);
    trees_ << "TREE(" << c_type(d) << ", " << combine_name(op) << name(d) << ")\n";
  }
  static Text c_identity(Op op, DType d) {
    if (op == Op::sum) return Text("0");
    const bool max = op == Op::amax;
    switch (d) {
      case DType::f32: return Text(max ? "-__builtin_inff()" : "__builtin_inff()");
      case DType::f64: return Text(max ? "-__builtin_inf()" : "__builtin_inf()");
      case DType::i32: return Text(max ? "(-2147483647 - 1)" : "2147483647");
      default: return Text(max ? "(-9223372036854775807LL - 1)" : "9223372036854775807LL");
    }
  }

  // ---- places
  static Text extent(Extent e) {
    Text t;
    if (e.is_constant()) return t << e.code;
    t << e.coefficient();
    for (int i = 0; i < max_symbols; ++i)
      for (int k = e.exponent(i); k > 0; --k) t << " * s[" << i << ']';
    return t;
  }
  static Text term(const Term& m, const char* index) {
    Text k(index);
    if (m.divisor != Extent(1)) k = Text("(") << k << " / (" << extent(m.divisor) << "))";
    if (m.modulus != Extent(0)) k = Text("(") << k << " % (" << extent(m.modulus) << "))";
    return k << " * (" << extent(m.stride) << ')';
  }
  static Text row_offset(const Access& a, const char* row) {
    Text t;
    t << extent(a.offset);
    for (int i = 0; i < a.term_count; ++i) t << " + " << term(a.term[i], row);
    return t;
  }
  static Text reg(DType d, int i) {
    Text t;
    return t << name(d) << '_' << i;
  }
  static Text place(const Access& a, int number) {
    Text t;
    if (a.tiled) return t << 'x' << number << "[i - b]";
    if (a.column_terms > 0) {
      t << 'x' << number << '[';
      for (int i = 0; i < a.column_terms; ++i)
        t << (i ? " + " : "") << term(a.term[a.term_count + i], "i");
      return t << ']';
    }
    t << 'x' << number << (a.column == Extent(0) ? "[0]" : "[i");
    if (a.column != Extent(0)) {
      if (a.column != Extent(1)) t << " * (" << extent(a.column) << ')';
      t << ']';
    }
    return t;
  }

  /// Pointers to the rows of the accesses in a segment.
  void row_pointers(int s, const char* row, const char* indent) {
    Vec<int> done;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (x.access < 0) continue;
      bool known = false;
      for (int d : done) known = known || d == x.access;
      if (known) continue;
      done.push_back(x.access);
      const Access& a = plan_->accesses[x.access];
      if (x.op == Op::iota) continue;
      kernels_ << indent << c_type(x.dtype) << " *x" << x.access << " = (" << c_type(x.dtype) << " *)p["
               << a.buffer << "] + " << row_offset(a, row) << ";\n";
    }
  }
  void instruction(int i, const char* row, const char* indent) {
    const Instruction& x = plan_->instructions[i];
    Text& t = kernels_;
    t << indent;
    if (x.result >= 0) t << "const " << c_type(x.dtype) << ' ' << reg(x.dtype, x.result) << " = ";
    switch (x.op) {
      case Op::constant: t << c_constant(x.dtype, x.bits); break;
      case Op::extent:
        t << extent(Extent::from_code(static_cast<std::int64_t>(x.bits)));
        break;
      case Op::iota: {
        const Access& a = plan_->accesses[x.access];
        t << '(' << c_type(x.dtype) << ")(" << row_offset(a, row);
        if (a.column != Extent(0)) t << " + i";
        t << ')';
        break;
      }
      case Op::load: t << place(plan_->accesses[x.access], x.access); break;
      case Op::store:
        t << place(plan_->accesses[x.access], x.access) << " = " << reg(x.dtype, x.a);
        break;
      case Op::accumulator: t << "((const " << c_type(x.dtype) << " *)tile)[i - col]"; break;
      default: {
        const DType from = is_logical(x.op) ? DType::boolean
                           : x.op == Op::where || x.op == Op::call || is_arithmetic(x.op) ? x.dtype
                                                                                          : x.from;
        Text o[3];
        if (x.a >= 0) o[0] = reg(x.op == Op::where ? DType::boolean : from, x.a);
        if (x.b >= 0) o[1] = reg(from, x.b);
        if (x.c >= 0) o[2] = reg(from, x.c);
        if (x.op == Op::call) t << call_text(x.attribute, x.dtype, o);
        else t << c_expression(x.op, x.dtype, x.from, x.attribute, o[0], o[1], o[2]);
      }
    }
    t << ";\n";
  }
  void segment(int s, const char* row, const char* indent) {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (!is_reduction(plan_->instructions[i].op)) instruction(i, row, indent);
  }
  template <class F>
  bool each_reduction(int s, const F& f) {
    bool any = false;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (const Instruction& x = plan_->instructions[i]; is_reduction(x.op)) {
        Text c;
        c << combine_name(x.op) << name(x.dtype);
        f(x, c);
        any = true;
      }
    return any;
  }

  void kernel(int number) {
    k_ = &plan_->kernels[number];
    Text& t = kernels_;
    t << "\n/* kernel " << number << ": " << name(k_->kind) << ' ' << k_->rows << " x " << k_->cols;
    if (k_->kind != KernelKind::rows) t << " over " << k_->inner;
    if (k_->where.line) t << ", from line " << k_->where.line;
    t << " */\nvoid " << name_ << '_' << number << "(void *const *p, const i64 *s, "
      << (k_->kind == KernelKind::matmul ? "i64 row, i64 col, i64 n, const void *tile" : "const i64 *r") << ") {\n  (void)s;\n";
    if (k_->kind != KernelKind::matmul) t << "  (void)r;\n";
    if (k_->kind == KernelKind::rows) rows();
    else if (k_->kind == KernelKind::cols) cols();
    else epilogue();
    t << "}\n";
  }
  /// A kernel may be called for part of its rows or columns, r = {first row, end of rows, first
  /// column, end of columns}. Where no executor would divide it the text has its extents.
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

  void rows() {
    Text& t = kernels_;
    t << "  for (i64 row = " << first_row() << "; row < " << end_row() << "; ++row) {\n    const i64 n = "
      << end_col() << ";\n";
    row_pointers(0, "row", "    ");
    segment(0, "row", "    ");
    if (k_->tile > 0)
      t << "    for (i64 b = " << first_col() << "; b < n; b += " << k_->tile << ") {\n    const i64 end = n < b + "
        << k_->tile << " ? n : b + " << k_->tile << ";\n";
    const Text range = k_->tile > 0 ? Text("i = b; i < end") : Text("i = ") << first_col() << "; i < n";
    for (int sweep = 0; sweep < k_->sweeps; ++sweep) {
      const int s = 2 * sweep + 1;
      if (has_reduction(s)) {
        reducing_sweep(s);
      } else {
        t << "    {\n";
        row_pointers(s, "row", "      ");
        t << "      for (i64 " << range << "; ++i) {\n";
        segment(s, "row", "        ");
        t << "      }\n    }\n";
      }
      row_pointers(s + 1, "row", "    ");
      segment(s + 1, "row", "    ");
    }
    if (k_->tile > 0) t << "    }\n";
    t << "  }\n";
  }
  bool has_reduction(int s) const {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (is_reduction(plan_->instructions[i].op)) return true;
    return false;
  }
  /// The inside of a reducing loop: element i goes to lane l of each reduction.
  void accumulating_segment(int s, const char* row) {
    Text& t = kernels_;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (!is_reduction(x.op)) {
        instruction(i, row, "          ");
        continue;
      }
      Text lane;
      lane << 'l' << reg(x.dtype, x.result) << "[l]";
      t << "          " << lane << " = " << combine_name(x.op) << name(x.dtype) << '(' << lane << ", "
        << reg(x.dtype, x.a) << ");\n";
    }
  }
  void reducing_sweep(int s) {
    Text& t = kernels_;
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      need_tree(x.op, x.dtype);
      t << "    " << c_type(x.dtype) << ' ' << reg(x.dtype, x.result) << ";\n    tree_" << c << " t"
        << reg(x.dtype, x.result) << " = {0};\n";
    });
    t << "    for (i64 b = 0; b < n || b == 0; b += " << row_block << ") {\n      const i64 end = n < b + "
      << row_block << " ? n : b + " << row_block << ";\n";
    row_pointers(s, "row", "      ");
    each_reduction(s, [&](const Instruction& x, const Text&) {
      t << "      " << c_type(x.dtype) << " l" << reg(x.dtype, x.result)
        << "[64];\n      for (int l = 0; l < 64; ++l) l" << reg(x.dtype, x.result)
        << "[l] = " << c_identity(x.op, x.dtype) << ";\n";
    });
    // Whole groups have a constant width, which vectorizes without a remainder.
    t << "      i64 g = b;\n";
    for (const char* group : {"for (; end - g >= 64; g += 64) for (i64 l = 0; l < 64; ++l)", "for (i64 l = 0; l < end - g; ++l)"}) {
      t << "      " << group << " {\n          const i64 i = g + l;\n          (void)i;\n";
      accumulating_segment(s, "row");
      t << "      }\n";
    }
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "      push_" << c << "(&t" << r << ", fold_" << c << "(l" << r << "));\n";
    });
    t << "    }\n";
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "    " << r << " = result_" << c << "(&t" << r << ", " << c_identity(x.op, x.dtype)
        << ");\n";
    });
  }
  void cols() {
    Text& t = kernels_;
    t << "  for (i64 row = " << first_row() << "; row < " << end_row() << "; ++row)\n  for (i64 col = " << first_col()
      << "; col < " << end_col() << "; col += 64) {\n    const i64 n = " << end_col()
      << " - col < 64 ? " << end_col() << " - col : 64, inner = " << extent(k_->inner) << ";\n";
    row_pointers(0, "row", "    ");
    segment(0, "row", "    ");
    each_reduction(1, [&](const Instruction& x, const Text& c) {
      need_tree(x.op, x.dtype);
      const Text r = reg(x.dtype, x.result);
      t << "    tree_" << c << " t" << r << "[64];\n    " << c_type(x.dtype) << " l" << r
        << "[64];\n    for (int l = 0; l < 64; ++l) t" << r << "[l].used = 0, t" << r
        << "[l].pushed = 0;\n";
    });
    t << "    for (i64 b = 0; b < inner || b == 0; b += " << column_block
      << ") {\n      const i64 end = inner < b + " << column_block << " ? inner : b + "
      << column_block << ";\n";
    each_reduction(1, [&](const Instruction& x, const Text&) {
      t << "      for (int l = 0; l < 64; ++l) l" << reg(x.dtype, x.result)
        << "[l] = " << c_identity(x.op, x.dtype) << ";\n";
    });
    t << "      for (i64 q = b; q < end; ++q) {\n        const i64 at = row * inner + q;\n        (void)at;\n";
    row_pointers(1, "at", "        ");
    t << "        for (i64 l = 0; l < n; ++l) {\n          const i64 i = col + l;\n          (void)i;\n";
    accumulating_segment(1, "at");
    t << "        }\n      }\n";
    each_reduction(1, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "      for (i64 l = 0; l < n; ++l) push_" << c << "(&t" << r << "[l], l" << r << "[l]);\n";
    });
    t << "    }\n";
    row_pointers(2, "row", "    ");
    t << "    for (i64 l = 0; l < n; ++l) {\n      const i64 i = col + l;\n      (void)i;\n";
    each_reduction(1, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "      const " << c_type(x.dtype) << ' ' << r << " = result_" << c << "(&t" << r
        << "[l], " << c_identity(x.op, x.dtype) << ");\n";
    });
    segment(2, "row", "      ");
    t << "    }\n  }\n";
  }
  void epilogue() {
    Text& t = kernels_;
    row_pointers(0, "0", "  ");
    segment(0, "0", "  ");
    row_pointers(1, "row", "  ");
    t << "  for (i64 i = col; i < col + n; ++i) {\n";
    segment(1, "row", "    ");
    t << "  }\n";
  }
};

}  // namespace detail

/// C text with one function a kernel, named `name`_k.
TT_INLINE Text emit_c(const Plan& plan, const char* name, bool has_fma = TT_HAS_FMA);
/// One text for several plans; their names differ.
struct NamedPlan {
  const Plan* plan = nullptr;
  const char* name = "";
};
TT_INLINE Text emit_c(const Vec<NamedPlan>& plans, bool has_fma = TT_HAS_FMA);

#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE Text emit_c(const Vec<NamedPlan>& plans, bool has_fma) {
  detail::CEmitter emitter;
  for (const NamedPlan& p : plans) emitter.add(*p.plan, p.name);
  return emitter.text(has_fma);
}
TT_INLINE Text emit_c(const Plan& plan, const char* name, bool has_fma) {
  return emit_c(Vec<NamedPlan>{{&plan, name}}, has_fma);
}
#endif

}  // namespace tt
