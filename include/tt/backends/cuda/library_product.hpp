// A kernel that is a product of matrices, computed by cuBLASLt with what follows it: a bias along its columns,
// relu, both or neither. What the library cannot do whole stays with own tiles, and so do calls whose operands
// are not aligned as the algorithm was chosen for.
//   The library counts columns first, so that row-major D = A B is its D' = B' A': its first factor is our second.
#pragma once
#include <utility>

#include "tt/backends/cuda/cublaslt.hpp"
#include "tt/backends/cuda/matmul_settings.hpp"
#include "tt/graph/plan.hpp"

namespace tt::cuda {

/// A product in the library's terms: D is rows x cols, columns first.
struct ProductDescription {
  /// A matrix as it lies: columns `leading` elements apart, matrices of a batch `batch_stride`.
  struct Matrix {
    int operand = -1;             ///< number among the kernel's
    std::int64_t offset = 0;      ///< elements
    std::int64_t leading = 0, batch_stride = 0;
    bool transposed = false;
  };
  DType dtype = DType::f32;
  std::int64_t rows = 0, cols = 0, inner = 0, batch = 1;
  Matrix a, b, d;
  Matrix bias;                    ///< a column, if there is one
  bool relu = false;
  const char* refused = nullptr;  ///< why it is not for the library; the rest is then unfinished
};
constexpr ProductDescription describe_product(const Plan& plan, const Kernel& k, const SymbolValues& symbols);

class LibraryProduct {
 public:
  static constexpr int alignment = 16;  ///< bytes, of every operand
  /// Null if the library does not take it, and then `refused` says why.
  TT_INLINE static std::shared_ptr<const LibraryProduct> make(Device& device, const Plan& plan, const Kernel& k,
                                                              const SymbolValues& symbols, const MatmulSettings& settings, Text& refused);
  LibraryProduct() = default;
  LibraryProduct(const LibraryProduct&) = delete;
  TT_INLINE ~LibraryProduct();
  std::size_t workspace() const { return heuristic_.workspace; }
  /// `operand`: the addresses of the kernel's operands. False if they are not aligned: nothing was done.
  TT_INLINE bool run(Device& device, const std::uint64_t* operand, DevicePointer workspace) const;

 private:
  ProductDescription p_;
  CublasLtHeuristic heuristic_;
  Handle description_ = nullptr, a_ = nullptr, b_ = nullptr, d_ = nullptr;
  mutable std::atomic_flag busy_;  // the description holds a call's bias
  std::uint64_t address(const ProductDescription::Matrix& m, const std::uint64_t* operand) const {
    return operand[m.operand] + static_cast<std::uint64_t>(m.offset * size_of(p_.dtype));
  }
};

namespace detail {

/// What a product's epilogue computes, followed register by register.
class EpilogueReader {
 public:
  constexpr EpilogueReader(const Plan& plan, const Kernel& k) {
    for (int i = k.segment[0]; i < k.segment[2]; ++i) {
      const Instruction& x = plan.instructions[i];
      if (x.op == Op::store) {
        ++stores;
        stored_as = of(x.dtype, x.a);
        store = x.access;
        continue;
      }
      if (x.result < 0) continue;
      set(x.dtype, x.result, value_of(plan, k, x));
    }
  }
  enum Value : char { other, zero, sum, bias, biased, sum_not_above, biased_not_above, relu, biased_relu };
  int stores = 0, store = -1, bias_access = -1;
  Value stored_as = other;

