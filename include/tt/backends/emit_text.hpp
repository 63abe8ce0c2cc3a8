// The parts that emitted text for a CPU and for a device share: constants, expressions, memory offsets, and the bodies of intrinsics,
// written out once for each dtype. A body computes the same as the SIMD kernels, in the same order: same bits. The loops around bodies
// are emitted by backends/cpu/emit_c.hpp and backends/cuda/emit_cuda.hpp, whose preludes define the functions named here.
//   const float f32_2 = FMA_f32(f32_0, f32_1, f32_0);   x3[i] = silu_f32(f32_2);
#pragma once
#include "tt/plan/memory.hpp"
#include "tt/graph/print.hpp"
#include "tt/plan/split.hpp"
#include "tt/graph/sym.hpp"

namespace tt {

namespace detail {

/// A boolean is a byte, 0 or 1: gcc 12 does not vectorise loops that read a _Bool and choose by it.
constexpr const char* c_type(DType d) { return dtypes[static_cast<int>(d)].c_type; }
/// The type of a value that is not in memory. A boolean is an int there: gcc 12 does not vectorise floats made of bytes.
constexpr const char* value_type(DType d) { return d == DType::boolean ? "int" : c_type(d); }

/// Functions that C and CUDA C have in common.
inline constexpr const char* common_prelude = R"(/* in two steps: the first is one instruction to gcc */
FN float max_f32(float a, float b) { const float m = a > b ? a : b; return a != a ? a : m; }
FN float min_f32(float a, float b) { const float m = a < b ? a : b; return a != a ? a : m; }
FN double max_f64(double a, double b) { const double m = a > b ? a : b; return a != a ? a : m; }
FN double min_f64(double a, double b) { const double m = a < b ? a : b; return a != a ? a : m; }
FN float at_least_f32(float x, float low) { const float c = BOUND_f32(low); return x < c ? c : x; }
FN float at_most_f32(float x, float high) { const float c = BOUND_f32(high); return x > c ? c : x; }
FN double at_least_f64(double x, double low) { const double c = BOUND_f64(low); return x < c ? c : x; }
FN double at_most_f64(double x, double high) { const double c = BOUND_f64(high); return x > c ? c : x; }
FN int max_i32(int a, int b) { return a > b ? a : b; }
FN int min_i32(int a, int b) { return a < b ? a : b; }
FN i64 max_i64(i64 a, i64 b) { return a > b ? a : b; }
FN i64 min_i64(i64 a, i64 b) { return a < b ? a : b; }
/* gcc 12 takes (float)(int)x for trunc(x), which is -0 above -1: there it gets 0 */
FN float whole_f32(float x) { return abs_f32(x) < 1 ? 0 : x; }
FN double whole_f64(double x) { return abs_f64(x) < 1 ? 0 : x; }
FN int i32_f32(float x) { const int in = (x >= -0x1p31f) & (x < 0x1p31f); return CHOOSE_i32(in, (int)(in ? whole_f32(x) : 0), (int)0x80000000); }
FN int i32_f64(double x) { const int in = (x >= -0x1p31) & (x < 0x1p31); return CHOOSE_i32(in, (int)(in ? whole_f64(x) : 0), (int)0x80000000); }
FN i64 i64_f32(float x) { const int in = (x >= -0x1p63f) & (x < 0x1p63f); return CHOOSE_i64(in, (i64)(in ? whole_f32(x) : 0), (i64)1 << 63); }
FN i64 i64_f64(double x) { const int in = (x >= -0x1p63) & (x < 0x1p63); return CHOOSE_i64(in, (i64)(in ? whole_f64(x) : 0), (i64)1 << 63); }
#define IADD_i32(a, b) ((int)((unsigned)(a) + (unsigned)(b)))
#define ISUB_i32(a, b) ((int)((unsigned)(a) - (unsigned)(b)))
#define IMUL_i32(a, b) ((int)((unsigned)(a) * (unsigned)(b)))
#define IADD_i64(a, b) ((i64)((unsigned long long)(a) + (unsigned long long)(b)))
#define ISUB_i64(a, b) ((i64)((unsigned long long)(a) - (unsigned long long)(b)))
#define IMUL_i64(a, b) ((i64)((unsigned long long)(a) * (unsigned long long)(b)))
FN float add_f32(float a, float b) { return a + b; }
FN double add_f64(double a, double b) { return a + b; }
FN int add_i32(int a, int b) { return IADD_i32(a, b); }
FN i64 add_i64(i64 a, i64 b) { return IADD_i64(a, b); }
)";

/// The order of ColumnParts.
inline constexpr const char* c_column_order = R"C(FN i64 lanes_of(i64 n) {
  i64 lanes = 1;
  while (lanes < 64 && lanes < n) lanes *= 2;
  return lanes; }
