// Emitted text: a Plan's kernels as readable C that includes nothing. One function a kernel;
// elementwise kernels, reductions and column sums whole, of a matrix product the epilogue over a
// row of a tile. The bodies of opaque ops are recorded and written out, so the text says what the
// SIMD kernels do, in the same order: same bits.
//   void softmax_0(void *const *p, const long long *s, const long long *r)   rows, cols; r: see below
//   void relu_1(void *const *p, const long long *s, row, col, n, tile)   epilogue
#pragma once
#include "tt/plan/plan.hpp"

namespace tt {

/// C text with one function a kernel, named `name`_k.
TT_INLINE Text emit_c(const Plan& plan, const char* name, bool has_fma = TT_HAS_FMA);
TT_INLINE Text emit_c(const Vec<NamedPlan>& plans, bool has_fma = TT_HAS_FMA);

}  // namespace tt

#if TT_DEFINES(backends)
#include "tt/backends/emit_text.hpp"
#include "tt/graph/reduce_order.hpp"

namespace tt {
namespace detail {

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
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef long long i64;
FN int bits_f32(float x) { union { float f; int i; } u = { .f = x }; return u.i; }
FN float f32_bits(int x) { union { int i; float f; } u = { .i = x }; return u.f; }
FN i64 bits_f64(double x) { union { double f; i64 i; } u = { .f = x }; return u.i; }
FN double f64_bits(i64 x) { union { i64 i; double f; } u = { .i = x }; return u.f; }
/* a zero that no compiler knows */
__attribute__((visibility("hidden"))) int zero;
/* gcc 12 takes -fma(a, b, c) for fma(-a, b, -c), which gives the other zero; and vectors of -x == x, with a sign that it
   knows, for sign == 0 */
FN float neg_f32(float x) { return f32_bits(bits_f32(x) ^ ((int)0x80000000 | zero)); }
FN double neg_f64(double x) { return f64_bits(bits_f64(x) ^ ((i64)1 << 63 | zero)); }
/* gcc 12 takes vectors of (double)(float)x for x, unless something is in between */
#define F64_F32(x) ((double)f32_bits(bits_f32(x) | zero))
#define BACK(n) ((n) | zero)
/* c ? a : b, by a byte of 0 or 1 */
FN double CHOOSE_f64(i64 c, double a, double b) { return f64_bits((bits_f64(a) & -c) | (bits_f64(b) & ~-c)); }
FN i64 CHOOSE_i64(i64 c, i64 a, i64 b) { return (a & -c) | (b & ~-c); }
/* gcc 12 makes one instruction of x < c ? c : x, unless it knows c */
#define BOUND_f32(x) f32_bits(bits_f32(x) | zero)
#define BOUND_f64(x) f64_bits(bits_f64(x) | zero)
#define abs_f32 __builtin_fabsf
#define abs_f64 __builtin_fabs
#define sqrt_f32 __builtin_sqrtf
#define sqrt_f64 __builtin_sqrt
#define floor_f32 __builtin_floorf
#define floor_f64 __builtin_floor
#define ceil_f32 __builtin_ceilf
#define ceil_f64 __builtin_ceil
#define trunc_f32 __builtin_truncf
#define trunc_f64 __builtin_trunc
#define round_f32 __builtin_nearbyintf
#define round_f64 __builtin_nearbyint
)";
inline constexpr const char* c_trees = R"C(/* columns do not depend on each other */
#ifdef __clang__
#define EACH _Pragma("clang loop vectorize(assume_safety)")
#define EACH_IN_GROUP EACH
#else
#define EACH _Pragma("GCC ivdep")
/* gcc 12 unrolls loops of 16 before it makes vectors of them, and of what is expensive, as divisions, then makes none */
#define EACH_IN_GROUP _Pragma("GCC unroll 1") EACH
#endif
#define UNROLL _Pragma("GCC unroll 32")
/* partial results of blocks combine pairwise, like carries of a counter */
#define TREE(T, C) \
  typedef struct { T part[32]; int used; unsigned long long pushed; } tree_##C; \
  FN void push_##C(tree_##C *t, T x) { \
    for (unsigned long long n = t->pushed++; n & 1; n >>= 1) x = C(t->part[--t->used], x); \
    t->part[t->used++] = x; } \
  FN T result_##C(tree_##C *t, T empty) { \
    if (!t->used) return empty; \
    T x = t->part[--t->used]; \
    while (t->used > 0) x = C(t->part[--t->used], x); \
    return x; }
)C";
/// Rows are reduced in vectors: left to the compiler, lanes stay in memory and are folded one by one.
inline constexpr const char* c_lanes = R"(/* The 64 lanes of a row's reduction are vectors of BYTES. A loop makes the elements of GROUP columns: gcc keeps
   16 of them in a register, clang would unroll so few before it makes vectors of them. */