 private:
  struct Register {
    DType dtype;
    int number;
    Value value;
  };
  Vec<Register> known_;
  constexpr Value of(DType d, int number) const {
    for (const Register& r : known_)
      if (r.dtype == d && r.number == number) return r.value;
    return other;
  }
  constexpr void set(DType d, int number, Value v) {
    for (Register& r : known_)
      if (r.dtype == d && r.number == number) {
        r.value = v;
        return;
      }
    known_.push_back({d, number, v});
  }
  constexpr Value value_of(const Plan& plan, const Kernel& k, const Instruction& x) {
    switch (x.op) {
      case Op::constant: return x.bits == 0 ? zero : other;
      case Op::accumulator: return sum;
      case Op::load: {
        const Access& a = plan.accesses[x.access];
        const bool along = a.column == Extent(1) && a.column_terms == 0 && a.term_count == 0;
        if (!along || x.dtype != k.dtype || (bias_access >= 0 && bias_access != x.access)) return other;
        bias_access = x.access;
        return bias;
      }
      case Op::add: {
        const Value l = of(x.dtype, x.a), r = of(x.dtype, x.b);
        return (l == sum && r == bias) || (l == bias && r == sum) ? biased : other;
      }
      case Op::le:  // relu is where(x <= 0, 0, x)
        if (of(x.from, x.b) != zero) return other;
        return of(x.from, x.a) == sum ? sum_not_above : of(x.from, x.a) == biased ? biased_not_above : other;
      case Op::where: {
        if (of(x.dtype, x.b) != zero) return other;
        const Value mask = of(DType::boolean, x.a), otherwise = of(x.dtype, x.c);
        return mask == sum_not_above && otherwise == sum ? relu : mask == biased_not_above && otherwise == biased ? biased_relu : other;
      }
      default: return other;
    }
  }
};

/// A factor as the library sees it, whose columns are our rows: `along` elements lie `stride` apart in its columns.
constexpr bool place(ProductDescription::Matrix& m, std::int64_t along, std::int64_t across, std::int64_t column, std::int64_t row) {
  if (along == 1) column = 1;  // strides along one element are nothing
  m.transposed = column != 1;
  if (across == 1) row = m.transposed ? 1 : along;
  if (m.transposed && row != 1) return false;
  m.leading = m.transposed ? column : row;
  return m.leading >= (m.transposed ? across : along);
}

}  // namespace detail

constexpr ProductDescription describe_product(const Plan& plan, const Kernel& k, const SymbolValues& symbols) {
  ProductDescription p;
  const auto value = [&](Extent e) { return e.value(symbols); };
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
  if (k.windows >= 0) return refuse("the windows of a convolution");
  if (p.rows == 0 || p.cols == 0 || p.inner == 0 || p.batch == 0) return refuse("no elements");
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (p.rows >= most || p.cols >= most || p.inner >= most || p.batch >= most) return refuse("too large for the library");
  const detail::EpilogueReader epilogue(plan, k);
  using E = detail::EpilogueReader;
  const E::Value v = epilogue.stored_as;
  if (epilogue.stores != 1 || (v != E::sum && v != E::biased && v != E::relu && v != E::biased_relu))
    return refuse("what follows it is more than a bias and relu");
  p.relu = v == E::relu || v == E::biased_relu;
  if (v == E::biased || v == E::biased_relu) {
    const Access& bias = plan.accesses[epilogue.bias_access];
    p.bias.operand = bias.buffer;
    p.bias.offset = value(bias.offset);
  }
  const Access& d = plan.accesses[epilogue.store];
  const bool one_row = p.cols == 1 && p.batch == 1;
  if ((d.column != Extent(1) && p.rows > 1) || d.column_terms != 0 ||
      (!one_row && (d.term_count != 1 || d.term[0].divisor != Extent(1) || d.term[0].modulus != Extent(0))))
    return refuse("its result does not lie row by row");
  p.d = {d.buffer, value(d.offset), one_row ? p.rows : value(d.term[0].stride), 0, false};
  p.d.batch_stride = p.d.leading * p.cols;
  if (p.d.leading < p.rows) return refuse("its result does not lie row by row");
  if (!detail::place(p.a, p.rows, p.inner, value(k.b_column), value(k.b_inner)) ||
      !detail::place(p.b, p.inner, p.cols, value(k.a_inner), value(k.a_row)))
    return refuse("factors whose elements are apart both ways");
  for (const auto& [m, access] : {std::pair{&p.a, k.b}, std::pair{&p.b, k.a}}) {
    const Access& x = plan.accesses[access];
    m->operand = x.buffer;
    m->offset = x.row_offset(0, symbols);
    m->batch_stride = p.batch > 1 ? x.row_offset(1, symbols) - m->offset : 0;
    for (std::int64_t q = 2; q < p.batch; ++q)
      if (x.row_offset(q, symbols) != m->offset + q * m->batch_stride) return refuse("matrices of a batch that lie unevenly");
  }
  for (const int operand : {p.a.operand, p.b.operand, p.bias.operand})  // it may be given as a value, see launch_list.hpp
    if (operand >= 0 && plan.buffers[plan.bindings[k.first_binding + operand]].size == Extent(1)) return refuse("a single element");
  return p;
}

#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE std::shared_ptr<const LibraryProduct> LibraryProduct::make(Device& device, const Plan& plan, const Kernel& k,
                                                                     const SymbolValues& symbols, const MatmulSettings& settings, Text& refused) {
  const auto refuse = [&](const Text& why) {
    refused = why;
    return nullptr;
  };
  const ProductDescription p = describe_product(plan, k, symbols);
  if (p.refused) return refuse(Text(p.refused));
  const double work = static_cast<double>(p.rows) * static_cast<double>(p.cols) * static_cast<double>(p.inner) * static_cast<double>(p.batch);
  if (work < static_cast<double>(settings.smallest)) return refuse(Text("fewer multiply-adds than ") << settings.smallest);
  const CublasLt& lt = CublasLt::get();
  if (!lt.why_not().empty()) return refuse(lt.why_not());
  const Handle handle = lt.handle(device);
  if (!handle) return refuse(Text("cublasLtCreate failed"));

  auto made = std::make_shared<LibraryProduct>();
  LibraryProduct& m = *made;
  m.p_ = p;
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
  // an algorithm is chosen for the bias's alignment, which is the only thing read of it now
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
  const std::uint64_t most = std::uint64_t{32} << 20;  // what NVIDIA advises for Hopper
  Result r = lt.set_preference(preference, CublasLt::most_workspace, &most, sizeof most);
  const std::uint32_t bytes = alignment;
  for (const auto attribute : {CublasLt::alignment_a, CublasLt::alignment_b, CublasLt::alignment_c, CublasLt::alignment_d})
    if (r == success) r = lt.set_preference(preference, attribute, &bytes, sizeof bytes);
  int found = 0;
  if (r == success) r = lt.find_algorithm(handle, m.description_, m.a_, m.b_, m.d_, m.d_, preference, 1, &m.heuristic_, &found);
  lt.destroy_preference(preference);
  if (r != success || found == 0 || m.heuristic_.state != success) return refuse(Text("the library has no algorithm for it"));
  return made;
}