FN i64 lane_at(i64 i, i64 lanes) {
  i64 lane = 0;
  for (i64 bit = lanes / 2; bit > 0; bit /= 2, i /= 2) lane += i % 2 * bit;
  return lane; }
)C";

/// A constant that gives the same bits in C.
inline Text c_constant(DType d, std::uint64_t bits) {
  Text t;
  const auto hex = [&](std::uint64_t v, int digits) {
    t << "0x";
    for (int k = digits - 1; k >= 0; --k) t << "0123456789abcdef"[v >> (4 * k) & 15];
  };
  switch (d) {
    case DType::boolean: return t << (bits ? 1 : 0);
    case DType::f16: return t << static_cast<int>(decode<float16>(bits).bits);
    case DType::bf16: return t << static_cast<int>(decode<bfloat16>(bits).bits);
    case DType::u8: case DType::i8: case DType::i16:
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
    case Op::neg: return integer ? t << "ISUB_" << D << "(0, " << a << ')' : t << "neg_" << D << '(' << a << ')';
    case Op::abs:
      if (integer) return t << '(' << a << " < 0 ? ISUB_" << D << "(0, " << a << ") : " << a << ')';
      return t << "abs_" << D << '(' << a << ')';
    case Op::sqrt: case Op::floor: case Op::ceil: case Op::trunc: case Op::round:
      if (integer) return t << a;
      return t << name(op) << '_' << D << '(' << a << ')';
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
    case Op::logical_not: return t << a << " ^ 1";
    case Op::where: return t << a << " ? " << b << " : " << c;
    case Op::cast:
      if (d == DType::boolean) return t << a << " != 0";
      if (is_narrow_float(d) || is_narrow_float(from) || (is_integral(d) && is_floating(from))) return t << D << '_' << name(from) << '(' << a << ')';
      return t << '(' << c_type(d) << ')' << a;
    case Op::bitcast:
      if (is_floating(from)) return t << "bits_" << name(from) << '(' << a << ')';
      return t << name(d) << "_bits(" << a << ')';
    default: return t << a;
  }
}

/// The base of the emitters: the text that the kernels of both consist of.
class KernelText {
 protected:
  const Plan* plan_ = nullptr;
  const Kernel* k_ = nullptr;
  const char* operands_ = "p";      ///< names of the variables with a kernel's operands and the values of the symbols
  const char* symbols_ = "s";
  const char* accumulator_ = nullptr;  ///< null: an element of `tile`
  /// For each access: loaded elements k, k + 1, ... are in v<access>, elements to store in w<access>; rows kept between sweeps are in
  /// r<buffer>.
  enum Vectors : char { none = 0, loaded = 1, stored = 2, kept = 4 };
  Vec<char> vectors_;
  bool rounds_ = false;             ///< the kernel casts from f64 to f32, and the text must keep that
  Text functions_, trees_, kernels_;

  /// The address of an operand of the kernel.
  virtual Text operand(int number) const { return Text(operands_) << '[' << number << ']'; }
  bool stores_in(int s) const {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (plan_->instructions[i].op == Op::store) return true;
    return false;
  }
  /// Is it a load behind a store to the same memory in its segment, or a store before such a load? These must keep their order.
  bool other_order(int s, int at) const {
    const Instruction& x = plan_->instructions[at];
    const int begin = x.op == Op::load ? k_->segment[s] : at + 1, end = x.op == Op::load ? at : k_->segment[s + 1];
    for (int i = begin; i < end; ++i) {
      const Instruction& y = plan_->instructions[i];
      if (y.op == (x.op == Op::load ? Op::store : Op::load) && plan_->accesses[y.access].buffer == plan_->accesses[x.access].buffer) return true;
    }
    return false;
  }
  static bool is_cast(const Instruction& x, DType from, DType to) {
    return x.op == Op::cast && x.from == from && x.dtype == to;
  }

