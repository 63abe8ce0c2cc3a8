// A kernel that is a matrix product, computed by cuBLASLt; its bias is a vector along the columns.
//   The library is column-major, so that row-major D = A B is its D' = B' A': its first factor is our second.
#pragma once
#include <utility>

#include "tt/backends/cuda/cublaslt.hpp"
#include "tt/backends/cuda/library_kernel.hpp"

namespace tt::cuda {

/// A product in the library's terms: D is rows x cols, column-major.
struct ProductDescription {
  /// The layout of a matrix: columns `leading` elements apart, matrices of a batch `batch_stride` apart.
  struct Matrix : detail::OperandPlace {
    std::int64_t leading = 0, batch_stride = 0;
    bool transposed = false;
  };
  DType dtype = DType::f32;
  std::int64_t rows = 0, cols = 0, inner = 0, batch = 1;
  Matrix a, b, d;
  Matrix bias;                    ///< a column, if there is a bias
  bool relu = false;
  bool leaves_sums = false;       ///< d is dense in the work memory, and no epilogue is applied
  const char* refused = nullptr;  ///< why the library cannot compute it; the other members are then unfinished
  constexpr double multiply_adds() const {
    return static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(inner) * static_cast<double>(batch);
  }
};
template <class AnyPlan>
constexpr ProductDescription describe_product(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols);

class LibraryProduct final : public LibraryKernel {
 public:
  /// Null if the library does not support it; then `refused` says why.
  TT_INLINE static std::shared_ptr<const LibraryProduct> make(Device& device, const ProductDescription& p, const MatmulSettings& settings,
                                                              Text& refused);
  LibraryProduct() : LibraryKernel(LibraryWork::product) {}
  TT_INLINE ~LibraryProduct() override;