TT_INLINE LibraryProduct::~LibraryProduct() {
  const CublasLt& lt = CublasLt::get();
  for (const Handle layout : {a_, b_, d_})
    if (layout) lt.destroy_layout(layout);
  if (description_) lt.destroy_description(description_);
}

TT_INLINE bool LibraryProduct::run(Device& device, const std::uint64_t* operand, DevicePointer workspace) const {
  const std::uint64_t a = address(p_.a, operand), b = address(p_.b, operand), d = address(p_.d, operand);
  const std::uint64_t bias = p_.bias.operand >= 0 ? address(p_.bias, operand) : 0;
  if ((a | b | d | bias) % alignment != 0) return false;
  const CublasLt& lt = CublasLt::get();
  const double one[] = {1, 0};
  const float one_f32[] = {1, 0};
  const bool f64 = p_.dtype == DType::f64;
  const void *const alpha = f64 ? static_cast<const void*>(one) : one_f32, *const beta = f64 ? static_cast<const void*>(one + 1) : one_f32 + 1;
  const auto at = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  const tt::detail::FlagLock lock(busy_);
  if (const void* pointer = at(bias)) lt.check(lt.set_description(description_, CublasLt::bias_pointer, &pointer, sizeof pointer), "cublasLtMatmulDescSetAttribute");
  lt.check(lt.matmul(lt.handle(device), description_, alpha, at(a), a_, at(b), b_, beta, at(d), d_, at(d), d_, heuristic_.algorithm,
                     at(workspace), heuristic_.workspace, device.stream()),
           "cublasLtMatmul");
  return true;
}
#endif

}  // namespace tt::cuda