  // ---- bodies of ops that kernels call
  void need_function(int code, DType d) {
    const int key = code * dtype_count + static_cast<int>(d);
    for (int w : written_)
      if (w == key) return;
    written_.push_back(key);
    const OpDef& def = called_op(code);
    Graph g;
    Vec<int> in;
    for (int i = 0; i < def.info.arity; ++i) in.push_back(g.input(d, {}));
    g.output(def.record(def, g, in.begin()));
    write_function(inline_bodies(g), d, Text(def.info.name) << '_' << name(d));
  }
  /// The conversions to a 16-bit float and back.
  void need_conversions(DType d) {
    for (DType w : written_conversions_)
      if (w == d) return;
    written_conversions_.push_back(d);
    const auto write = [&]<class T>(T) {
      Graph from, to;
      const Sym number{&from, from.input(DType::f32, {})}, lanes{&to, to.input(DType::i32, {})};
      from.output(NarrowLanes<T>::template from<OpLanes>(number).id);
      to.output(NarrowLanes<T>::template to<OpLanes>(lanes).id);
      write_function(from, d, Text(name(d)) << "_f32");
      write_function(to, DType::f32, Text("f32_") << name(d));
    };
    if (d == DType::f16) write(float16{});
    else write(bfloat16{});
  }
  /// Writes a function of the graph's inputs that returns its output.
  void write_function(const Graph& body, DType result, const Text& function) {
    Text t;
    t << "FN " << value_type(result) << ' ' << function << '(';
    for (int i = 0; i < body.inputs.size(); ++i)
      t << (i ? ", " : "") << value_type(body[body.inputs[i]].dtype) << " v" << body.inputs[i];
    t << ") {\n";
    Vec<char> used(body.size(), 0);  // the comparisons of at_least_ and at_most_ are not
    used[body.outputs[0]] = 1;
    for (int i = body.size() - 1; i >= 0; --i)
      for (int j = bound_name(body, body[i]) ? 1 : 0; used[i] && j < 4; ++j)
        if (body[i].operand[j] >= 0) used[body[i].operand[j]] = 1;
    for (int i = 0; i < body.size(); ++i) {
      const Node& n = body[i];
      if (n.op == Op::input || !used[i]) continue;
      t << "  const " << value_type(n.dtype) << " v" << i << " = ";
      if (n.op == Op::constant) t << c_constant(n.dtype, n.bits);
      else {
        Text o[4];
        for (int j = 0; j < 4; ++j)
          if (n.operand[j] >= 0) o[j] << 'v' << n.operand[j];
        if (n.op == Op::call) t << call_text(n.def->code, n.dtype, o);
        else if (const char* bound = bound_name(body, n))
          t << bound << name(n.dtype) << '(' << o[2] << ", " << o[1] << ')';
        else if (n.op == Op::cast && n.dtype == DType::i32 && is_small_whole(body, n.operand[0]))
          t << "(int)" << o[0];
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
    const OpInfo& op = called_op(code).info;
    Text t;
    t << op.name << '_' << name(d) << '(' << o[0];
    for (int j = 1; j < op.arity; ++j) t << ", " << o[j];
    return t << ')';
  }
  /// Is a floating value always an integer that a float holds (an exponent, for example)? Its conversion to an integer needs no range check.
  static bool is_small_whole(const Graph& g, int id) {
    const Node& n = g[id];
    if (!is_floating(n.dtype) || is_narrow(n.dtype)) return false;
    if (n.op == Op::constant) {
      const double v = decode(n.dtype, n.bits);
      return v > -0x1p23 && v < 0x1p23 && static_cast<double>(static_cast<int>(v)) == v;
    }
    if (n.op == Op::cast) return g[n.operand[0]].op == Op::shift_right && g[n.operand[0]].dtype == DType::i32 && g[n.operand[0]].attribute > 8;
    if (n.op == Op::neg) return is_small_whole(g, n.operand[0]);
    return n.op == Op::where && is_small_whole(g, n.operand[1]) && is_small_whole(g, n.operand[2]);
  }
  /// The function for where(x < c, c, x) or where(c < x, c, x) with a constant c, else null.
  static const char* bound_name(const Graph& g, const Node& n) {
    if (n.op != Op::where || !is_floating(n.dtype) || g[n.operand[1]].op != Op::constant) return nullptr;
    const Node& test = g[n.operand[0]];
    if (test.op != Op::lt) return nullptr;
    if (test.operand[0] == n.operand[2] && test.operand[1] == n.operand[1]) return "at_least_";
    if (test.operand[0] == n.operand[1] && test.operand[1] == n.operand[2]) return "at_most_";
    return nullptr;
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
  void need_column_order() {
    if (k_->row_order && !orders_columns_) trees_ << c_column_order;
    orders_columns_ = orders_columns_ || k_->row_order;
  }
  static Text c_identity(Op op, DType d) {
    if (op == Op::sum) return Text("0");
    const bool max = op == Op::amax;
    switch (d) {
      case DType::f32: return Text(max ? "f32_bits((int)0xff800000u)" : "f32_bits(0x7f800000)");
      case DType::f64: return Text(max ? "f64_bits((i64)0xfff0000000000000ull)" : "f64_bits(0x7ff0000000000000ll)");
      case DType::i32: return Text(max ? "(-2147483647 - 1)" : "2147483647");
      default: return Text(max ? "(-9223372036854775807LL - 1)" : "9223372036854775807LL");
    }
  }

  // ---- offsets
  Text extent(Extent e) const {
    Text t;
    if (e.is_constant()) return t << e.code;
    if (!e.is_packed()) {
      t << '(';
      tt::detail::size_write(t, e, symbols_);
      return t << ')';
    }
    if (e.coefficient() != 1) t << e.coefficient();
    for (int i = 0; i < max_symbols; ++i)
      for (int k = e.exponent(i); k > 0; --k) t << (t.empty() ? "" : " * ") << symbols_ << '[' << i << ']';
    return t.empty() ? Text("1") : t;
  }
  Text term(const Term& m, const char* index) const {
    Text k(index);
    if (m.divisor != Extent(1)) k = Text("(") << k << " / (" << extent(m.divisor) << "))";
    if (m.modulus != Extent(0)) k = Text("(") << k << " % (" << extent(m.modulus) << "))";
    return k << " * " << step(m.stride);
  }
  /// The factor that an index is multiplied by. BACK hides from the compiler that a stride is negative: for rows of two elements, each before the
  /// last, gcc 12 reads four elements, the last two of them behind the first row.
  Text step(Extent e) const {
    const bool back = e.is_constant() && e.code < 0;
    return (back ? Text("BACK(") : Text("(")) << extent(e) << ')';
  }
  Text row_offset(const Access& a, const char* row) const {
    Text t;
    if (a.offset != Extent(0) || a.term_count == 0) t << extent(a.offset);
    for (int i = 0; i < a.term_count; ++i) t << (t.empty() ? "" : " + ") << term(a.term(plan_->terms.begin(), i), row);
    return t;
  }
  /// For an access whose columns have terms.
  Text column_offset(const Access& a, const char* column) const {
    Text t;
    for (int i = 0; i < a.column_terms; ++i) t << (i ? " + " : "") << term(a.term(plan_->terms.begin(), a.term_count + i), column);
    return t;
  }
  static Text reg(DType d, int i) {
    Text t;
    return t << name(d) << '_' << i;
  }
  Text element(int number, Vectors how) const {
    const Access& a = plan_->accesses[number];
    const char in = number < vectors_.size() ? vectors_[number] : char{none};
    if (in & kept) return Text("r") << a.buffer << ".v[k]";
    if (in & how) return Text(how == loaded ? "v" : "w") << number << ".v[k]";
    Text t;
    if (a.tiled) return t << 'x' << number << "[i - b]";
    if (a.column_terms > 0) {
      return t << 'x' << number << '[' << column_offset(a, "i") << ']';
    }
    t << 'x' << number << (a.column == Extent(0) ? "[0]" : "[i");
    if (a.column != Extent(0)) {
      if (a.column == Extent(-1)) t << " * (-1)";  // gives vectors in reverse order
      else if (a.column != Extent(1)) t << " * " << step(a.column);
      t << ']';
    }
    return t;
  }

  /// The element at an index that is a value.
  Text taken(const Instruction& x) const {
    const Access& a = plan_->accesses[x.access];
    Text t;
    t << 'x' << x.access << '[' << reg(DType::i64, x.a) << " * " << step(x.extent());
    if (a.column != Extent(0)) t << " + i * " << step(a.column);
    return t << ']';
  }

  /// Pointers to the rows of the accesses in a segment.
  void row_pointers(int s, const char* row, const char* indent) {
    row_pointers(s, row, indent, [](const Access&) { return false; });
  }
  template <class Skip>
  void row_pointers(int s, const char* row, const char* indent, const Skip& skip) {
    Vec<int> done;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (x.access < 0) continue;
      bool known = false;
      for (int d : done) known = known || d == x.access;
      if (known) continue;
      done.push_back(x.access);
      const Access& a = plan_->accesses[x.access];
      if (x.op == Op::iota || skip(a)) continue;
      kernels_ << indent << c_type(x.dtype) << " *x" << x.access << " = (" << c_type(x.dtype) << " *)" << operand(a.buffer)
               << " + " << row_offset(a, row) << ";\n";
    }
  }
  const char* before_store_ = "";  ///< a condition, where not every call of a kernel stores
  /// An instruction that the emitter writes in its own way, or nothing.
  virtual Text own_instruction(int) { return {}; }
  void instruction(int i, const char* row, const char* indent) {
    const Instruction& x = plan_->instructions[i];
    Text& t = kernels_;
    t << indent;
    if (const Text own = own_instruction(i); !own.empty()) {
      t << own << ";\n";
      return;
    }
    if (x.result >= 0) t << "const " << value_type(x.dtype) << ' ' << reg(x.dtype, x.result) << " = ";
    switch (x.op) {
      case Op::constant: t << c_constant(x.dtype, x.bits); break;
      case Op::extent:
        t << extent(x.extent());
        break;
      case Op::iota: {
        const Access& a = plan_->accesses[x.access];
        t << '(' << c_type(x.dtype) << ")(" << row_offset(a, row);
        if (a.column != Extent(0)) t << " + i";
        t << ')';
        break;
      }
      case Op::load: t << element(x.access, loaded); break;
      case Op::take: t << taken(x); break;
      case Op::store: t << before_store_ << element(x.access, stored) << " = " << reg(x.dtype, x.a); break;
      case Op::accumulator:
        if (accumulator_) t << accumulator_;
        else t << "((const " << c_type(x.dtype) << " *)tile)[i - col]";
        break;
      default: {
        const int operands[] = {x.a, x.b, x.c, x.d};
        Text o[4];
        for (int j = 0; j < 4; ++j)
          if (operands[j] >= 0) o[j] = reg(operand_dtype(x, j), operands[j]);
        if (x.op == Op::call) t << call_text(x.attribute, x.dtype, o);
        else if (x.op == Op::neg && is_floating(x.dtype) && never_fma(i)) t << '-' << o[0];
        else if (x.op == Op::where && size_of(x.dtype) == 8 && !compared(i))
          t << "CHOOSE_" << name(x.dtype) << '(' << o[0] << ", " << o[1] << ", " << o[2] << ')';
        else if (rounds_ && is_cast(x, DType::f32, DType::f64)) t << "F64_F32(" << o[0] << ')';
        else {
          for (DType narrow : {x.dtype, x.from})
            if (x.op == Op::cast && is_narrow_float(narrow)) need_conversions(narrow);
          t << c_expression(x.op, x.dtype, x.from, x.attribute, o[0], o[1], o[2]);
        }
      }
    }
    t << ";\n";
  }
  /// Is the condition of instruction i a comparison? Then gcc 12 vectorises a choice of 64-bit values for AVX-512; with other conditions
  /// it does not.
  bool compared(int i) const {
    const int condition = plan_->instructions[i].a;
    for (int j = i - 1; j >= k_->segment[0]; --j)
      if (const Instruction& from = plan_->instructions[j]; from.result == condition && from.dtype == DType::boolean)
        return is_comparison(from.op);
    return false;
  }
  /// Is the value that instruction i negates not the result of an fma, whatever the compiler inlines and forwards? Then a minus sign is
  /// correct, and quicker than neg_f32, with which silu takes 5 % more.
  bool never_fma(int i) const {
    const Instruction& x = plan_->instructions[i];
    for (int j = i - 1; j >= k_->segment[0]; --j) {
      const Instruction& from = plan_->instructions[j];
      if (from.result != x.a || from.dtype != x.dtype) continue;
      if (from.op != Op::load) return from.op == Op::add || from.op == Op::sub || from.op == Op::mul || from.op == Op::div;
      for (int k = k_->segment[0]; k < k_->segment[2 * k_->sweeps + 1]; ++k)
        if (const Instruction& to = plan_->instructions[k];
            to.op == Op::store && plan_->accesses[to.access].buffer == plan_->accesses[from.access].buffer)
          return false;
      return true;
    }
    return false;
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
  bool has_reduction(int s) const {
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i)
      if (is_reduction(plan_->instructions[i].op)) return true;
    return false;
  }

 private:
  Vec<int> written_;  // functions of called ops, code * dtype_count + dtype
  Vec<int> written_trees_;
  Vec<DType> written_conversions_;
  bool orders_columns_ = false;
};

}  // namespace detail
}  // namespace tt
