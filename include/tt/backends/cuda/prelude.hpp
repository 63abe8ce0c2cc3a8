// The text emitted before every CUDA kernel: it includes nothing, so NVRTC compiles it as it is. Reductions run in the library's one order
// of summation (graph/reduce_order.hpp): a warp holds the 64 lanes of a block of 4,096, blocks are combined pairwise. So a device gives
// the bits of the CPU.
#pragma once
#include "tt/core/shape.hpp"

namespace tt::cuda {

/// Multiply-adds as on the CPU of this program.
constexpr const char* cuda_head(bool has_fma) {
  return has_fma ? R"(#define FMA_f32(a, b, c) __fmaf_rn(a, b, c)
#define FMA_f64(a, b, c) __fma_rn(a, b, c)
)"
                 : R"(#define FMA_f32(a, b, c) __fadd_rn(__fmul_rn(a, b), c)
#define FMA_f64(a, b, c) __dadd_rn(__dmul_rn(a, b), c)
)";
}

inline constexpr const char* cuda_prelude = R"(#define FN static __device__ __forceinline__
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
)";

inline constexpr const char* cuda_kernels = R"(
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
)";

/// Products: 256 threads compute a tile of (16 S) x (16 S), each S x S sums; every sum is
/// fma(a[i,k], b[k,j], sum) for k = 0, 1, ... as on the CPU.
inline constexpr const char* cuda_matmul = R"(
FN float multiply_add(float a, float b, float c) { return FMA_f32(a, b, c); }
FN double multiply_add(double a, double b, double c) { return FMA_f64(a, b, c); }
FN int multiply_add(int a, int b, int c) { return IADD_i32(IMUL_i32(a, b), c); }
FN i64 multiply_add(i64 a, i64 b, i64 c) { return IADD_i64(IMUL_i64(a, b), c); }
template <class T, int S, class B, class Epilogue>
FN void matmul_tile(const T *a, i64 a_row, i64 a_inner, const B &b, bool down, i64 rows, i64 cols,
                    i64 inner, i64 row0, i64 col0, const Epilogue &epilogue) {
  enum { side = 16 * S, pitch = side + 1, depth = 16 };   /* pitch: no two of 16 neighbours in one bank */
  T *as = (T *)shared_memory, *bs = as + depth * pitch;   /* [k][row], [k][column] */
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  T sum[S][S];
  #pragma unroll
  for (int y = 0; y < S; ++y)
    #pragma unroll
    for (int x = 0; x < S; ++x) sum[y][x] = 0;
  for (i64 k0 = 0; k0 < inner; k0 += depth) {
    const int some = (int)least(depth, inner - k0);
    for (int e = threadIdx.x; e < depth * side; e += 256) {   /* neighbours in memory to neighbouring threads */
      const int k = a_inner == 1 ? e % depth : e / side, i = a_inner == 1 ? e / depth : e % side;
      as[k * pitch + i] = k < some && row0 + i < rows ? a[(row0 + i) * a_row + (k0 + k) * a_inner] : T(0);
    }
    for (int e = threadIdx.x; e < depth * side; e += 256) {
      const int k = down ? e % depth : e / side, j = down ? e / depth : e % side;
      bs[k * pitch + j] = k < some && col0 + j < cols ? b(k0 + k, col0 + j) : T(0);
    }
    __syncthreads();
    for (int k = 0; k < some; ++k) {
      T ak[S], bk[S];
      #pragma unroll
      for (int y = 0; y < S; ++y) ak[y] = as[k * pitch + ty + 16 * y];
      #pragma unroll
      for (int x = 0; x < S; ++x) bk[x] = bs[k * pitch + tx + 16 * x];
      #pragma unroll
      for (int y = 0; y < S; ++y)
        #pragma unroll
        for (int x = 0; x < S; ++x) sum[y][x] = multiply_add(ak[y], bk[x], sum[y][x]);
    }
    __syncthreads();
  }
  #pragma unroll
  for (int y = 0; y < S; ++y)
    #pragma unroll
    for (int x = 0; x < S; ++x) {
      const i64 i = row0 + ty + 16 * y, j = col0 + tx + 16 * x;
      if (i < rows && j < cols) epilogue(i, j, sum[y][x]);
    }
}
)";

}  // namespace tt::cuda
