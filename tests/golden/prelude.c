#define FMA_f32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_f64(a, b, c) __builtin_fma(a, b, c)
#define FN static inline __attribute__((always_inline))
typedef long long i64;
FN int bits_f32(float x) { union { float f; int i; } u = { .f = x }; return u.i; }
FN float f32_bits(int x) { union { int i; float f; } u = { .i = x }; return u.f; }
FN i64 bits_f64(double x) { union { double f; i64 i; } u = { .f = x }; return u.i; }
FN double f64_bits(i64 x) { union { i64 i; double f; } u = { .i = x }; return u.f; }
/* gcc 12 takes -fma(a, b, c) for fma(-a, b, -c), which gives the other zero */
FN float neg_f32(float x) { return f32_bits(bits_f32(x) ^ (int)0x80000000); }
FN double neg_f64(double x) { return f64_bits(bits_f64(x) ^ (i64)1 << 63); }
/* gcc 12 takes vectors of (double)(float)x for x, unless something is in between: a zero that it does not know */
#define F64_F32(x, zero) ((double)f32_bits(bits_f32(x) | (zero)))
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
FN float max_f32(float a, float b) { return a > b || a != a ? a : b; }
FN float min_f32(float a, float b) { return a < b || a != a ? a : b; }
FN double max_f64(double a, double b) { return a > b || a != a ? a : b; }
FN double min_f64(double a, double b) { return a < b || a != a ? a : b; }
FN int max_i32(int a, int b) { return a > b ? a : b; }
FN int min_i32(int a, int b) { return a < b ? a : b; }
FN i64 max_i64(i64 a, i64 b) { return a > b ? a : b; }
FN i64 min_i64(i64 a, i64 b) { return a < b ? a : b; }
/* gcc 12 takes (float)(int)x for trunc(x), which is -0 above -1: there it gets 0 */
FN float whole_f32(float x) { return abs_f32(x) < 1 ? 0 : x; }
FN double whole_f64(double x) { return abs_f64(x) < 1 ? 0 : x; }
FN int i32_f32(float x) { return x >= -0x1p31f && x < 0x1p31f ? (int)whole_f32(x) : (int)0x80000000; }
FN int i32_f64(double x) { return x >= -0x1p31 && x < 0x1p31 ? (int)whole_f64(x) : (int)0x80000000; }
FN i64 i64_f32(float x) { return x >= -0x1p63f && x < 0x1p63f ? (i64)whole_f32(x) : (i64)1 << 63; }
FN i64 i64_f64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (i64)whole_f64(x) : (i64)1 << 63; }
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