 private:
  ProductDescription p_;
  CublasLtHeuristic heuristic_;
  Handle description_ = nullptr, a_ = nullptr, b_ = nullptr, d_ = nullptr;
  mutable tt::detail::BusyFlag busy_;  // guards the description, which holds the bias pointer of a call
  std::size_t workspace() const override { return heuristic_.workspace; }
  TT_INLINE bool compute(Device& device, const std::uint64_t* operand, DevicePointer sums, DevicePointer workspace) const override;
};

namespace detail {

/// Describes a factor in column-major terms: `along` elements a column, `column` apart; `across` columns, `row` apart. False if the library cannot.
constexpr bool place(ProductDescription::Matrix& m, std::int64_t along, std::int64_t across, std::int64_t column, std::int64_t row) {
  if (along == 1) column = 1;  // the stride of an axis of one element does not matter
  m.transposed = column != 1;
  if (across == 1) row = m.transposed ? 1 : along;
  if (m.transposed && row != 1) return false;
  m.leading = m.transposed ? column : row;
  return m.leading >= (m.transposed ? across : along);
}

}  // namespace detail

template <class AnyPlan>
constexpr ProductDescription describe_product(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols) {
  ProductDescription p;
  const auto value = [&](Extent e) { return e.value(symbols); };
  const Term* const terms = plan.terms.begin();
  p.dtype = k.dtype;
  p.rows = value(k.cols);
  p.cols = value(k.rows);
  p.inner = value(k.inner);
  p.batch = value(k.batch);
  const auto refuse = [&](const char* why) {
    p.refused = why;
    return p;
  };
  if (!is_floating(k.dtype)) return refuse("integers");
  if (p.rows == 0 || p.cols == 0 || p.inner == 0 || p.batch == 0) return refuse("no elements");
  constexpr std::int64_t most = detail::most_elements;
  if (p.rows >= most || p.cols >= most || p.inner >= most || p.batch >= most) return refuse("too large for the library");
  const auto along = [&](const Access& a) {
    return a.column == Extent(1) && a.column_terms == 0 && a.term_count == 0 && !detail::is_single(plan, k, a.buffer);
  };
  const detail::EpilogueReader epilogue(plan, k, along);
  p.leaves_sums = !epilogue.is_known();
  if (!p.leaves_sums) {
    const Access& d = plan.accesses[epilogue.store];
    const bool one_row = p.cols == 1 && p.batch == 1;
    const std::int64_t leading = one_row ? p.rows : d.term_count == 1 ? value(d.term(terms, 0).stride) : 0;
    p.leaves_sums = (d.column != Extent(1) && p.rows > 1) || d.column_terms != 0 || leading < p.rows ||
                    (!one_row && (d.term(terms, 0).divisor != Extent(1) || d.term(terms, 0).modulus != Extent(0)));
    p.d = {{d.buffer, value(d.offset)}, leading, leading * p.cols, false};
  }
  if (p.leaves_sums) {
    p.d = {{}, p.rows, p.rows * p.cols, false};
  } else {
    p.relu = epilogue.applies_relu();
    if (epilogue.adds_bias()) p.bias = {{plan.accesses[epilogue.bias].buffer, value(plan.accesses[epilogue.bias].offset)}};
  }
  if (!detail::place(p.a, p.rows, p.inner, value(k.b_column), value(k.b_inner)) ||
      !detail::place(p.b, p.inner, p.cols, value(k.a_inner), value(k.a_row)))
    return refuse("factors whose elements are apart both ways");
  for (const auto& [m, access] : {std::pair{&p.a, k.b}, std::pair{&p.b, k.a}}) {
    const Access& x = plan.accesses[access];
    m->operand = x.buffer;
    m->offset = x.row_offset(terms, 0, symbols);
    m->batch_stride = p.batch > 1 ? x.row_offset(terms, 1, symbols) - m->offset : 0;
    for (std::int64_t q = 2; q < p.batch; ++q)
      if (x.row_offset(terms, q, symbols) != m->offset + q * m->batch_stride) return refuse("matrices of a batch that lie unevenly");
  }
  for (const int operand : {p.a.operand, p.b.operand})
    if (detail::is_single(plan, k, operand)) return refuse("a single element");
  return p;
}

#if TT_DEFINES(cuda)
TT_INLINE std::shared_ptr<const LibraryProduct> LibraryProduct::make(Device& device, const ProductDescription& p, const MatmulSettings& settings,
                                                                     Text& refused) {
  const auto refuse = [&](const Text& why) {
    refused = why;
    return nullptr;
  };
  if (const Text why = detail::why_own_tiles<CublasLt>(p, settings); !why.empty()) return refuse(why);
  const CublasLt& lt = CublasLt::get();
  const Handle handle = lt.handle(device);
  if (!handle) return refuse("cublasLtCreate failed");

  auto made = std::make_shared<LibraryProduct>();
  LibraryProduct& m = *made;
  m.p_ = p;
  if (p.leaves_sums) m.leave_sums(p.rows * p.cols * p.batch, p.dtype);
  const bool f64 = p.dtype == DType::f64;
  const CublasLt::Type type = f64 ? CublasLt::real_f64 : CublasLt::real_f32;
  const CublasLt::Compute compute = f64 ? CublasLt::f64 : settings.allow_tf32 ? CublasLt::f32_by_tf32 : CublasLt::f32;
  lt.check(lt.create_description(&m.description_, compute, type), "cublasLtMatmulDescCreate");
  const auto describe = [&]<class T>(CublasLt::DescriptionAttribute attribute, T value) {
    lt.check(lt.set_description(m.description_, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  };
  describe(CublasLt::transpose_a, std::int32_t{p.a.transposed});
  describe(CublasLt::transpose_b, std::int32_t{p.b.transposed});
  const std::uint32_t follows = (p.relu ? CublasLt::relu : 0u) | (p.bias.operand >= 0 ? CublasLt::bias : 0u);
  describe(CublasLt::epilogue, follows ? follows : std::uint32_t{CublasLt::none});
  // the algorithm depends on the bias's alignment, so a pointer of that alignment is set; it is not dereferenced now
  if (p.bias.operand >= 0) describe(CublasLt::bias_pointer, reinterpret_cast<const void*>(std::uintptr_t{alignment}));
  const auto layout = [&](Handle& to, const ProductDescription::Matrix& x, std::int64_t rows, std::int64_t cols) {
    if (x.transposed) std::swap(rows, cols);
    lt.check(lt.create_layout(&to, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols), x.leading), "cublasLtMatrixLayoutCreate");
    if (p.batch == 1) return;
    const auto count = static_cast<std::int32_t>(p.batch);
    lt.check(lt.set_layout(to, CublasLt::batch_count, &count, sizeof count), "cublasLtMatrixLayoutSetAttribute");
    lt.check(lt.set_layout(to, CublasLt::batch_stride, &x.batch_stride, sizeof x.batch_stride), "cublasLtMatrixLayoutSetAttribute");
  };
  layout(m.a_, p.a, p.rows, p.inner);
  layout(m.b_, p.b, p.inner, p.cols);
  layout(m.d_, p.d, p.rows, p.cols);
  Handle preference = nullptr;
  lt.check(lt.create_preference(&preference), "cublasLtMatmulPreferenceCreate");
  const std::uint64_t most = std::uint64_t{32} << 20;  // NVIDIA's advice for Hopper
  Result r = lt.set_preference(preference, CublasLt::most_workspace, &most, sizeof most);
  const std::uint32_t bytes = alignment;
  for (const auto attribute : {CublasLt::alignment_a, CublasLt::alignment_b, CublasLt::alignment_c, CublasLt::alignment_d})
    if (r == success) r = lt.set_preference(preference, attribute, &bytes, sizeof bytes);
  int found = 0;
  if (r == success) r = lt.find_algorithm(handle, m.description_, m.a_, m.b_, m.d_, m.d_, preference, 1, &m.heuristic_, &found);
  lt.destroy_preference(preference);
  if (r != success || found == 0 || m.heuristic_.state != success) return refuse("the library has no algorithm for it");
  return made;
}

TT_INLINE LibraryProduct::~LibraryProduct() {
  const CublasLt& lt = CublasLt::get();
  for (const Handle layout : {a_, b_, d_})
    if (layout) lt.destroy_layout(layout);
  if (description_) lt.destroy_description(description_);
}

TT_INLINE bool LibraryProduct::compute(Device& device, const std::uint64_t* operand, DevicePointer sums, DevicePointer workspace) const {
  const std::uint64_t a = p_.a.address(operand, p_.dtype), b = p_.b.address(operand, p_.dtype), d = p_.d.address(operand, p_.dtype, sums),
                      bias = p_.bias.address(operand, p_.dtype);
  if ((a | b | d | bias) % alignment != 0) return false;
  using detail::pointer;
  const CublasLt& lt = CublasLt::get();
  const tt::detail::FlagLock lock(busy_);
  if (const void* at = pointer(bias)) lt.check(lt.set_description(description_, CublasLt::bias_pointer, &at, sizeof at), "cublasLtMatmulDescSetAttribute");
  lt.check(lt.matmul(lt.handle(device), description_, detail::one_of(p_.dtype), pointer(a), a_, pointer(b), b_, detail::zero_of(p_.dtype), pointer(d), d_,
                     pointer(d), d_, heuristic_.algorithm, pointer(workspace), heuristic_.workspace, device.stream()),
           "cublasLtMatmul");
  return true;
}
#endif

}  // namespace tt::cuda