#ifdef __clang__
#define GROUP 64
#else
#define GROUP 16
#endif
#if defined(__AVX512F__)
#define BYTES 64
#define FOLD_32 FOLD_16_LANES
#define FOLD_64 FOLD_8_LANES
#elif defined(__AVX__)
#define BYTES 32
#define FOLD_32 FOLD_8_LANES
#define FOLD_64 FOLD_4_LANES
#else
#define BYTES 16
#define FOLD_32 FOLD_4_LANES
#define FOLD_64 FOLD_2_LANES
#endif
#define VECTOR(T) T __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias))
typedef VECTOR(float) v_f32;
typedef VECTOR(double) v_f64;
typedef VECTOR(int) v_i32;
typedef VECTOR(i64) v_i64;
typedef VECTOR(unsigned) v_u32;
typedef VECTOR(unsigned long long) v_u64;
#define SELECT(V, I, m, a, b) ((V)(((m) & (I)(a)) | (~(m) & (I)(b))))
/* a > b ? a : b; gcc 12 needs to be told the instruction */
#if defined(__clang__) || !defined(__SSE2__)
#define EXTREME(op, V, I, less, a, b) SELECT(V, I, less, a, b)
#elif BYTES == 64
#define EXTREME(op, V, I, less, a, b) ((V)__builtin_ia32_##op##512_mask(a, b, a, -1, 4))
#elif BYTES == 32
#define EXTREME(op, V, I, less, a, b) ((V)__builtin_ia32_##op##256(a, b))
#else
#define EXTREME(op, V, I, less, a, b) ((V)__builtin_ia32_##op(a, b))
#endif
#define V_add_f32(a, b) ((a) + (b))
#define V_add_f64(a, b) ((a) + (b))
#define V_add_i32(a, b) ((v_i32)((v_u32)(a) + (v_u32)(b)))
#define V_add_i64(a, b) ((v_i64)((v_u64)(a) + (v_u64)(b)))
#define V_max_f32(a, b) SELECT(v_f32, v_i32, (a) != (a), a, EXTREME(maxps, v_f32, v_i32, (a) > (b), a, b))
#define V_min_f32(a, b) SELECT(v_f32, v_i32, (a) != (a), a, EXTREME(minps, v_f32, v_i32, (a) < (b), a, b))
#define V_max_f64(a, b) SELECT(v_f64, v_i64, (a) != (a), a, EXTREME(maxpd, v_f64, v_i64, (a) > (b), a, b))
#define V_min_f64(a, b) SELECT(v_f64, v_i64, (a) != (a), a, EXTREME(minpd, v_f64, v_i64, (a) < (b), a, b))
#define V_max_i32(a, b) SELECT(v_i32, v_i32, (a) > (b), a, b)
#define V_min_i32(a, b) SELECT(v_i32, v_i32, (a) < (b), a, b)
#define V_max_i64(a, b) SELECT(v_i64, v_i64, (a) > (b), a, b)
#define V_min_i64(a, b) SELECT(v_i64, v_i64, (a) < (b), a, b)
#define SWAPPED(C, ...) x = V_##C(x, __builtin_shufflevector(x, x, __VA_ARGS__));
#define FOLD_16_LANES(C) SWAPPED(C, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7) \
  SWAPPED(C, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11) \
  SWAPPED(C, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13) \
  SWAPPED(C, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define FOLD_8_LANES(C) SWAPPED(C, 4, 5, 6, 7, 0, 1, 2, 3) SWAPPED(C, 2, 3, 0, 1, 6, 7, 4, 5) SWAPPED(C, 1, 0, 3, 2, 5, 4, 7, 6)
#define FOLD_4_LANES(C) SWAPPED(C, 2, 3, 0, 1) SWAPPED(C, 1, 0, 3, 2)
#define FOLD_2_LANES(C) SWAPPED(C, 1, 0)
/* all vectors of the lanes: EVERY(v_f32) v[k] = ...; */
#define EVERY(V) UNROLL for (int k = 0; k < 64 * (int)sizeof(((V *)0)[0][0]) / BYTES; ++k)
#define HALVE(w, C) if (w < n) UNROLL for (int k = 0; k < w; ++k) v[k] = V_##C(v[k], v[k + w]);
#define LANES(T, V, BITS, C) \
  typedef struct { V v[8 * BITS / BYTES]; } lanes_##C; \
  FN void begin_##C(lanes_##C *t, T x) { EVERY(V) t->v[k] = x - (V){0}; } \
  FN void take_##C(lanes_##C *t, const T *x, int at) { \
    UNROLL for (int k = 0; k < GROUP * BITS / 8 / BYTES; ++k) { \
      V *to = &t->v[at * BITS / 8 / BYTES + k]; \
      *to = V_##C(*to, ((const V *)x)[k]); } } \
  FN void spill_##C(T *x, const lanes_##C *t) { EVERY(V) ((V *)x)[k] = t->v[k]; } \
  FN void fill_##C(lanes_##C *t, const T *x) { EVERY(V) t->v[k] = ((const V *)x)[k]; } \
  FN T fold_##C(const lanes_##C *t) { \
    enum { n = 8 * BITS / BYTES }; \
    V v[n], x; \
    EVERY(V) v[k] = t->v[k]; \
    HALVE(16, C) HALVE(8, C) HALVE(4, C) HALVE(2, C) HALVE(1, C) \
    x = v[0]; \
    FOLD_##BITS(C) \
    return x[0]; }
)";

