#define SYMBOLS 8
#define FMA_f32(a, b, c) __fmaf_rn(a, b, c)
#define FMA_f64(a, b, c) __fma_rn(a, b, c)
#define FN static __device__ __forceinline__
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef long long i64;
FN int bits_f32(float x) { return __float_as_int(x); }
FN float f32_bits(int x) { return __int_as_float(x); }
FN i64 bits_f64(double x) { return __double_as_longlong(x); }
FN double f64_bits(i64 x) { return __longlong_as_double(x); }
#define BACK(n) (n)
#define CHOOSE_f64(c, a, b) ((c) ? (a) : (b))
#define CHOOSE_i32(c, a, b) ((c) ? (a) : (b))
#define CHOOSE_i64(c, a, b) ((c) ? (a) : (b))
#define BOUND_f32(x) (x)
#define BOUND_f64(x) (x)
FN float neg_f32(float x) { return -x; }
FN double neg_f64(double x) { return -x; }
#define abs_f32 fabsf
#define abs_f64 fabs
#define sqrt_f32 __fsqrt_rn
#define sqrt_f64 __dsqrt_rn
#define floor_f32 floorf
#define floor_f64 floor
#define ceil_f32 ceilf
#define ceil_f64 ceil
#define trunc_f32 truncf
#define trunc_f64 trunc
#define round_f32 rintf
#define round_f64 rint
/* in two steps: the first is one instruction to gcc */
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

/* What a launch is given. */
template <int N> struct Operands {
  void *p[N];
  i64 s[SYMBOLS];     /* values of the symbols */
  char *work;         /* for partial results, and rows that do not fit in shared memory */
  i64 work_bytes;     /* of it, for one team */
  i64 shared_bytes;   /* for one team's rows; 0: they lie in work, behind the partial results */
  i64 parts_bytes;    /* in work, before such rows */
  int team;           /* threads that share a row: a warp, or the whole block */
  unsigned values;    /* bit k: p[k] is the operand's one element, not where it lies */
};
template <int N> FN void *operand(const Operands<N> &a, int k) { return a.values >> k & 1 ? (void *)&a.p[k] : a.p[k]; }
template <class T, int V> struct alignas(sizeof(T) * V) Vector { T v[V]; };
template <int V, class T> FN Vector<T, V> load(const T *x) { return *(const Vector<T, V> *)x; }
template <int V, class T> FN void store(T *x, const Vector<T, V> &v) { *(Vector<T, V> *)x = v; }
template <int V, class T> FN bool aligned(const T *x) { return (unsigned long long)x % (sizeof(T) * V) == 0; }
FN i64 least(i64 a, i64 b) { return a < b ? a : b; }
/* e = row * n + col; a 32-bit division where it suffices */
FN void split(i64 e, i64 n, i64 &row, i64 &col) {
  if ((e | n) >> 32) { row = e / n; col = e % n; }
  else { row = (unsigned)e / (unsigned)n; col = (unsigned)e % (unsigned)n; }
}
/* Two lanes of the 64 in a thread: 2t and 2t + 1 (V = 2), or t and t + 32. */
template <int V, class T> FN Vector<T, 2> load_pair(const T *x, i64 at, i64 end) {
  if (V == 2) return load<2>(x + at);
  Vector<T, 2> v;
  v.v[0] = x[at];
  v.v[1] = x[at + 32 < end ? at + 32 : at];
  return v;
}
template <int V, class T> FN void store_pair(T *x, i64 at, i64 end, const Vector<T, 2> &v) {
  if (V == 2) return store<2>(x + at, v);
  x[at] = v.v[0];
  if (at + 32 < end) x[at + 32] = v.v[1];
}
extern __shared__ __align__(16) char shared_memory[];
/* The threads that work on one row together. */
struct Team {
  i64 first, step;    /* rows */
  int thread, threads, lane, warp, warps;
  char *parts, *rows; /* of this team: partial results, rows kept between sweeps */
};
template <int N> FN Team team_of(const Operands<N> &a) {
  const int mine = threadIdx.x / a.team, teams = blockDim.x / a.team;
  Team t;
  t.first = blockIdx.x * (i64)teams + mine;
  t.step = gridDim.x * (i64)teams;
  t.thread = threadIdx.x % a.team;
  t.threads = a.team;
  t.lane = threadIdx.x % 32;
  t.warp = t.thread / 32;
  t.warps = a.team / 32;
  t.parts = a.work + t.first * a.work_bytes;
  t.rows = a.shared_bytes ? shared_memory + mine * a.shared_bytes : t.parts + a.parts_bytes;
  return t;
}
FN void sync(const Team &t) {
  if (t.threads == 32) __syncwarp(); else __syncthreads();
}
/* fold: 64 lanes in halves. combine: partial results pairwise, the older one on the left.
   combine_columns: the same for 32 columns beside each other, one a lane. */
#define TREE(T, C) \
  template <int V> FN T fold_##C(const T *l) { \
    T x = l[0], y = l[1]; \
    if (V == 2) { \
      for (int d = 16; d; d /= 2) x = C(x, __shfl_down_sync(~0u, x, d)), y = C(y, __shfl_down_sync(~0u, y, d)); \
      x = C(x, y); \
    } else { \
      x = C(x, y); \
      for (int d = 16; d; d /= 2) x = C(x, __shfl_down_sync(~0u, x, d)); \
    } \
    return __shfl_sync(~0u, x, 0); } \
  FN T combine_##C(T *part, i64 count, const Team &t) { \
    sync(t); \
    for (i64 w = 1; w < count; w *= 2) { \
      for (i64 j = t.thread * 2 * w; j + w < count; j += t.threads * 2 * w) part[j] = C(part[j], part[j + w]); \
      sync(t); \
    } \
    const T x = part[0]; \
    sync(t); \
    return x; } \
  FN T combine_columns_##C(T *part, i64 count, i64 apart, const Team &t) { \
    sync(t); \
    for (i64 w = 1; w < count; w *= 2) { \
      for (i64 j = t.warp * 2 * w; j + w < count; j += t.warps * 2 * w) \
        part[j * apart] = C(part[j * apart], part[(j + w) * apart]); \
      sync(t); \
    } \
    const T x = part[0]; \
    sync(t); \
    return x; }
