// libcublasLt for machines without a GPU: memory is the host's, products are computed at once, in double and from
// the last k to the first, so that results are seen to be a library's. Sizes, leading dimensions, types,
// attributes and alignment are checked as the documentation states them; what is wrong stops the program.
//   FAKE_CUBLASLT_NO_ALGORITHM   no product has an algorithm
//   FAKE_CUBLASLT_FAILS          products fail
#define FAKE_NAME "fake cuBLASLt"
#include "fake_library.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using Result = int;
constexpr Result success = 0, not_supported = 15, execution_failed = 13;
constexpr int f32 = 0, f64 = 1, compute_f32 = 68, compute_f64 = 70, compute_tf32 = 77;
constexpr std::size_t workspace_bytes = 4096;

struct Description {
  int compute = 0, scale = 0;
  std::int32_t transpose_a = 0, transpose_b = 0;
  std::uint32_t epilogue = 1;
  const void* bias = nullptr;
};
struct Layout {
  int type = 0;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t leading = 0, batch_stride = 0;
  std::int32_t batch = 1;
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};
struct Heuristic {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  Result state;
  float waves;
  int reserved[4];
};
struct Algorithm {  // what a heuristic's algorithm holds here
  std::uint64_t magic = 0x7474, rows = 0, cols = 0, inner = 0, epilogue = 0, compute = 0, alignment = 0, batch = 0;
};
static_assert(sizeof(Algorithm) == sizeof(Heuristic::algorithm));

template <class T>
void put(T& to, const void* from, std::size_t bytes) {
  require(from && bytes == sizeof(T), "an attribute of the wrong size");
  std::memcpy(&to, from, bytes);
}

/// The call's sizes, after everything that can be wrong with it.
Algorithm checked(const Description& o, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  Algorithm x;
  const std::uint64_t a_rows = o.transpose_a ? a.cols : a.rows, a_cols = o.transpose_a ? a.rows : a.cols,
                      b_rows = o.transpose_b ? b.cols : b.rows, b_cols = o.transpose_b ? b.rows : b.cols;
  require(a_rows == d.rows && b_cols == d.cols && a_cols == b_rows, "sizes that do not agree");
  require(c.rows == d.rows && c.cols == d.cols && c.leading == d.leading, "c is not as d");
  for (const Layout* l : {&a, &b, &c, &d}) {
    require(l->leading >= static_cast<std::int64_t>(l->rows), "a leading dimension shorter than a column");
    require(l->type == a.type && l->batch == d.batch, "different types or batches");
  }
  require(a.type == o.scale, "a scale of another type");
  require(a.type == f64 ? o.compute == compute_f64 : o.compute == compute_f32 || o.compute == compute_tf32, "a wrong compute type");
  require(o.epilogue == 1 || o.epilogue == 2 || o.epilogue == 4 || o.epilogue == 6, "an unknown epilogue");
  require(!(o.epilogue & 4) || o.bias, "a bias without its address");
  x.rows = d.rows;
  x.cols = d.cols;
  x.inner = a_cols;
  x.epilogue = o.epilogue;
  x.compute = static_cast<std::uint64_t>(o.compute);
  x.batch = static_cast<std::uint64_t>(d.batch);
  return x;
}
template <class T>
void multiply(const Description& o, const T* a, const Layout& la, const T* b, const Layout& lb, T* d, const Layout& ld, std::uint64_t inner) {
  const auto at = [](const Layout& l, bool transposed, std::uint64_t i, std::uint64_t j) {
    return transposed ? static_cast<std::int64_t>(j) + static_cast<std::int64_t>(i) * l.leading
                      : static_cast<std::int64_t>(i) + static_cast<std::int64_t>(j) * l.leading;
  };
  for (std::int64_t q = 0; q < ld.batch; ++q)
    for (std::uint64_t j = 0; j < ld.cols; ++j)
      for (std::uint64_t i = 0; i < ld.rows; ++i) {
        double sum = 0;
        for (std::uint64_t k = inner; k-- > 0;)
          sum += static_cast<double>(a[q * la.batch_stride + at(la, o.transpose_a, i, k)]) *
                 static_cast<double>(b[q * lb.batch_stride + at(lb, o.transpose_b, k, j)]);
        T x = static_cast<T>(sum);
        if (o.epilogue & 4) x += static_cast<const T*>(o.bias)[i];
        if (o.epilogue & 2) x = x > 0 ? x : 0;
        d[q * ld.batch_stride + at(ld, false, i, j)] = x;
      }
}

}  // namespace