class CEmitter : KernelText {
 public:
  void add(const Plan& plan, const char* name) {
    plan_ = &plan;
    name_ = name;
    for (int k = 0; k < plan.kernels.size(); ++k)
      if (plan.kernels[k].code == k) kernel(k);
  }
  Text text(bool has_fma) const {
    return Text(c_head(has_fma)) << c_prelude << common_prelude << c_trees << c_lanes << trees_ << functions_ << kernels_;
  }

 private:
  const char* name_ = "";
  Vec<int> written_lanes_;  // op * dtype_count + dtype

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
        t << "      EACH for (i64 " << range << "; ++i) {\n";
        segment(s, "row", "        ");
        t << "      }\n    }\n";
      }
      row_pointers(s + 1, "row", "    ");
      segment(s + 1, "row", "    ");
    }
    if (k_->tile > 0) t << "    }\n";
    t << "  }\n";
  }
  /// The inside of a reducing loop. Element i goes to lane l of each reduction, or is kept for that.
  void accumulating_segment(int s, const char* row, bool keep = false) {
    Text& t = kernels_;
    for (int i = k_->segment[s]; i < k_->segment[s + 1]; ++i) {
      const Instruction& x = plan_->instructions[i];
      if (!is_reduction(x.op)) {
        instruction(i, row, "          ");
        continue;
      }
      Text lane;
      lane << (keep ? 'e' : 'l') << reg(x.dtype, x.result) << "[l]";
      t << "          " << lane << " = ";
      if (keep) t << reg(x.dtype, x.a) << ";\n";
      else t << combine_name(x.op) << name(x.dtype) << '(' << lane << ", " << reg(x.dtype, x.a) << ");\n";
    }
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
    t << "    for (i64 b = 0; b < n || b == 0; b += " << row_block << ") {\n      const i64 end = n < b + "
      << row_block << " ? n : b + " << row_block << ";\n";
    row_pointers(s, "row", "      ");
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "      lanes_" << c << " v" << r << ";\n      begin_" << c << "(&v" << r << ", " << c_identity(x.op, x.dtype) << ");\n";
    });
    t << "      i64 g = b;\n      for (; end - g >= 64; g += 64) UNROLL for (int u = 0; u < 64; u += GROUP) {\n";
    each_reduction(s, [&](const Instruction& x, const Text&) {
      t << "        " << c_type(x.dtype) << " e" << reg(x.dtype, x.result) << "[GROUP];\n";
    });
    t << "        EACH_IN_GROUP for (i64 l = 0; l < GROUP; ++l) {\n          const i64 i = g + u + l;\n          (void)i;\n";
    accumulating_segment(s, "row", true);
    t << "        }\n";
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "        take_" << c << "(&v" << r << ", e" << r << ", u);\n";
    });
    t << "      }\n      if (g < end) {\n";
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "        " << c_type(x.dtype) << " l" << r << "[64];\n        spill_" << c << "(l" << r << ", &v" << r << ");\n";
    });
    t << "        EACH for (i64 l = 0; l < end - g; ++l) {\n          const i64 i = g + l;\n          (void)i;\n";
    accumulating_segment(s, "row");
    t << "        }\n";
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "        fill_" << c << "(&v" << r << ", l" << r << ");\n";
    });
    t << "      }\n";
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "      push_" << c << "(&t" << r << ", fold_" << c << "(&v" << r << "));\n";
    });
    t << "    }\n";
    each_reduction(s, [&](const Instruction& x, const Text& c) {
      const Text r = reg(x.dtype, x.result);
      t << "    " << r << " = result_" << c << "(&t" << r << ", " << c_identity(x.op, x.dtype)
        << ");\n";
    });
  }
  /// The parts of a sum that wait to be combined; see PairwiseTree.
  int waiting_parts() const {
    if (!k_->inner.is_constant()) return most_parts;
    int n = 1;
    for (std::int64_t parts = ColumnParts(k_->inner.code, k_->row_order).count(); parts > 1; parts /= 2) ++n;
    return n;
  }
  /// Columns whose sums are taken together: so many that rows are read as they lie in memory, and all sums of a kernel take
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
    t << "        EACH for (i64 l = 0; l < n; ++l) {\n          const i64 i = col + l;\n          (void)i;\n";
    accumulating_segment(1, "at");
    t << "        }\n      }\n      ++used;\n      for (unsigned long long m = pushed++; m & 1; m >>= 1) {\n        --used;\n";
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
    Text& t = kernels_;
    row_pointers(0, "0", "  ");
    segment(0, "0", "  ");
    row_pointers(1, "row", "  ");
    t << "  EACH for (i64 i = col; i < col + n; ++i) {\n";
    segment(1, "row", "    ");
    t << "  }\n";
  }
};

}  // namespace detail

TT_INLINE Text emit_c(const Vec<NamedPlan>& plans, bool has_fma) {
  detail::CEmitter emitter;
  for (const NamedPlan& p : plans) emitter.add(*p.plan, p.name);
  return emitter.text(has_fma);
}
TT_INLINE Text emit_c(const Plan& plan, const char* name, bool has_fma) {
  return emit_c(Vec<NamedPlan>{{&plan, name}}, has_fma);
}

}  // namespace tt
#endif
