// The C text emitted before every kernel; it includes nothing.
#pragma once

namespace tt::detail {

/// The first lines of the text; has_fma: the program's multiply-add mode, TT_HAS_FMA by default.
constexpr const char* c_head(bool has_fma) {
  return has_fma ? R"(#define FMA_f32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_f64(a, b, c) __builtin_fma(a, b, c)
)"
                 : R"(#define FMA_f32(a, b, c) ((a) * (b) + (c))
#define FMA_f64(a, b, c) ((a) * (b) + (c))
)";
}
inline constexpr const char* c_prelude = R"(#ifndef __clang__ /* gcc 12 makes no vectors of loops over columns that it has merged with those of the next row, and of those in which it has moved
  one side of a choice, a logarithm, say, into a branch (sink, pre), or has taken the choices apart (thread-jumps) */
#pragma GCC optimize ("no-loop-unroll-and-jam", "no-tree-sink", "no-tree-pre", "no-thread-jumps")
#endif
#define FN static inline __attribute__((always_inline))
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
/* c ? a : b, by a number that is 0 or 1 */
FN double CHOOSE_f64(i64 c, double a, double b) { return f64_bits((bits_f64(a) & -c) | (bits_f64(b) & ~-c)); }
FN int CHOOSE_i32(int c, int a, int b) { return (a & -c) | (b & ~-c); }
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

/// gcc 12 does not vectorise conversions of f16 by the processor's instruction, and makes two narrow vectors of 16 floats from bf16, on which
/// a load of a whole vector stalls. So blocks are converted before and after a loop.
inline constexpr const char* c_staged = R"(#define VECTORS(N, FROM, TO, CONVERTED) \
  for (; i + N <= n; i += N) { \
    FROM v; \
    __builtin_memcpy(&v, from + i, sizeof v); \
    const TO w = CONVERTED; \
    __builtin_memcpy(to + i, &w, sizeof w); \
  }
#ifdef __AVX512F__
typedef float floats16 __attribute__((vector_size(64)));
typedef unsigned int bits16 __attribute__((vector_size(64)));
typedef short halves16 __attribute__((vector_size(32)));
typedef u16 brains16 __attribute__((vector_size(32)));
#endif
#ifdef __F16C__
typedef float floats8 __attribute__((vector_size(32)));
typedef short halves8 __attribute__((vector_size(16)));
#endif
FN void f32_of_f16(float *to, const u16 *from, i64 n) {
  i64 i = 0;
#ifdef __AVX512F__
  VECTORS(16, halves16, floats16, __builtin_ia32_vcvtph2ps512_mask(v, (floats16){0}, (unsigned short)-1, 4))
#endif
#ifdef __F16C__
  VECTORS(8, halves8, floats8, __builtin_ia32_vcvtph2ps256(v))
#endif
  for (; i < n; ++i) to[i] = f32_f16(from[i]);
}
FN void f16_of_f32(u16 *to, const float *from, i64 n) {
  i64 i = 0;
#ifdef __F16C__
  VECTORS(8, floats8, halves8, __builtin_ia32_vcvtps2ph256(v, 8)) /* to nearest even */
#endif
  for (; i < n; ++i) to[i] = f16_f32(from[i]);
}
FN void f32_of_bf16(float *to, const u16 *from, i64 n) {
  i64 i = 0;
#ifdef __AVX512F__
  VECTORS(16, brains16, bits16, __builtin_convertvector(v, bits16) << 16)
#endif
  EACH for (i64 k = i; k < n; ++k) to[k] = f32_bf16(from[k]);
}
)";

}  // namespace tt::detail