extern "C" {

/// For tests: "products", "by TF32", "with bias", "with relu", "batched"; descriptions, layouts and preferences "alive".
long fake_cublaslt_count(const char* what) { return counted(what); }

Result cublasLtCreate(void** h) { *h = &counts_mutex; return success; }
const char* cublasLtGetStatusString(Result r) { return r == execution_failed ? "CUBLAS_STATUS_EXECUTION_FAILED" : "CUBLAS_STATUS"; }
Result cublasLtMatmulDescCreate(void** o, int compute, int scale) { return create(o, Description{compute, scale}); }
Result cublasLtMatmulDescDestroy(void* o) { return destroy<Description>(o); }
Result cublasLtMatmulDescSetAttribute(void* p, int attribute, const void* value, std::size_t bytes) {
  auto& o = *static_cast<Description*>(p);
  switch (attribute) {
    case 3: put(o.transpose_a, value, bytes); break;
    case 4: put(o.transpose_b, value, bytes); break;
    case 7: put(o.epilogue, value, bytes); break;
    case 8: put(o.bias, value, bytes); break;
    default: stop("an unknown attribute of a description");
  }
  return success;
}
Result cublasLtMatrixLayoutCreate(void** l, int type, std::uint64_t rows, std::uint64_t cols, std::int64_t leading) {
  require((type == f32 || type == f64) && rows > 0 && cols > 0, "a layout of nothing");
  return create(l, Layout{type, rows, cols, leading});
}
Result cublasLtMatrixLayoutDestroy(void* l) { return destroy<Layout>(l); }
Result cublasLtMatrixLayoutSetAttribute(void* p, int attribute, const void* value, std::size_t bytes) {
  auto& l = *static_cast<Layout*>(p);
  if (attribute == 5) put(l.batch, value, bytes);
  else if (attribute == 6) put(l.batch_stride, value, bytes);
  else stop("an unknown attribute of a layout");
  return success;
}
Result cublasLtMatmulPreferenceCreate(void** p) { return create(p, Preference{}); }
Result cublasLtMatmulPreferenceDestroy(void* p) { return destroy<Preference>(p); }
Result cublasLtMatmulPreferenceSetAttribute(void* p, int attribute, const void* value, std::size_t bytes) {
  auto& preference = *static_cast<Preference*>(p);
  if (attribute == 1) put(preference.workspace, value, bytes);
  else if (attribute >= 5 && attribute <= 8) put(preference.alignment[attribute - 5], value, bytes);
  else stop("an unknown preference");
  return success;
}
Result cublasLtMatmulAlgoGetHeuristic(void* h, void* o, void* a, void* b, void* c, void* d, void* p, int most, Heuristic* found, int* count) {
  require(h == &counts_mutex && most > 0, "a wrong handle");
  const auto& preference = *static_cast<Preference*>(p);
  *count = 0;
  if (std::getenv("FAKE_CUBLASLT_NO_ALGORITHM")) return not_supported;
  Algorithm x = checked(*static_cast<Description*>(o), *static_cast<Layout*>(a), *static_cast<Layout*>(b), *static_cast<Layout*>(c), *static_cast<Layout*>(d));
  for (const std::uint32_t bytes : preference.alignment) x.alignment = bytes > x.alignment ? bytes : x.alignment;
  require(preference.workspace >= workspace_bytes, "no room to work in");
  std::memset(found, 0, sizeof *found);
  std::memcpy(found->algorithm, &x, sizeof x);
  found->workspace = workspace_bytes;
  *count = 1;
  return success;
}
Result cublasLtMatmul(void* h, void* op, const void* alpha, const void* a, void* al, const void* b, void* bl, const void* beta, const void* c,
                      void* cl, void* d, void* dl, const void* algorithm, void* workspace, std::size_t bytes, void*) {
  require(h == &counts_mutex, "a wrong handle");
  const auto& o = *static_cast<Description*>(op);
  const auto &la = *static_cast<Layout*>(al), &lb = *static_cast<Layout*>(bl), &lc = *static_cast<Layout*>(cl), &ld = *static_cast<Layout*>(dl);
  const Algorithm x = checked(o, la, lb, lc, ld);
  Algorithm chosen;
  std::memcpy(&chosen, algorithm, sizeof chosen);
  require(chosen.magic == x.magic && chosen.rows == x.rows && chosen.cols == x.cols && chosen.inner == x.inner && chosen.epilogue == x.epilogue &&
              chosen.compute == x.compute && chosen.batch == x.batch,
          "an algorithm of another product");
  for (const void* p : {a, b, c, static_cast<const void*>(d), o.epilogue & 4 ? o.bias : nullptr})
    require(reinterpret_cast<std::uintptr_t>(p) % chosen.alignment == 0, "an operand that is not aligned as was said");
  require(workspace && bytes >= workspace_bytes, "too little room to work in");
  std::memset(workspace, 0xa5, bytes);
  require(c == d, "c is another matrix");
  if (std::getenv("FAKE_CUBLASLT_FAILS")) return execution_failed;
  count("products");
  count("by TF32", o.compute == compute_tf32);
  count("with bias", (o.epilogue & 4) != 0);
  count("with relu", (o.epilogue & 2) != 0);
  count("batched", ld.batch > 1);
  if (la.type == f64) {
    require(*static_cast<const double*>(alpha) == 1 && *static_cast<const double*>(beta) == 0, "wrong factors");
    multiply(o, static_cast<const double*>(a), la, static_cast<const double*>(b), lb, static_cast<double*>(d), ld, x.inner);
  } else {
    require(*static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0, "wrong factors");
    multiply(o, static_cast<const float*>(a), la, static_cast<const float*>(b), lb, static_cast<float*>(d), ld, x.inner);
  }
  return success;
}

}
