// Tensor: the run-time handle. Dtype, shape and strides are known at run time; a copy is another handle on the same
// Tensor, and views share storage. Its methods are declared here and defined in dispatch/, which a program gets with
// tt/tt.hpp.
// Long, because a class has its methods in one place.
//   tt::Tensor t = tt::tensor({1, 2, 3});   tt::Tensor row = t.slice(0, 1, 3);   row.exp_();
#pragma once
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "tt/core/capture_mode.hpp"
#include "tt/core/device_api.hpp"
#include "tt/core/int_list.hpp"

namespace tt {

class Tensor;
class Generator;
struct TensorOptions;
struct MinMaxResult;
class IndexItem;
enum class ScatterReduction;
template <class T, int N>
class TensorAccessor;
template <class T>
class OwnedSpan;
struct TensorFront;
class Operator;
struct Attributes;

/// A Tensor between square brackets, and the line of the brackets.
struct TensorIndex {
  const Tensor& tensor;
  SourceLine at;
  TensorIndex(const Tensor& index, SourceLine line = here()) : tensor(index), at(line) {}
};
/// A number in brackets, and the line of the brackets.
struct AxisIndex {
  Size number;
  SourceLine at;
  template <std::integral T>
  AxisIndex(T index, SourceLine line = here()) : number(index), at(line) {}
  AxisIndex(const Size& index, SourceLine line = here()) : number(index), at(line) {}
};

/// Elements that Tensors share: reference counted, with a version that in-place changes advance.
struct Storage {
  std::atomic<std::int64_t> uses{1};  ///< by Tensors, and 2^32 (by_tape) for each use by an argument that the tape keeps
  std::atomic<std::uint32_t> version{0};
  std::size_t bytes = 0;
  std::size_t room = 0;  ///< bytes from `data` on that may be read and written
  void* data = nullptr;
  void (*free_data)(Storage&) = nullptr;  ///< null: the elements are part of this block
  void* context = nullptr;                ///< for free_data
  int device_index = 0;                   ///< of elements on a device

  static constexpr std::size_t header = 64;
  /// Rounded up to whole steps of 16 elements; from few_bytes on with another step, for one that begins at the last element.
  static constexpr std::size_t room_for(std::size_t bytes, std::size_t element) {
    const std::size_t step = 16 * element > 64 ? 16 * element : 64;
    return ((bytes + step - 1) & ~(step - 1)) + (bytes < few_bytes ? 0 : step);
  }
  static constexpr std::size_t few_bytes = 1024;  ///< fewer may be copied instead, before they are read beyond their end
  TT_INLINE static Storage* make(std::size_t bytes, std::size_t element);
  /// Elements in the memory of a device.
  TT_INLINE static Storage* make(std::size_t bytes, const DeviceApi& api, int index);
  void retain() { uses.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (uses.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  static constexpr std::int64_t by_tape = std::int64_t{1} << 32;
  void retain_for_tape() { uses.fetch_add(by_tape, std::memory_order_relaxed); }
  void release_from_tape() {
    if (uses.fetch_sub(by_tape, std::memory_order_acq_rel) == by_tape) destroy();
  }
  /// Number of Tensors on these elements.
  std::int64_t tensors() const { return uses.load(std::memory_order_relaxed) % by_tape; }

 private:
  TT_INLINE void destroy();
};
static_assert(sizeof(Storage) <= Storage::header);
static_assert(Storage::room_for(16, 4) == 64 && Storage::room_for(0, 8) == 0 && Storage::room_for(4096, 4) == 4160);

namespace detail {

struct TensorOperand;  // dispatch/tensor_operand.hpp

/// A method in place that calls one elementwise op: while this lives, the op writes its result into `target`, unless the tape or a capture sees the change.
///   return InPlace(x, "erf_", at).take(x.erf(at));
class InPlace {
 public:
  template <class... A>
  InPlace(Tensor& target, const char* name, SourceLine at, const A&... others);
  InPlace(const InPlace&) = delete;
  inline ~InPlace();
  /// The target: it holds `result` already, or gets its elements.
  inline Tensor& take(const Tensor& result) const;
  /// Called by the first elementwise op that has the target among its operands. By pointer, as programs without such methods have no code for them. Throws
  /// InternalError at a second one.
  Tensor (*const write)(InPlace& method, const Operator& op, const TensorOperand* operand, int count, const Attributes& attributes);
  /// Asked by a kernel that changes some elements of `x`, and reads `others`, on behalf of InPlaceSome: may it write there, as `x` is the target, or all of it as a
  /// view?
  bool (*const may_change)(InPlace& method, const Tensor& x, const Tensor* const* others, int count);

 protected:
  bool elementwise_ = true;

 private:
  Tensor& target_;
  const char* const name_;
  SourceLine at_;
  InPlace* before_ = nullptr;
  bool armed_ = false, written_ = false;
  inline Tensor result_of(const Operator& op, const TensorOperand* operand, int count, const Attributes& attributes);
  inline bool changes(const Tensor& x, const Tensor* const* others, int count);
};
/// The same for an op that changes some elements of its first operand; elementwise ops before it are called as usual.
struct InPlaceSome : InPlace {
  template <class... A>
  InPlaceSome(Tensor& target, const char* name, SourceLine at, const A&... others) : InPlace(target, name, at, others...) { elementwise_ = false; }
};

/// Autograd's data of a Tensor, defined in autograd/.
struct AutogradMeta {
  void (*destroy)(AutogradMeta*) = nullptr;
  const char* (*made_by_name)(const AutogradMeta&) = nullptr;  ///< the op that made the Tensor; null: a leaf
};

struct TensorImpl {
  std::atomic<std::int64_t> uses{1};
  Storage* storage = nullptr;
  std::byte* data = nullptr;      // address of the first element
  AutogradMeta* autograd = nullptr;
  DType dtype = DType::f32;
  bool contiguous = true, requires_grad = false, inference = false, is_view = false;
  bool is_number = false;         // made from a number in the program's text
  bool is_fill = false;           // all elements equal, fresh: zeros, ones, full
  std::int32_t marks = 0;         // marks of its axes, for captures: see dispatch/size_marks.hpp
  Device device;
  KeySet keys = DispatchKey::cpu;
  std::int64_t numel = 1;
  Shape shape;
  std::int64_t stride[max_rank];  // of the axes of `shape`; others are not set
  std::int64_t trace_id = -1;     // index of a value of the capture, while this Tensor is recorded and has no elements
  std::uint64_t capture = 0;      // the number of that capture; for other Tensors: of the one they were made in
  // A view and its base: see autograd/view_history.hpp. A view keeps its base alive; a base lists its views, guarded by views_busy.
  TensorImpl *base = nullptr, *first_view = nullptr, *next_view = nullptr, *previous_view = nullptr;
  BusyFlag views_busy;

  TT_INLINE static TensorImpl* make();
  /// Does it require a gradient, or has it a tangent?
  bool is_differentiated() const { return requires_grad || keys.contains(DispatchKey::forward); }
  /// is_fill is cleared when a handle that may be written to is made. Threads that only read make such handles too (views), at any time, hence atomically.
  bool is_filled() const { return __atomic_load_n(&is_fill, __ATOMIC_RELAXED); }
  void forget_fill() {
    if (is_filled()) __atomic_store_n(&is_fill, false, __ATOMIC_RELAXED);
  }
  void retain() { uses.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (uses.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  void set_dense(const Shape& s) {
    shape.rank = s.rank;
    numel = 1;
    for (int k = s.rank - 1; k >= 0; --k) {
      shape.code[k] = s.code[k];
      stride[k] = numel;
      numel *= s.code[k];
    }
    contiguous = true;
  }
  void set_strided(const Shape& s, const std::int64_t* strides) {
    shape.rank = s.rank;
    numel = 1;
    contiguous = true;
    for (int k = s.rank - 1; k >= 0; --k) {
      shape.code[k] = s.code[k];
      stride[k] = strides[k];
      if (s.code[k] != 1 && strides[k] != numel) contiguous = false;
      numel *= s.code[k];
    }
    if (numel == 0) contiguous = true;
  }
  /// Makes this a view of the base of `t`, or of `t` itself if it has none.
  TT_INLINE void become_view_of(TensorImpl& t);
  /// Turns this view into a Tensor without a base.
  TT_INLINE void leave_base();
  /// The same for all views of this Tensor.
  TT_INLINE void leave_views();
  /// Adds a user, unless the last one is just leaving.
  bool try_retain() {
    std::int64_t n = uses.load(std::memory_order_relaxed);
    while (n > 0 && !uses.compare_exchange_weak(n, n + 1)) {
    }
    return n > 0;
  }

 private:
  void destroy();
};
[[noreturn]] TT_INLINE void refuse_undefined(SourceLine at = {});
/// A copy if ops are recorded on the tape; else the Tensor itself.
TT_INLINE Tensor copy_for_tape(const Tensor& t, SourceLine at);

/// The first element, on any device, or 0 if there is none; waits for a device's work.
template <class T>
T first_element(const TensorImpl& t) {
  if (t.numel == 0) return T();
  if (is_host(t.device)) return *reinterpret_cast<const T*>(t.data);
  T value;
  device_api(t.device.type)->copy(&value, Device{}, t.data, t.device, sizeof value, false);
  return value;
}

/// Elements between the begin of the storage and the first one; 0 for recorded Tensors.
inline std::int64_t offset_in_storage(const TensorImpl& t) {
  return t.storage ? (t.data - static_cast<std::byte*>(t.storage->data)) / size_of(t.dtype) : 0;
}

}  // namespace detail

class Tensor {
 public:
  using tt_front = TensorFront;

  Tensor() = default;
  /// Contiguous, uninitialised elements.
  TT_INLINE Tensor(DType dtype, const Shape& shape, Device device = {});
  /// Takes over one use of `impl`.
  explicit Tensor(detail::TensorImpl* impl) : impl_(impl) {}
  Tensor(const Tensor& o) : impl_(o.impl_) {
    if (impl_) impl_->retain();
  }
  Tensor(Tensor&& o) noexcept : impl_(o.impl_) { o.impl_ = nullptr; }
  Tensor& operator=(const Tensor& o) & {
    Tensor copy(o);
    swap(copy);
    return *this;
  }
  Tensor& operator=(Tensor&& o) & noexcept {
    Tensor taken(static_cast<Tensor&&>(o));
    swap(taken);
    return *this;
  }
  /// Assigning to a temporary, such as x[0] or x.slice(0, 1, 3), writes its elements, as copy_ does: from a Tensor that broadcasts,
  /// or a number. Throws Error where the elements are a copy's, as of x.index({tensor}): nobody would see the change.
  Tensor& operator=(detail::TensorOperand from) &&;
  /// Not for x[mask] and x[indices], which are copies.
  template <class Never = int>
  void operator=(detail::TensorOperand) const&&;
  ~Tensor() {
    if (impl_) impl_->release();
  }
  void swap(Tensor& o) noexcept {
    detail::TensorImpl* impl = impl_;
    impl_ = o.impl_;
    o.impl_ = impl;
  }

  // ---- properties
  bool defined() const { return impl_ != nullptr; }
  DType dtype() const { return impl().dtype; }
  Device device() const {
    const Device d = impl().device;
    const bool recorded = d.type == DeviceType::meta && impl_->trace_id >= 0 && detail::capture_mode;
    return recorded ? detail::capture_mode->device() : d;
  }
  /// The sizes; each is a Size, like size() and numel(): a compiled function that only passes them on to ops does not guard their values.
  IntList shape(SourceLine at = here()) const {
    if (!detail::capture_mode) [[likely]] return impl().shape;
    IntList s;
    for (int k = 0; k < dim(); ++k) s.push_back(size(k, at));
    return s;
  }
  IntList sizes(SourceLine at = here()) const { return shape(at); }
  int dim() const { return impl().shape.rank; }
  int ndimension() const { return dim(); }
  /// The extent of one axis, counted from the right if negative.
  Size size(int axis, SourceLine at = here()) const {
    const int k = checked_axis(axis, "size", at);
    return size_of_axis(impl_->shape.code[k], k, at);
  }
  std::int64_t stride(int axis, SourceLine at = here()) const {
    need_layout(impl().is_view || !impl_->contiguous, "stride", at);  // strides of arguments with gaps are symbols
    look_at_sizes(at);  // strides are products of sizes
    return impl().stride[checked_axis(axis, "stride", at)];
  }
  /// The number of elements.
  Size numel(SourceLine at = here()) const { return impl_ ? size_of_axis(impl_->numel, -1, at) : Size(0); }
  Size size(SourceLine at = here()) const { return numel(at); }
  IntList strides(SourceLine at = here()) const {
    IntList all;
    for (int k = 0; k < dim(); ++k) all.push_back(stride(k, at));
    return all;
  }
  /// Bytes of an element, and of all elements.
  std::int64_t element_size() const { return size_of(dtype()); }
  std::int64_t itemsize() const { return element_size(); }
  Size nbytes(SourceLine at = here()) const { return numel(at) * element_size(); }
  /// Elements between the begin of the storage and the first one.
  std::int64_t storage_offset() const {
    need_layout(true, "storage_offset");
    return detail::offset_in_storage(*impl_);
  }
  bool is_contiguous() const {
    need_layout(impl().is_view, "is_contiguous");
    return impl().contiguous;
  }
  bool is_floating_point() const { return is_floating(dtype()); }
  bool is_signed() const { return tt::is_signed(dtype()); }
  bool is_meta() const { return impl().device.type == DeviceType::meta; }
  bool is_cpu() const { return device().type == DeviceType::cpu; }
  bool is_cuda() const { return device().type == DeviceType::cuda; }
  bool is_inference() const { return impl().inference; }
  DType scalar_type() const { return dtype(); }
  /// Dtype and device, for factories: TensorOptions.
  template <class = void> auto options() const;
  KeySet keys() const { return impl().keys; }
  /// How often the storage was changed in place.
  std::uint32_t version() const { return impl().storage ? impl_->storage->version.load(std::memory_order_relaxed) : 0; }
  bool shares_storage(const Tensor& o) const { return impl().storage && impl_->storage == o.impl().storage; }
  bool is_same(const Tensor& o) const { return impl_ == o.impl_; }

  // ---- elements: access to them ends a graph that is being captured
  void* data() {
    need_elements("data", {}, detail::Use::untyped_pointer);
    may_be_written();
    impl().forget_fill();
    return impl_->data;
  }
  const void* data() const {
    need_elements("data", {}, detail::Use::untyped_pointer);
    return impl().data;
  }
  template <Element T>
  T* data_ptr(SourceLine at = here()) const {
    check_type(dtype_of<T>, "data_ptr", at);
    need_elements("data_ptr", at, detail::Use::may_write);
    may_be_written();
    impl_->forget_fill();
    return reinterpret_cast<T*>(impl_->data);
  }
  /// The same, for writing, and for reading only.
  template <Element T>
  T* mutable_data_ptr(SourceLine at = here()) const { return data_ptr<T>(at); }
  template <Element T>
  const T* const_data_ptr(SourceLine at = here()) const {
    check_type(dtype_of<T>, "const_data_ptr", at);
    need_elements("const_data_ptr", at, detail::Use::reads);
    return reinterpret_cast<const T*>(impl_->data);
  }
  /// The first element, of any dtype, for writing or for reading (libtorch's names).
  void* data_ptr() const {
    need_elements("data_ptr", {}, detail::Use::untyped_pointer);
    may_be_written();
    impl().forget_fill();
    return impl_->data;
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  const void* const_data_ptr() const { return data(); }
  /// The elements of a contiguous Tensor; T must be the dtype's type. The span of a temporary keeps its Tensor: for (float v : (x * 2).elements<float>()) ...
  template <Element T>
  std::span<T> elements(SourceLine at = here()) & {
    check_elements(dtype_of<T>, at);
    may_be_written();
    impl_->forget_fill();
    return {reinterpret_cast<T*>(impl_->data), static_cast<std::size_t>(numel())};
  }
  template <Element T>
  std::span<const T> elements(SourceLine at = here()) const& {
    check_elements(dtype_of<T>, at);
    return {reinterpret_cast<const T*>(impl_->data), static_cast<std::size_t>(numel())};
  }
  template <Element T>
  OwnedSpan<T> elements(SourceLine at = here()) &&;
  /// The elements by indices, for any strides: accessor<float, 2>()(i, j). T is the dtype's type, const for reading; see core/accessor.hpp.
  template <class T, int N>
  TensorAccessor<T, N> accessor(SourceLine at = here()) const;
  /// The element of a Tensor that has just one, converted to T.
  template <class T = double>
  T item(SourceLine at = here()) const {
    return element<T>("item", at);
  }
  /// Is the element of a Tensor that has just one other than 0?
  bool is_nonzero(SourceLine at = here()) const {
    return element<bool>("is_nonzero", at);
  }
  /// The same, as the condition of a branch: `if ((x > 0).sum() > 3)`.
  explicit operator bool() const { return element<bool>("bool", {}); }

  // ---- views: the same elements, no copy
  Tensor view(const IntList& shape, SourceLine at = here()) const;
  template <SizeOrInteger... N> requires(sizeof...(N) > 0) Tensor view(detail::FirstSize first, const N&... more) const { return view(IntList{first.number, more...}, first.at); }
  /// The same bytes as elements of another dtype. A wider or narrower dtype makes the last axis shorter or longer, whose elements must be consecutive
  /// then. Has no gradient. Throws Error where the bytes do not divide into such elements, and for a view as bool of elements that are not.
  template <std::same_as<DType> D> Tensor view(D dtype, SourceLine at = here()) const;
  Tensor reshape(const IntList& shape, SourceLine at = here()) const;
  template <SizeOrInteger... N> requires(sizeof...(N) > 0) Tensor reshape(detail::FirstSize first, const N&... more) const { return reshape(IntList{first.number, more...}, first.at); }
  Tensor permute(const IntList& axes, SourceLine at = here()) const;
  template <SizeOrInteger... N> requires(sizeof...(N) > 0) Tensor permute(detail::FirstSize first, const N&... more) const { return permute(IntList{first.number, more...}, first.at); }
  /// Two axes exchanged; t(): those of a matrix. NumPy's transpose and T, of all axes in an order or reversed, are permute.
  Tensor transpose(int axis0, int axis1, SourceLine at = here()) const;
  Tensor t(SourceLine at = here()) const;
  Tensor expand(const IntList& shape, SourceLine at = here()) const;
  template <SizeOrInteger... N> requires(sizeof...(N) > 0) Tensor expand(detail::FirstSize first, const N&... more) const { return expand(IntList{first.number, more...}, first.at); }
  Tensor slice(int axis, SliceBound start, SliceBound end = {}, SizeArgument step = 1, SourceLine at = here()) const;
  /// Windows of `size` elements, `step` apart; a new last axis has the elements of each.
  Tensor unfold(int axis, std::int64_t size, std::int64_t step, SourceLine at = here()) const;
  Tensor select(int axis, SizeArgument index, SourceLine at = here()) const;
  Tensor unsqueeze(int axis, SourceLine at = here()) const;
  Tensor squeeze(int axis, SourceLine at = here()) const;
  Tensor flatten(SourceLine at = here()) const;
  Tensor detach() const;
  Tensor operator[](const AxisIndex& index) const { return select(0, index.number, index.at); }

  // Views that are functions too, see dispatch/shape_functions.hpp; templates, which cost programs that do not call them nothing.
  template <class = void> Tensor narrow(int dim, SizeArgument start, SizeArgument length, SourceLine at = here()) const;
  template <class = void> Tensor narrow(int dim, const Tensor& start, SizeArgument length, SourceLine at = here()) const;
  template <class = void> Tensor movedim(const IntList& source, const IntList& destination, SourceLine at = here()) const;
  template <class = void> Tensor swapaxes(int axis0, int axis1, SourceLine at = here()) const;
  template <class = void> Tensor squeeze(CallLine at = here()) const;
  template <class = void> Tensor squeeze(const IntList& dim, SourceLine at = here()) const;
  template <class = void> Tensor flatten(int start_dim, int end_dim = -1, SourceLine at = here()) const;
  template <class = void> Tensor unflatten(int dim, const IntList& sizes, SourceLine at = here()) const;
  template <class = void> Tensor diagonal(int offset = 0, int dim1 = 0, int dim2 = 1, SourceLine at = here()) const;
  template <class = void> Tensor expand_as(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor reshape_as(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor view_as(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor mT(SourceLine at = here()) const;
  template <class = void> auto split(std::int64_t size, int dim = 0, SourceLine at = here()) const;
  template <class = void> auto split(const IntList& sizes, int dim = 0, SourceLine at = here()) const;
  template <class = void> auto chunk(int chunks, int dim = 0, SourceLine at = here()) const;
  template <class = void> auto unbind(int dim = 0, SourceLine at = here()) const;
  template <class = void> Tensor repeat(const IntList& repeats, SourceLine at = here()) const;
  template <SizeOrInteger... N> requires(sizeof...(N) > 0) Tensor repeat(detail::FirstSize first, const N&... more) const { return repeat(IntList{first.number, more...}, first.at); }
  template <class = void> Tensor tile(const IntList& dims, SourceLine at = here()) const;
  template <class = void> Tensor repeat_interleave(SizeArgument repeats, int dim, SourceLine at = here()) const;
  template <class = void> Tensor repeat_interleave(SizeArgument repeats, SourceLine at = here()) const;
  template <class = void> Tensor repeat_interleave(const Tensor& repeats, SourceLine at = here()) const;
  template <class = void> Tensor repeat_interleave(const Tensor& repeats, int dim, SourceLine at = here()) const;
  template <class R> Tensor repeat_interleave(const R& repeats, int dim, std::int64_t output_size, SourceLine at = here()) const;
  template <class = void> Tensor flip(const IntList& dims, SourceLine at = here()) const;
  template <class = void> Tensor roll(const IntList& shifts, const IntList& dims = {}, SourceLine at = here()) const;

  // ---- elements by index: copies, see dispatch/index_ops.hpp
  TT_LAZY Tensor index_select(int axis, const Tensor& index, SourceLine at = here()) const;
  TT_LAZY Tensor gather(int axis, const Tensor& index, SourceLine at = here()) const;
  TT_LAZY Tensor masked_select(const Tensor& mask, SourceLine at = here()) const;
  TT_LAZY Tensor nonzero(SourceLine at = here()) const;
  /// The elements that indices of any shape select along axis 0, negative ones from its end; or those that a mask over the first axes selects.
  const Tensor operator[](const TensorIndex& index) const;

  // See dispatch/index_functions.hpp.
  template <class V> Tensor masked_fill(const Tensor& mask, const V& value, SourceLine at = here()) const;
  template <class = void> Tensor masked_scatter(const Tensor& mask, const Tensor& source, SourceLine at = here()) const;
  template <class S> Tensor scatter(int dim, const Tensor& index, const S& src, SourceLine at = here()) const;
  template <class S> Tensor scatter(int dim, const Tensor& index, const S& src, std::string_view reduce, SourceLine at = here()) const;
  template <class = void> Tensor scatter_add(int dim, const Tensor& index, const Tensor& src, SourceLine at = here()) const;
  template <class = void> Tensor index_add(int dim, const Tensor& index, const Tensor& source, SourceLine at = here()) const;
  template <class A> requires std::is_arithmetic_v<A> Tensor index_add(int dim, const Tensor& index, const Tensor& source, A alpha, SourceLine at = here()) const;
  template <class = void> Tensor index_copy(int dim, const Tensor& index, const Tensor& source, SourceLine at = here()) const;
  /// x.index({Slice(1, none), 0, mask}) is NumPy's x[1:, 0, mask]: a view, unless Tensors are among the items. index_put_ writes there.
  template <class = void> Tensor index(std::initializer_list<IndexItem> items, SourceLine at = here()) const;
  template <class V> Tensor& index_put_(std::initializer_list<IndexItem> items, const V& value, bool accumulate = false, SourceLine at = here());
  template <class = void> Tensor index_put(std::initializer_list<Tensor> indices, const Tensor& values, bool accumulate = false, SourceLine at = here()) const;
  /// Indices in a vector, an array or a span.
  template <class L> requires std::convertible_to<const L&, std::span<const Tensor>> Tensor index(const L& indices, SourceLine at = here()) const;
  template <class L> requires std::convertible_to<const L&, std::span<const Tensor>> Tensor index_put(const L& indices, const Tensor& values, bool accumulate = false, SourceLine at = here()) const;
  template <class L> requires std::convertible_to<const L&, std::span<const Tensor>> Tensor& index_put_(const L& indices, const Tensor& values, bool accumulate = false, SourceLine at = here()) { return detail::InPlaceSome(*this, "index_put_", at, values).take(before_update(at, values).index_put(indices, values, accumulate, at)); }
  template <class = void> Tensor take(const Tensor& index, SourceLine at = here()) const;

  // ---- copies
  Tensor contiguous(SourceLine at = here()) const;
  Tensor clone(SourceLine at = here()) const;
  Tensor to(DType dtype, SourceLine at = here()) const;
  /// On another device; the same Tensor if it is there already. A copy to the host has arrived when this returns,
  /// unless non_blocking: then after tt::cuda::synchronize().
  Tensor to(Device device, bool non_blocking = false, SourceLine at = here()) const;
  /// With a dtype and a device: given, those of another Tensor, or those of options; copy: always another Tensor.
  template <class = void> Tensor to(Device device, DType dtype, bool non_blocking = false, bool copy = false, SourceLine at = here()) const;
  template <std::same_as<bool> B> Tensor to(DType dtype, B non_blocking, bool copy = false, SourceLine at = here()) const { return to(device(), dtype, non_blocking, copy, at); }
  template <std::same_as<bool> B> Tensor to(Device device, bool non_blocking, B copy, SourceLine at = here()) const { return to(device, dtype(), non_blocking, copy, at); }
  template <class = void> Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false, SourceLine at = here()) const { return to(other.device(), other.dtype(), non_blocking, copy, at); }
  template <std::same_as<TensorOptions> O> Tensor to(const O& options, bool non_blocking = false, bool copy = false, SourceLine at = here()) const;
  Tensor cpu(SourceLine at = here()) const;
  Tensor cuda(int index = 0, SourceLine at = here()) const { return to(Device{DeviceType::cuda, index}, false, at); }

  // ---- elementwise ops; each is also a function tt::name(...). Operands are Tensors or numbers.
  TT_LAZY Tensor exp(SourceLine at = here()) const;
  TT_LAZY Tensor log(SourceLine at = here()) const;
  TT_LAZY Tensor sqrt(SourceLine at = here()) const;
  TT_LAZY Tensor abs(SourceLine at = here()) const;
  TT_LAZY Tensor sin(SourceLine at = here()) const;
  TT_LAZY Tensor cos(SourceLine at = here()) const;
  TT_LAZY Tensor tanh(SourceLine at = here()) const;
  TT_LAZY Tensor sigmoid(SourceLine at = here()) const;
  TT_LAZY Tensor relu(SourceLine at = here()) const;
  TT_LAZY Tensor square(SourceLine at = here()) const;
  // Templates, which cost programs that do not call them nothing:
  template <class = void> Tensor exp2(SourceLine at = here()) const;
  template <class = void> Tensor expm1(SourceLine at = here()) const;
  template <class = void> Tensor log2(SourceLine at = here()) const;
  template <class = void> Tensor log1p(SourceLine at = here()) const;
  template <class = void> Tensor tan(SourceLine at = here()) const;
  template <class = void> Tensor erf(SourceLine at = here()) const;
  template <class = void> Tensor silu(SourceLine at = here()) const;
  template <class = void> Tensor gelu(SourceLine at = here()) const;
  template <class = void> Tensor gelu_tanh(SourceLine at = here()) const;
  template <class = void> Tensor softplus(SourceLine at = here()) const;
  template <class = void> Tensor mish(SourceLine at = here()) const;
  template <class = void> Tensor hardswish(SourceLine at = here()) const;
  template <class = void> Tensor sign(SourceLine at = here()) const;
  template <class = void> Tensor reciprocal(SourceLine at = here()) const;
  template <class = void> Tensor rsqrt(SourceLine at = here()) const;
  template <class = void> Tensor neg(SourceLine at = here()) const;
  template <class = void> Tensor floor(SourceLine at = here()) const;
  template <class = void> Tensor ceil(SourceLine at = here()) const;
  template <class = void> Tensor round(SourceLine at = here()) const;
  template <std::integral N> Tensor round(N decimals, SourceLine at = here()) const;
  template <class = void> Tensor trunc(SourceLine at = here()) const;
  template <class = void> Tensor logical_not(SourceLine at = here()) const;
  template <class B> Tensor add(const B& o, SourceLine at = here()) const;
  template <class B> Tensor sub(const B& o, SourceLine at = here()) const;
  /// this + alpha o, and this - alpha o.
  template <class B, class A> requires std::is_arithmetic_v<A> Tensor add(const B& o, A alpha, SourceLine at = here()) const;
  template <class B, class A> requires std::is_arithmetic_v<A> Tensor sub(const B& o, A alpha, SourceLine at = here()) const;
  template <class B> Tensor mul(const B& o, SourceLine at = here()) const;
  template <class B> Tensor div(const B& o, SourceLine at = here()) const;
  /// Rounded: "trunc" or "floor".
  template <class B> Tensor div(const B& o, std::string_view rounding_mode, SourceLine at = here()) const;
  template <class B> Tensor minimum(const B& o, SourceLine at = here()) const;
  template <class B> Tensor maximum(const B& o, SourceLine at = here()) const;
  template <class B> Tensor lt(const B& o, SourceLine at = here()) const;
  template <class B> Tensor le(const B& o, SourceLine at = here()) const;
  template <class B> Tensor gt(const B& o, SourceLine at = here()) const;
  template <class B> Tensor ge(const B& o, SourceLine at = here()) const;
  template <class B> Tensor eq(const B& o, SourceLine at = here()) const;
  template <class B> Tensor ne(const B& o, SourceLine at = here()) const;
  template <class B> Tensor logical_and(const B& o, SourceLine at = here()) const;
  template <class B> Tensor logical_or(const B& o, SourceLine at = here()) const;
  template <class B> Tensor pow(const B& o, SourceLine at = here()) const;
  template <class L, class H>
  Tensor clamp(const L& low, const H& high, SourceLine at = here()) const;
  template <class S = double>
  Tensor leaky_relu(const S& slope = 0.01, SourceLine at = here()) const;
  template <class S = double>
  Tensor elu(const S& alpha = 1.0, SourceLine at = here()) const;
  /// a * b + c, where a is this Tensor.
  template <class B, class C>
  Tensor fma(const B& b, const C& c, SourceLine at = here()) const;
  /// The elements of this Tensor where the condition holds, else those of `other`.
  template <class B> Tensor where(const Tensor& condition, const B& other, SourceLine at = here()) const;

  TT_LAZY Tensor tril(SizeArgument diagonal = 0, SourceLine at = here()) const;
  TT_LAZY Tensor triu(SizeArgument diagonal = 0, SourceLine at = here()) const;

  // ---- further functions, as methods: x.acos() is tt::acos(x)
  template <class = void> Tensor acos(SourceLine at = here()) const;
  template <class = void> Tensor acosh(SourceLine at = here()) const;
  template <class = void> Tensor asin(SourceLine at = here()) const;
  template <class = void> Tensor asinh(SourceLine at = here()) const;
  template <class = void> Tensor atan(SourceLine at = here()) const;
  template <class = void> Tensor atanh(SourceLine at = here()) const;
  template <class = void> Tensor cosh(SourceLine at = here()) const;
  template <class = void> Tensor sinh(SourceLine at = here()) const;
  template <class = void> Tensor deg2rad(SourceLine at = here()) const;
  template <class = void> Tensor rad2deg(SourceLine at = here()) const;
  template <class = void> Tensor digamma(SourceLine at = here()) const;
  template <class = void> Tensor lgamma(SourceLine at = here()) const;
  template <class = void> Tensor erfc(SourceLine at = here()) const;
  template <class = void> Tensor erfinv(SourceLine at = here()) const;
  template <class = void> Tensor frac(SourceLine at = here()) const;
  template <class = void> Tensor i0(SourceLine at = here()) const;
  template <class = void> Tensor log10(SourceLine at = here()) const;
  template <class = void> Tensor sinc(SourceLine at = here()) const;
  template <class = void> Tensor logit(SourceLine at = here()) const;
  template <class = void> Tensor logit(double eps, SourceLine at = here()) const;
  template <class = void> Tensor bitwise_not(SourceLine at = here()) const;
  template <class = void> Tensor absolute(SourceLine at = here()) const;
  template <class = void> Tensor arccos(SourceLine at = here()) const;
  template <class = void> Tensor arccosh(SourceLine at = here()) const;
  template <class = void> Tensor arcsin(SourceLine at = here()) const;
  template <class = void> Tensor arcsinh(SourceLine at = here()) const;
  template <class = void> Tensor arctan(SourceLine at = here()) const;
  template <class = void> Tensor arctanh(SourceLine at = here()) const;
  template <class = void> Tensor fix(SourceLine at = here()) const;
  template <class = void> Tensor negative(SourceLine at = here()) const;
  template <class = void> Tensor positive(SourceLine at = here()) const;
  template <class = void> Tensor sgn(SourceLine at = here()) const;
  template <class = void> Tensor isposinf(SourceLine at = here()) const;
  template <class = void> Tensor isneginf(SourceLine at = here()) const;
  template <class = void> Tensor signbit(SourceLine at = here()) const;
  template <class B> Tensor atan2(const B& o, SourceLine at = here()) const;
  template <class B> Tensor copysign(const B& o, SourceLine at = here()) const;
  template <class B> Tensor fmax(const B& o, SourceLine at = here()) const;
  template <class B> Tensor fmin(const B& o, SourceLine at = here()) const;
  template <class B> Tensor fmod(const B& o, SourceLine at = here()) const;
  template <class B> Tensor remainder(const B& o, SourceLine at = here()) const;
  template <class B> Tensor floor_divide(const B& o, SourceLine at = here()) const;
  template <class B> Tensor heaviside(const B& o, SourceLine at = here()) const;
  template <class B> Tensor hypot(const B& o, SourceLine at = here()) const;
  template <class B> Tensor ldexp(const B& o, SourceLine at = here()) const;
  template <class B> Tensor logaddexp(const B& o, SourceLine at = here()) const;
  template <class B> Tensor logaddexp2(const B& o, SourceLine at = here()) const;
  template <class B> Tensor nextafter(const B& o, SourceLine at = here()) const;
  template <class B> Tensor xlogy(const B& o, SourceLine at = here()) const;
  template <class B> Tensor logical_xor(const B& o, SourceLine at = here()) const;
  template <class B> Tensor bitwise_and(const B& o, SourceLine at = here()) const;
  template <class B> Tensor bitwise_or(const B& o, SourceLine at = here()) const;
  template <class B> Tensor bitwise_xor(const B& o, SourceLine at = here()) const;
  template <class B> Tensor arctan2(const B& o, SourceLine at = here()) const;
  template <class B> Tensor divide(const B& o, SourceLine at = here()) const;
  template <class B> Tensor divide(const B& o, std::string_view rounding_mode, SourceLine at = here()) const;
  template <class B> Tensor greater(const B& o, SourceLine at = here()) const;
  template <class B> Tensor greater_equal(const B& o, SourceLine at = here()) const;
  template <class B> Tensor less(const B& o, SourceLine at = here()) const;
  template <class B> Tensor less_equal(const B& o, SourceLine at = here()) const;
  template <class B> Tensor multiply(const B& o, SourceLine at = here()) const;
  template <class B> Tensor not_equal(const B& o, SourceLine at = here()) const;
  template <class B> Tensor subtract(const B& o, SourceLine at = here()) const;
  template <class B, class A> requires std::is_arithmetic_v<A> Tensor subtract(const B& o, A alpha, SourceLine at = here()) const;
  template <class B> Tensor true_divide(const B& o, SourceLine at = here()) const;
  template <class B> Tensor bitwise_left_shift(const B& o, SourceLine at = here()) const;
  template <class B> Tensor bitwise_right_shift(const B& o, SourceLine at = here()) const;
  template <class = void> Tensor gcd(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor lcm(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor igamma(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor igammac(const Tensor& o, SourceLine at = here()) const;
  template <class B> Tensor float_power(const B& exponent, SourceLine at = here()) const;
  template <class W> Tensor lerp(const Tensor& end, const W& weight, SourceLine at = here()) const;
  template <class V = int> Tensor addcmul(const Tensor& a, const Tensor& b, V value = 1, SourceLine at = here()) const;
  template <class = void> Tensor addcdiv(const Tensor& a, const Tensor& b, double value = 1, SourceLine at = here()) const;
  template <class L, class H> Tensor clip(const L& low, const H& high, SourceLine at = here()) const;
  template <class L> Tensor clip(const L& low, SourceLine at = here()) const;
  template <class = void> Tensor nan_to_num(double nan = 0, SourceLine at = here()) const;
  template <class = void> Tensor nan_to_num(double nan, double posinf, SourceLine at = here()) const;
  template <class = void> Tensor nan_to_num(double nan, double posinf, double neginf, SourceLine at = here()) const;
  template <class = void> Tensor hardshrink(double lambd = 0.5, SourceLine at = here()) const;
  template <class = void> Tensor prelu(const Tensor& weight, SourceLine at = here()) const;
  template <class = void> Tensor isclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false, SourceLine at = here()) const;
  template <class = void> Tensor polygamma(int n, SourceLine at = here()) const;
  template <class = void> Tensor mvlgamma(int p, SourceLine at = here()) const;
  template <class = void> auto frexp(SourceLine at = here()) const;
  template <class = void> Tensor half(SourceLine at = here()) const;
  template <class = void> Tensor bfloat16(SourceLine at = here()) const;
  template <class = void> Tensor type_as(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor broadcast_to(const IntList& size, SourceLine at = here()) const;
  template <class = void> Tensor as_strided(const IntList& size, const IntList& stride, SourceLine at = here()) const;
  template <class = void> Tensor as_strided(const IntList& size, const IntList& stride, std::int64_t storage_offset, SourceLine at = here()) const;
  template <class = void> Tensor ravel(SourceLine at = here()) const;
  template <class = void> Tensor angle(SourceLine at = here()) const;
  template <class = void> Tensor as_strided_scatter(const Tensor& src, const IntList& size, const IntList& stride, SourceLine at = here()) const;
  template <class = void> Tensor as_strided_scatter(const Tensor& src, const IntList& size, const IntList& stride, std::int64_t storage_offset, SourceLine at = here()) const;
  template <class = void> Tensor fliplr(SourceLine at = here()) const;
  template <class = void> Tensor flipud(SourceLine at = here()) const;
  template <class = void> Tensor swapdims(int dim0, int dim1, SourceLine at = here()) const;
  template <class = void> Tensor moveaxis(const IntList& source, const IntList& destination, SourceLine at = here()) const;
  template <class = void> Tensor adjoint(SourceLine at = here()) const;
  template <class = void> Tensor mH(SourceLine at = here()) const;
  template <class = void> Tensor byte(SourceLine at = here()) const;
  template <class = void> Tensor conj(SourceLine at = here()) const;
  template <class = void> Tensor real(SourceLine at = here()) const;
  template <class = void> Tensor resolve_conj(SourceLine at = here()) const;
  template <class = void> Tensor resolve_neg(SourceLine at = here()) const;
  template <class = void> Tensor conj_physical(SourceLine at = here()) const;
  template <class = void> Tensor isreal(SourceLine at = here()) const;
  template <class = void> Tensor narrow_copy(int dim, SizeArgument start, SizeArgument length, SourceLine at = here()) const;
  template <class = void> auto unsafe_chunk(int chunks, int dim = 0, SourceLine at = here()) const;
  template <class = void> auto unsafe_split(std::int64_t split_size, int dim = 0, SourceLine at = here()) const;
  template <class = void> Tensor new_empty_strided(const IntList& size, const IntList& stride, SourceLine at = here()) const;
  template <class = void> auto geqrf(SourceLine at = here()) const;
  template <class = void> auto histogram(std::int64_t bins, SourceLine at = here()) const;
  template <class = void> auto histogram(SourceLine at = here()) const;
  template <class = void> auto histogram(const Tensor& bins, SourceLine at = here()) const;
  template <class = void> auto histogram(const Tensor& bins, const Tensor& weight, bool density = false, SourceLine at = here()) const;
  template <class R = std::initializer_list<double>> auto histogram(std::int64_t bins, const R& range, SourceLine at = here()) const;
  template <class R = std::initializer_list<double>> auto histogram(std::int64_t bins, const R& range, const Tensor& weight, bool density = false, SourceLine at = here()) const;
  template <class = void> auto lu(SourceLine at = here()) const;
  template <class = void> Tensor lu_solve(const Tensor& LU_data, const Tensor& LU_pivots, SourceLine at = here()) const;
  template <class = void> Tensor orgqr(const Tensor& tau, SourceLine at = here()) const;
  template <class = void> Tensor ormqr(const Tensor& tau, const Tensor& other, bool left = true, bool transpose = false, SourceLine at = here()) const;
  template <class = void> auto qr(bool some = true, SourceLine at = here()) const;
  template <class = void> auto svd(bool some = true, SourceLine at = here()) const;
  template <class = void> auto triangular_solve(const Tensor& a, bool upper = true, bool transpose = false, bool unitriangular = false, SourceLine at = here()) const;
  template <class = void> Tensor& conj_physical_() { return *this; }
  template <class = void> Tensor diag(int diagonal = 0, SourceLine at = here()) const;
  template <class = void> Tensor diagflat(int offset = 0, SourceLine at = here()) const;
  template <class = void> Tensor diag_embed(int offset = 0, int dim1 = -2, int dim2 = -1, SourceLine at = here()) const;
  template <class = void> Tensor rot90(int k = 1, const IntList& dims = {0, 1}, SourceLine at = here()) const;
  template <std::integral I> auto hsplit(I sections, SourceLine at = here()) const;
  template <class = void> auto hsplit(const IntList& indices, SourceLine at = here()) const;
  template <std::integral I> auto vsplit(I sections, SourceLine at = here()) const;
  template <class = void> auto vsplit(const IntList& indices, SourceLine at = here()) const;
  template <std::integral I> auto dsplit(I sections, SourceLine at = here()) const;
  template <class = void> auto dsplit(const IntList& indices, SourceLine at = here()) const;
  template <std::integral I> auto tensor_split(I sections, int dim = 0, SourceLine at = here()) const;
  template <class = void> auto tensor_split(const IntList& indices, int dim = 0, SourceLine at = here()) const;
  template <std::same_as<Tensor> T> auto tensor_split(const T& indices_or_sections, int dim = 0, SourceLine at = here()) const;
  template <class = void> auto split_with_sizes(const IntList& split_sizes, int dim = 0, SourceLine at = here()) const;
  template <class = void> Tensor select_scatter(const Tensor& src, int dim, SizeArgument index, SourceLine at = here()) const;
  template <class = void> Tensor diagonal_scatter(const Tensor& src, int offset = 0, int dim1 = 0, int dim2 = 1, SourceLine at = here()) const;
  template <class = void> Tensor slice_scatter(const Tensor& src, int dim = 0, SizeArgument start = 0, SizeArgument end = INT64_MAX, SizeArgument step = 1, SourceLine at = here()) const;
  template <class = void> Tensor sum_to_size(const IntList& size, SourceLine at = here()) const;
  template <class = void> Tensor new_zeros(const IntList& size, SourceLine at = here()) const;
  template <std::same_as<DType> D> Tensor new_zeros(const IntList& size, D dtype, SourceLine at = here()) const;
  template <class = void> Tensor new_ones(const IntList& size, SourceLine at = here()) const;
  template <std::same_as<DType> D> Tensor new_ones(const IntList& size, D dtype, SourceLine at = here()) const;
  template <class = void> Tensor new_empty(const IntList& size, SourceLine at = here()) const;
  template <std::same_as<DType> D> Tensor new_empty(const IntList& size, D dtype, SourceLine at = here()) const;
  template <class V> Tensor new_full(const IntList& size, const V& value, SourceLine at = here()) const;
  template <class V, std::same_as<DType> D> Tensor new_full(const IntList& size, const V& value, D dtype, SourceLine at = here()) const;
  // With dtype and device of options, such as y.options(); see zeros_like.
  template <std::same_as<TensorOptions> O> Tensor new_zeros(const IntList& size, const O& o, SourceLine at = here()) const;
  template <std::same_as<TensorOptions> O> Tensor new_ones(const IntList& size, const O& o, SourceLine at = here()) const;
  template <std::same_as<TensorOptions> O> Tensor new_empty(const IntList& size, const O& o, SourceLine at = here()) const;
  template <class V, std::same_as<TensorOptions> O> Tensor new_full(const IntList& size, const V& value, const O& o, SourceLine at = here()) const;
  template <std::same_as<TensorOptions> O> Tensor new_empty_strided(const IntList& size, const IntList& stride, const O& o, SourceLine at = here()) const;
  template <std::same_as<DType> D> Tensor new_empty_strided(const IntList& size, const IntList& stride, D dtype, SourceLine at = here()) const;
  template <class = void> Tensor mm(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor bmm(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor mv(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor dot(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor vdot(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor inner(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor outer(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor ger(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor kron(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor cross(const Tensor& o, SourceLine at = here()) const;
  template <class = void> Tensor cross(const Tensor& o, int dim, SourceLine at = here()) const;
  template <class = void> Tensor addmm(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) const;
  template <class = void> Tensor addmv(const Tensor& a, const Tensor& v, double beta = 1, double alpha = 1, SourceLine at = here()) const;
  template <class = void> Tensor addr(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) const;
  template <class = void> Tensor addbmm(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) const;
  template <class = void> Tensor baddbmm(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) const;
  template <class = void> Tensor det(SourceLine at = here()) const;
  template <class = void> Tensor logdet(SourceLine at = here()) const;
  template <class = void> Tensor inverse(SourceLine at = here()) const;
  template <class = void> Tensor matrix_exp(SourceLine at = here()) const;
  template <class = void> Tensor corrcoef(SourceLine at = here()) const;
  template <class = void> Tensor trace(SourceLine at = here()) const;
  template <class = void> auto slogdet(SourceLine at = here()) const;
  template <class = void> Tensor pinverse(double rcond = 1e-15, SourceLine at = here()) const;
  template <class = void> Tensor matrix_power(int n, SourceLine at = here()) const;
  template <class = void> Tensor cholesky(bool upper = false, SourceLine at = here()) const;
  template <class = void> Tensor cholesky_inverse(bool upper = false, SourceLine at = here()) const;
  template <class = void> Tensor cholesky_solve(const Tensor& l, bool upper = false, SourceLine at = here()) const;
  template <class = void> Tensor cov(int correction = 1, SourceLine at = here()) const;
  template <class = void> Tensor cov(int correction, const Tensor& fweights, SourceLine at = here()) const;
  template <class = void> Tensor cov(int correction, const Tensor& fweights, const Tensor& aweights, SourceLine at = here()) const;
  template <class = void> Tensor norm(double p = 2, const IntList& dim = {}, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor dist(const Tensor& o, double p = 2, SourceLine at = here()) const;
  template <class = void> Tensor renorm(double p, int dim, double maxnorm, SourceLine at = here()) const;
  template <class = void> auto aminmax(SourceLine at = here()) const;
  template <class = void> auto aminmax(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> MinMaxResult cummax(int dim, SourceLine at = here()) const;
  template <class = void> MinMaxResult cummin(int dim, SourceLine at = here()) const;
  template <class = void> Tensor logcumsumexp(int dim, SourceLine at = here()) const;
  template <class = void> MinMaxResult kthvalue(std::int64_t k, int dim = -1, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> MinMaxResult mode(int dim = -1, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor nanmean(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor nanmedian(SourceLine at = here()) const;
  /// q: a number or a Tensor of numbers; see dispatch/sorted_functions.hpp.
  template <class Q> Tensor quantile(const Q& q, SourceLine at = here()) const;
  template <class Q> Tensor quantile(const Q& q, int dim, bool keepdim = false, const char* interpolation = "linear", SourceLine at = here()) const;
  template <class Q> Tensor nanquantile(const Q& q, SourceLine at = here()) const;
  template <class Q> Tensor nanquantile(const Q& q, int dim, bool keepdim = false, const char* interpolation = "linear", SourceLine at = here()) const;
  template <class = void> MinMaxResult nanmedian(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor diff(int n = 1, int dim = -1, SourceLine at = here()) const;
  template <class = void> Tensor diff(int n, int dim, const Tensor& prepend, SourceLine at = here()) const;
  template <class = void> Tensor diff(int n, int dim, const Tensor& prepend, const Tensor& append, SourceLine at = here()) const;
  template <class = void> Tensor histc(std::int64_t bins = 100, double min = 0, double max = 0, SourceLine at = here()) const;
  template <class = void> Tensor bincount(SourceLine at = here()) const;
  template <class = void> Tensor bincount(const Tensor& weights, std::int64_t minlength = 0, SourceLine at = here()) const;
  template <class = void> Tensor msort(SourceLine at = here()) const;
  template <class = void> auto unique(bool sorted = true, bool return_inverse = false, bool return_counts = false, SourceLine at = here()) const;
  template <class = void> auto unique_consecutive(bool return_inverse = false, bool return_counts = false, SourceLine at = here()) const;
  template <class = void> auto unique_consecutive(bool return_inverse, bool return_counts, int dim, SourceLine at = here()) const;
  template <class = void> Tensor take_along_dim(const Tensor& index, int dim, SourceLine at = here()) const;
  template <class = void> Tensor take_along_dim(const Tensor& index, SourceLine at = here()) const;
  template <class V> Tensor index_fill(int dim, const Tensor& index, const V& value, SourceLine at = here()) const;
  template <class = void> Tensor index_reduce(int dim, const Tensor& index, const Tensor& source, ScatterReduction reduce, bool include_self = true, SourceLine at = here()) const;
  template <class = void> Tensor index_reduce(int dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self = true, SourceLine at = here()) const;
  template <class = void> Tensor scatter_reduce(int dim, const Tensor& index, const Tensor& src, ScatterReduction reduce, bool include_self = true, SourceLine at = here()) const;
  template <class = void> Tensor scatter_reduce(int dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self = true, SourceLine at = here()) const;
  template <class = void> Tensor put(const Tensor& index, const Tensor& source, bool accumulate = false, SourceLine at = here()) const;
  template <class = void> Tensor argwhere(SourceLine at = here()) const;
  template <class = void> Tensor nonzero_static(SizeArgument size, std::int64_t fill_value = -1, SourceLine at = here()) const;
  template <class = void> Tensor bernoulli(SourceLine at = here()) const;
  template <class = void> Tensor bernoulli(Generator& g, SourceLine at = here()) const;
  template <class = void> Tensor bernoulli(double p, SourceLine at = here()) const;
  template <class = void> Tensor bernoulli(double p, Generator& g, SourceLine at = here()) const;
  template <class = void> Tensor multinomial(std::int64_t num_samples, bool replacement = false, SourceLine at = here()) const;
  template <class = void> Tensor multinomial(std::int64_t num_samples, bool replacement, Generator& g, SourceLine at = here()) const;

  // ---- products and reductions
  TT_LAZY Tensor matmul(const Tensor& o, SourceLine at = here()) const;
  // Over some axes; over all if none are given.
  TT_LAZY Tensor sum(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  TT_LAZY Tensor mean(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  /// The sum of squared distances from the mean, divided by n - correction (NumPy's ddof, by default 0); true and false are a correction of 1 and 0
  /// (unbiased).
  TT_LAZY Tensor var(const IntList& dims = {}, double correction = 1, bool keepdim = false, SourceLine at = here()) const;
  TT_LAZY Tensor amax(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  TT_LAZY Tensor amin(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  TT_LAZY Tensor argmax(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor argmax(SourceLine at = here()) const;
  template <class = void> Tensor argmin(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor argmin(SourceLine at = here()) const;
  /// The largest (smallest) element; along one axis, with its index (NumPy's max and min of an axis are amax and amin); of two Tensors, elementwise.
  template <class = void> Tensor max(SourceLine at = here()) const;
  template <class = void> MinMaxResult max(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor max(const Tensor& other, SourceLine at = here()) const;
  template <class = void> Tensor min(SourceLine at = here()) const;
  template <class = void> MinMaxResult min(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor min(const Tensor& other, SourceLine at = here()) const;
  template <class = void> Tensor std(const IntList& dims = {}, double correction = 1, bool keepdim = false, SourceLine at = here()) const;
  template <std::same_as<bool> B> Tensor std(B unbiased, SourceLine at = here()) const { return std({}, unbiased, false, at); }
  template <std::same_as<bool> B> Tensor var(B unbiased, SourceLine at = here()) const { return var({}, unbiased, false, at); }
  template <class = void> Tensor any(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor all(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor count_nonzero(const IntList& dims = {}, SourceLine at = here()) const;
  /// Products, scans and order statistics: see dispatch/reduction_functions.hpp.
  template <class = void> Tensor prod(SourceLine at = here()) const;
  template <class = void> Tensor prod(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor cumsum(int dim, SourceLine at = here()) const;
  template <class = void> Tensor cumprod(int dim, SourceLine at = here()) const;
  template <class = void> Tensor median(SourceLine at = here()) const;
  template <class = void> MinMaxResult median(int dim, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> Tensor nansum(const IntList& dims = {}, bool keepdim = false, SourceLine at = here()) const;
  template <class = void> auto sort(int dim = -1, bool descending = false, bool stable = false, SourceLine at = here()) const;
  template <std::same_as<bool> B> auto sort(B stable, int dim = -1, bool descending = false, SourceLine at = here()) const;
  template <class = void> Tensor argsort(int dim = -1, bool descending = false, bool stable = false, SourceLine at = here()) const;
  template <std::same_as<bool> B> Tensor argsort(B stable, int dim = -1, bool descending = false, SourceLine at = here()) const;
  template <class = void> auto topk(std::int64_t k, int dim = -1, bool largest = true, bool sorted = true, SourceLine at = here()) const;
  template <class = void> Tensor isnan(SourceLine at = here()) const;
  template <class = void> Tensor isinf(SourceLine at = here()) const;
  template <class = void> Tensor isfinite(SourceLine at = here()) const;
  template <class = void> bool is_same_size(const Tensor& o, SourceLine at = here()) const;
  template <class = void> bool equal(const Tensor& o, SourceLine at = here()) const;
  template <class = void> bool allclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false, SourceLine at = here()) const;
  template <class L> Tensor clamp(const L& low, SourceLine at = here()) const;
  template <class L> Tensor clamp_min(const L& low, SourceLine at = here()) const;
  template <class H> Tensor clamp_max(const H& high, SourceLine at = here()) const;
  TT_LAZY Tensor softmax(int dim, SourceLine at = here()) const;
  TT_LAZY Tensor log_softmax(int dim, SourceLine at = here()) const;
  // Of the elements converted to another dtype.
  template <std::same_as<DType> D> Tensor sum(D dtype, SourceLine at = here()) const { return to(dtype, at).sum({}, false, at).to(dtype, at); }
  template <std::same_as<DType> D> Tensor sum(const IntList& dims, bool keepdim, D dtype, SourceLine at = here()) const { return to(dtype, at).sum(dims, keepdim, at).to(dtype, at); }
  template <std::same_as<DType> D> Tensor mean(D dtype, SourceLine at = here()) const { return to(dtype, at).mean({}, false, at); }
  template <std::same_as<DType> D> Tensor mean(const IntList& dims, bool keepdim, D dtype, SourceLine at = here()) const { return to(dtype, at).mean(dims, keepdim, at); }
  template <std::same_as<DType> D> Tensor nansum(const IntList& dims, bool keepdim, D dtype, SourceLine at = here()) const { return to(dtype, at).nansum(dims, keepdim, at).to(dtype, at); }
  template <std::same_as<DType> D> Tensor nanmean(const IntList& dims, bool keepdim, D dtype, SourceLine at = here()) const { return to(dtype, at).nanmean(dims, keepdim, at); }
  template <std::same_as<DType> D> Tensor prod(D dtype, SourceLine at = here()) const { return to(dtype, at).prod(at).to(dtype, at); }
  template <std::same_as<DType> D> Tensor prod(int dim, bool keepdim, D dtype, SourceLine at = here()) const { return to(dtype, at).prod(dim, keepdim, at).to(dtype, at); }
  template <std::same_as<DType> D> Tensor cumsum(int dim, D dtype, SourceLine at = here()) const { return to(dtype, at).cumsum(dim, at).to(dtype, at); }
  template <std::same_as<DType> D> Tensor cumprod(int dim, D dtype, SourceLine at = here()) const { return to(dtype, at).cumprod(dim, at).to(dtype, at); }
  template <std::same_as<DType> D> Tensor softmax(int dim, D dtype, SourceLine at = here()) const { return to(dtype, at).softmax(dim, at); }
  template <std::same_as<DType> D> Tensor log_softmax(int dim, D dtype, SourceLine at = here()) const { return to(dtype, at).log_softmax(dim, at); }
  template <std::same_as<DType> D> Tensor norm(double p, D dtype, SourceLine at = here()) const { return to(dtype, at).norm(p, {}, false, at); }
  template <std::same_as<DType> D> Tensor norm(double p, const IntList& dim, bool keepdim, D dtype, SourceLine at = here()) const { return to(dtype, at).norm(p, dim, keepdim, at); }
  template <class = void> Tensor logsumexp(const IntList& dims, bool keepdim = false, SourceLine at = here()) const;

  // ---- in place
  Tensor& copy_(const Tensor& from, SourceLine at = here());
  /// non_blocking has no effect here.
  template <std::same_as<bool> B> Tensor& copy_(const Tensor& from, B, SourceLine at = here()) { return copy_(from, at); }
  Tensor& fill_(double value, SourceLine at = here());
  Tensor& fill_(const Size& value, SourceLine at = here());
  template <std::integral V>
  Tensor& fill_(V value, SourceLine at = here()) { return fill_(Size(static_cast<std::int64_t>(value)), at); }
  /// Fills with the one element of a Tensor without axes.
  template <std::same_as<Tensor> T> Tensor& fill_(const T& value, SourceLine at = here()) {
    if (value.dim() != 0) TT_THROW(Error(Text("tt::fill_: a value of shape ") << value.shape(at) << ". One without axes?" << at));
    return copy_(value, at);
  }
  Tensor& zero_(SourceLine at = here());
  template <class A> requires std::is_arithmetic_v<A> Tensor& add_(const Tensor& o, A alpha, SourceLine at = here());
  template <class A> requires std::is_arithmetic_v<A> Tensor& sub_(const Tensor& o, A alpha, SourceLine at = here());
  Tensor& add_(const Tensor& o, SourceLine at = here());
  Tensor& sub_(const Tensor& o, SourceLine at = here());
  Tensor& mul_(const Tensor& o, SourceLine at = here());
  Tensor& div_(const Tensor& o, SourceLine at = here());
  template <NumberOrSize A>
  Tensor& add_(A o, SourceLine at = here());
  template <NumberOrSize A>
  Tensor& sub_(A o, SourceLine at = here());
  template <NumberOrSize B, class A> requires std::is_arithmetic_v<A> Tensor& add_(B o, A alpha, SourceLine at = here());
  template <NumberOrSize B, class A> requires std::is_arithmetic_v<A> Tensor& sub_(B o, A alpha, SourceLine at = here());
  template <NumberOrSize A>
  Tensor& mul_(A o, SourceLine at = here());
  template <NumberOrSize A>
  Tensor& div_(A o, SourceLine at = here());
  // In-place forms: the elements become the result of the function of that name.
  template <class = void> Tensor& abs_(SourceLine at = here());
  template <class = void> Tensor& neg_(SourceLine at = here());
  template <class = void> Tensor& exp_(SourceLine at = here());
  template <class = void> Tensor& log_(SourceLine at = here());
  template <class = void> Tensor& sqrt_(SourceLine at = here());
  template <class = void> Tensor& rsqrt_(SourceLine at = here());
  template <class = void> Tensor& sin_(SourceLine at = here());
  template <class = void> Tensor& cos_(SourceLine at = here());
  template <class = void> Tensor& tan_(SourceLine at = here());
  template <class = void> Tensor& tanh_(SourceLine at = here());
  template <class = void> Tensor& sigmoid_(SourceLine at = here());
  template <class = void> Tensor& relu_(SourceLine at = here());
  template <class = void> Tensor& square_(SourceLine at = here());
  template <class = void> Tensor& reciprocal_(SourceLine at = here());
  template <class = void> Tensor& floor_(SourceLine at = here());
  template <class = void> Tensor& ceil_(SourceLine at = here());
  template <class = void> Tensor& round_(SourceLine at = here());
  template <std::integral N> Tensor& round_(N decimals, SourceLine at = here()) { return replace("round_", before_update(at, decimals).round(decimals, at), at); }
  template <class = void> Tensor& trunc_(SourceLine at = here());
  template <class = void> Tensor& sign_(SourceLine at = here());
  template <class B> Tensor& pow_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "pow_", at, o).take(before_update(at, o).pow(o, at)); }
  template <class L, class H> Tensor& clamp_(const L& low, const H& high, SourceLine at = here()) { return detail::InPlace(*this, "clamp_", at, low, high).take(before_update(at, low, high).clamp(low, high, at)); }
  template <class L> Tensor& clamp_(const L& low, SourceLine at = here()) { return clamp_min_(low, at); }
  template <class L> Tensor& clamp_min_(const L& low, SourceLine at = here()) { return detail::InPlace(*this, "clamp_min_", at, low).take(before_update(at, low).clamp_min(low, at)); }
  template <class H> Tensor& clamp_max_(const H& high, SourceLine at = here()) { return detail::InPlace(*this, "clamp_max_", at, high).take(before_update(at, high).clamp_max(high, at)); }
  template <class V> Tensor& masked_fill_(const Tensor& mask, const V& value, SourceLine at = here()) { return replace("masked_fill_", before_update(at, mask, value).masked_fill(mask, value, at), at); }
  template <class = void> Tensor& masked_scatter_(const Tensor& mask, const Tensor& source, SourceLine at = here()) { return detail::InPlace(*this, "masked_scatter_", at, mask, source).take(before_update(at, mask, source).masked_scatter(mask, source, at)); }
  template <class S> Tensor& scatter_(int dim, const Tensor& index, const S& src, SourceLine at = here()) { return detail::InPlaceSome(*this, "scatter_", at, dim, index, src).take(before_update(at, dim, index, src).scatter(dim, index, src, at)); }
  template <class S> Tensor& scatter_(int dim, const Tensor& index, const S& src, std::string_view reduce, SourceLine at = here()) { return replace("scatter_", before_update(at, src).scatter(dim, index, src, reduce, at), at); }
  template <class = void> Tensor& scatter_add_(int dim, const Tensor& index, const Tensor& src, SourceLine at = here()) { return detail::InPlaceSome(*this, "scatter_add_", at, dim, index, src).take(before_update(at, dim, index, src).scatter_add(dim, index, src, at)); }
  template <class = void> Tensor& index_add_(int dim, const Tensor& index, const Tensor& source, SourceLine at = here()) { return detail::InPlaceSome(*this, "index_add_", at, dim, index, source).take(before_update(at, dim, index, source).index_add(dim, index, source, at)); }
  template <class A> requires std::is_arithmetic_v<A> Tensor& index_add_(int dim, const Tensor& index, const Tensor& source, A alpha, SourceLine at = here()) { return detail::InPlaceSome(*this, "index_add_", at, source).take(before_update(at, source).index_add(dim, index, source, alpha, at)); }
  template <class = void> Tensor& index_copy_(int dim, const Tensor& index, const Tensor& source, SourceLine at = here()) { return detail::InPlaceSome(*this, "index_copy_", at, dim, index, source).take(before_update(at, dim, index, source).index_copy(dim, index, source, at)); }
  template <class = void> Tensor& acos_(SourceLine at = here()) { return detail::InPlace(*this, "acos_", at).take(before_update(at).acos(at)); }
  template <class = void> Tensor& acosh_(SourceLine at = here()) { return detail::InPlace(*this, "acosh_", at).take(before_update(at).acosh(at)); }
  template <class = void> Tensor& asin_(SourceLine at = here()) { return detail::InPlace(*this, "asin_", at).take(before_update(at).asin(at)); }
  template <class = void> Tensor& asinh_(SourceLine at = here()) { return detail::InPlace(*this, "asinh_", at).take(before_update(at).asinh(at)); }
  template <class = void> Tensor& atan_(SourceLine at = here()) { return detail::InPlace(*this, "atan_", at).take(before_update(at).atan(at)); }
  template <class = void> Tensor& atanh_(SourceLine at = here()) { return detail::InPlace(*this, "atanh_", at).take(before_update(at).atanh(at)); }
  template <class = void> Tensor& cosh_(SourceLine at = here()) { return detail::InPlace(*this, "cosh_", at).take(before_update(at).cosh(at)); }
  template <class = void> Tensor& sinh_(SourceLine at = here()) { return detail::InPlace(*this, "sinh_", at).take(before_update(at).sinh(at)); }
  template <class = void> Tensor& deg2rad_(SourceLine at = here()) { return detail::InPlace(*this, "deg2rad_", at).take(before_update(at).deg2rad(at)); }
  template <class = void> Tensor& rad2deg_(SourceLine at = here()) { return detail::InPlace(*this, "rad2deg_", at).take(before_update(at).rad2deg(at)); }
  template <class = void> Tensor& digamma_(SourceLine at = here()) { return detail::InPlace(*this, "digamma_", at).take(before_update(at).digamma(at)); }
  template <class = void> Tensor& lgamma_(SourceLine at = here()) { return detail::InPlace(*this, "lgamma_", at).take(before_update(at).lgamma(at)); }
  template <class = void> Tensor& erfc_(SourceLine at = here()) { return detail::InPlace(*this, "erfc_", at).take(before_update(at).erfc(at)); }
  template <class = void> Tensor& erfinv_(SourceLine at = here()) { return detail::InPlace(*this, "erfinv_", at).take(before_update(at).erfinv(at)); }
  template <class = void> Tensor& frac_(SourceLine at = here()) { return detail::InPlace(*this, "frac_", at).take(before_update(at).frac(at)); }
  template <class = void> Tensor& i0_(SourceLine at = here()) { return detail::InPlace(*this, "i0_", at).take(before_update(at).i0(at)); }
  template <class = void> Tensor& log10_(SourceLine at = here()) { return detail::InPlace(*this, "log10_", at).take(before_update(at).log10(at)); }
  template <class = void> Tensor& sinc_(SourceLine at = here()) { return detail::InPlace(*this, "sinc_", at).take(before_update(at).sinc(at)); }
  template <class = void> Tensor& logit_(SourceLine at = here()) { return detail::InPlace(*this, "logit_", at).take(before_update(at).logit(at)); }
  template <class = void> Tensor& logit_(double eps, SourceLine at = here()) { return replace("logit_", before_update(at).logit(eps, at), at); }
  template <class = void> Tensor& bitwise_not_(SourceLine at = here()) { return replace("bitwise_not_", before_update(at).bitwise_not(at), at); }
  template <class = void> Tensor& absolute_(SourceLine at = here()) { return detail::InPlace(*this, "absolute_", at).take(before_update(at).absolute(at)); }
  template <class = void> Tensor& arccos_(SourceLine at = here()) { return detail::InPlace(*this, "arccos_", at).take(before_update(at).arccos(at)); }
  template <class = void> Tensor& arccosh_(SourceLine at = here()) { return detail::InPlace(*this, "arccosh_", at).take(before_update(at).arccosh(at)); }
  template <class = void> Tensor& arcsin_(SourceLine at = here()) { return detail::InPlace(*this, "arcsin_", at).take(before_update(at).arcsin(at)); }
  template <class = void> Tensor& arcsinh_(SourceLine at = here()) { return detail::InPlace(*this, "arcsinh_", at).take(before_update(at).arcsinh(at)); }
  template <class = void> Tensor& arctan_(SourceLine at = here()) { return detail::InPlace(*this, "arctan_", at).take(before_update(at).arctan(at)); }
  template <class = void> Tensor& arctanh_(SourceLine at = here()) { return detail::InPlace(*this, "arctanh_", at).take(before_update(at).arctanh(at)); }
  template <class = void> Tensor& fix_(SourceLine at = here()) { return detail::InPlace(*this, "fix_", at).take(before_update(at).fix(at)); }
  template <class = void> Tensor& negative_(SourceLine at = here()) { return detail::InPlace(*this, "negative_", at).take(before_update(at).negative(at)); }
  template <class = void> Tensor& sgn_(SourceLine at = here()) { return detail::InPlace(*this, "sgn_", at).take(before_update(at).sgn(at)); }
  template <class = void> Tensor& erf_(SourceLine at = here()) { return detail::InPlace(*this, "erf_", at).take(before_update(at).erf(at)); }
  template <class = void> Tensor& exp2_(SourceLine at = here()) { return detail::InPlace(*this, "exp2_", at).take(before_update(at).exp2(at)); }
  template <class = void> Tensor& expm1_(SourceLine at = here()) { return detail::InPlace(*this, "expm1_", at).take(before_update(at).expm1(at)); }
  template <class = void> Tensor& log1p_(SourceLine at = here()) { return detail::InPlace(*this, "log1p_", at).take(before_update(at).log1p(at)); }
  template <class = void> Tensor& log2_(SourceLine at = here()) { return detail::InPlace(*this, "log2_", at).take(before_update(at).log2(at)); }
  template <class = void> Tensor& logical_not_(SourceLine at = here()) { return detail::InPlace(*this, "logical_not_", at).take(before_update(at).logical_not(at)); }
  template <class = void> Tensor& tril_(SizeArgument diagonal = 0, SourceLine at = here()) { return replace("tril_", before_update(at, diagonal).tril(diagonal, at), at); }
  template <class = void> Tensor& triu_(SizeArgument diagonal = 0, SourceLine at = here()) { return replace("triu_", before_update(at, diagonal).triu(diagonal, at), at); }
  template <class B> Tensor& atan2_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "atan2_", at, o).take(before_update(at, o).atan2(o, at)); }
  template <class B> Tensor& copysign_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "copysign_", at, o).take(before_update(at, o).copysign(o, at)); }
  template <class B> Tensor& fmax_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "fmax_", at, o).take(before_update(at, o).fmax(o, at)); }
  template <class B> Tensor& fmin_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "fmin_", at, o).take(before_update(at, o).fmin(o, at)); }
  template <class B> Tensor& fmod_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "fmod_", at, o).take(before_update(at, o).fmod(o, at)); }
  template <class B> Tensor& remainder_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "remainder_", at, o).take(before_update(at, o).remainder(o, at)); }
  template <class B> Tensor& floor_divide_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "floor_divide_", at, o).take(before_update(at, o).floor_divide(o, at)); }
  template <class B> Tensor& heaviside_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "heaviside_", at, o).take(before_update(at, o).heaviside(o, at)); }
  template <class B> Tensor& hypot_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "hypot_", at, o).take(before_update(at, o).hypot(o, at)); }
  template <class B> Tensor& ldexp_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "ldexp_", at, o).take(before_update(at, o).ldexp(o, at)); }
  template <class B> Tensor& logaddexp_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "logaddexp_", at, o).take(before_update(at, o).logaddexp(o, at)); }
  template <class B> Tensor& logaddexp2_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "logaddexp2_", at, o).take(before_update(at, o).logaddexp2(o, at)); }
  template <class B> Tensor& nextafter_(const B& o, SourceLine at = here()) { return replace("nextafter_", before_update(at, o).nextafter(o, at), at); }
  template <class B> Tensor& xlogy_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "xlogy_", at, o).take(before_update(at, o).xlogy(o, at)); }
  template <class B> Tensor& float_power_(const B& o, SourceLine at = here()) { return replace("float_power_", before_update(at, o).float_power(o, at), at); }
  template <class B> Tensor& logical_xor_(const B& o, SourceLine at = here()) { return replace("logical_xor_", before_update(at, o).logical_xor(o, at), at); }
  template <class B> Tensor& bitwise_and_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "bitwise_and_", at, o).take(before_update(at, o).bitwise_and(o, at)); }
  template <class B> Tensor& bitwise_or_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "bitwise_or_", at, o).take(before_update(at, o).bitwise_or(o, at)); }
  template <class B> Tensor& bitwise_xor_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "bitwise_xor_", at, o).take(before_update(at, o).bitwise_xor(o, at)); }
  template <class B> Tensor& arctan2_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "arctan2_", at, o).take(before_update(at, o).arctan2(o, at)); }
  template <class B> Tensor& divide_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "divide_", at, o).take(before_update(at, o).divide(o, at)); }
  template <class B> Tensor& greater_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "greater_", at, o).take(before_update(at, o).greater(o, at)); }
  template <class B> Tensor& greater_equal_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "greater_equal_", at, o).take(before_update(at, o).greater_equal(o, at)); }
  template <class B> Tensor& less_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "less_", at, o).take(before_update(at, o).less(o, at)); }
  template <class B> Tensor& less_equal_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "less_equal_", at, o).take(before_update(at, o).less_equal(o, at)); }
  template <class B> Tensor& multiply_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "multiply_", at, o).take(before_update(at, o).multiply(o, at)); }
  template <class B> Tensor& not_equal_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "not_equal_", at, o).take(before_update(at, o).not_equal(o, at)); }
  template <class B> Tensor& subtract_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "subtract_", at, o).take(before_update(at, o).subtract(o, at)); }
  template <class B, class A> requires std::is_arithmetic_v<A> Tensor& subtract_(const B& o, A alpha, SourceLine at = here()) { return replace("subtract_", before_update(at, o).subtract(o, alpha, at), at); }
  template <class B> Tensor& div_(const B& o, std::string_view rounding_mode, SourceLine at = here()) { return replace("div_", before_update(at, o).div(o, rounding_mode, at), at); }
  template <class B> Tensor& divide_(const B& o, std::string_view rounding_mode, SourceLine at = here()) { return replace("divide_", before_update(at, o).div(o, rounding_mode, at), at); }
  template <class B> Tensor& true_divide_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "true_divide_", at, o).take(before_update(at, o).true_divide(o, at)); }
  template <class B> Tensor& bitwise_left_shift_(const B& o, SourceLine at = here()) { return replace("bitwise_left_shift_", before_update(at, o).bitwise_left_shift(o, at), at); }
  template <class B> Tensor& bitwise_right_shift_(const B& o, SourceLine at = here()) { return replace("bitwise_right_shift_", before_update(at, o).bitwise_right_shift(o, at), at); }
  template <class B> Tensor& lt_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "lt_", at, o).take(before_update(at, o).lt(o, at)); }
  template <class B> Tensor& le_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "le_", at, o).take(before_update(at, o).le(o, at)); }
  template <class B> Tensor& gt_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "gt_", at, o).take(before_update(at, o).gt(o, at)); }
  template <class B> Tensor& ge_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "ge_", at, o).take(before_update(at, o).ge(o, at)); }
  template <class B> Tensor& eq_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "eq_", at, o).take(before_update(at, o).eq(o, at)); }
  template <class B> Tensor& ne_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "ne_", at, o).take(before_update(at, o).ne(o, at)); }
  template <class B> Tensor& logical_and_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "logical_and_", at, o).take(before_update(at, o).logical_and(o, at)); }
  template <class B> Tensor& logical_or_(const B& o, SourceLine at = here()) { return detail::InPlace(*this, "logical_or_", at, o).take(before_update(at, o).logical_or(o, at)); }
  template <class = void> Tensor& gcd_(const Tensor& o, SourceLine at = here()) { return replace("gcd_", before_update(at, o).gcd(o, at), at); }
  template <class = void> Tensor& lcm_(const Tensor& o, SourceLine at = here()) { return replace("lcm_", before_update(at, o).lcm(o, at), at); }
  template <class = void> Tensor& igamma_(const Tensor& o, SourceLine at = here()) { return replace("igamma_", before_update(at, o).igamma(o, at), at); }
  template <class = void> Tensor& igammac_(const Tensor& o, SourceLine at = here()) { return replace("igammac_", before_update(at, o).igammac(o, at), at); }
  template <class W> Tensor& lerp_(const Tensor& end, const W& weight, SourceLine at = here()) { return detail::InPlace(*this, "lerp_", at, end, weight).take(before_update(at, end, weight).lerp(end, weight, at)); }
  template <class V = int> Tensor& addcmul_(const Tensor& a, const Tensor& b, V value = 1, SourceLine at = here()) { return detail::InPlace(*this, "addcmul_", at, a, b, value).take(before_update(at, a, b, value).addcmul(a, b, value, at)); }
  template <class = void> Tensor& addcdiv_(const Tensor& a, const Tensor& b, double value = 1, SourceLine at = here()) { return detail::InPlace(*this, "addcdiv_", at, a, b, value).take(before_update(at, a, b, value).addcdiv(a, b, value, at)); }
  template <class L, class H> Tensor& clip_(const L& low, const H& high, SourceLine at = here()) { return detail::InPlace(*this, "clip_", at, low, high).take(before_update(at, low, high).clip(low, high, at)); }
  template <class L> Tensor& clip_(const L& low, SourceLine at = here()) { return detail::InPlace(*this, "clip_", at, low).take(before_update(at, low).clip(low, at)); }
  template <class = void> Tensor& nan_to_num_(double nan = 0, SourceLine at = here()) { return replace("nan_to_num_", before_update(at, nan).nan_to_num(nan, at), at); }
  template <class = void> Tensor& nan_to_num_(double nan, double posinf, SourceLine at = here()) { return replace("nan_to_num_", before_update(at).nan_to_num(nan, posinf, at), at); }
  template <class = void> Tensor& nan_to_num_(double nan, double posinf, double neginf, SourceLine at = here()) { return replace("nan_to_num_", before_update(at, nan, posinf, neginf).nan_to_num(nan, posinf, neginf, at), at); }
  template <class = void> Tensor& polygamma_(int n, SourceLine at = here()) { return replace("polygamma_", before_update(at, n).polygamma(n, at), at); }
  template <class = void> Tensor& mvlgamma_(int p, SourceLine at = here()) { return replace("mvlgamma_", before_update(at, p).mvlgamma(p, at), at); }
  template <class = void> Tensor& renorm_(double p, int dim, double maxnorm, SourceLine at = here()) { return replace("renorm_", before_update(at, p, dim, maxnorm).renorm(p, dim, maxnorm, at), at); }
  template <class = void> Tensor& cumsum_(int dim, SourceLine at = here()) { return replace("cumsum_", before_update(at, dim).cumsum(dim, at), at); }
  template <class = void> Tensor& cumprod_(int dim, SourceLine at = here()) { return replace("cumprod_", before_update(at, dim).cumprod(dim, at), at); }
  template <class = void> Tensor& addmm_(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) { return replace("addmm_", before_update(at, a, b, beta, alpha).addmm(a, b, beta, alpha, at), at); }
  template <class = void> Tensor& addmv_(const Tensor& a, const Tensor& v, double beta = 1, double alpha = 1, SourceLine at = here()) { return replace("addmv_", before_update(at, a, v, beta, alpha).addmv(a, v, beta, alpha, at), at); }
  template <class = void> Tensor& addr_(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) { return replace("addr_", before_update(at, a, b, beta, alpha).addr(a, b, beta, alpha, at), at); }
  template <class = void> Tensor& addbmm_(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) { return replace("addbmm_", before_update(at, a, b, beta, alpha).addbmm(a, b, beta, alpha, at), at); }
  template <class = void> Tensor& baddbmm_(const Tensor& a, const Tensor& b, double beta = 1, double alpha = 1, SourceLine at = here()) { return replace("baddbmm_", before_update(at, a, b, beta, alpha).baddbmm(a, b, beta, alpha, at), at); }
  template <class V> Tensor& index_fill_(int dim, const Tensor& index, const V& value, SourceLine at = here()) { return detail::InPlaceSome(*this, "index_fill_", at, dim, index, value).take(before_update(at, dim, index, value).index_fill(dim, index, value, at)); }
  template <class = void> Tensor& index_reduce_(int dim, const Tensor& index, const Tensor& source, ScatterReduction reduce, bool include_self = true, SourceLine at = here()) { return replace("index_reduce_", before_update(at, dim, index, source, reduce, include_self).index_reduce(dim, index, source, reduce, include_self, at), at); }
  template <class = void> Tensor& index_reduce_(int dim, const Tensor& index, const Tensor& source, std::string_view reduce, bool include_self = true, SourceLine at = here()) { return replace("index_reduce_", before_update(at, source).index_reduce(dim, index, source, reduce, include_self, at), at); }
  template <class = void> Tensor& scatter_reduce_(int dim, const Tensor& index, const Tensor& src, ScatterReduction reduce, bool include_self = true, SourceLine at = here()) { return replace("scatter_reduce_", before_update(at, dim, index, src, reduce, include_self).scatter_reduce(dim, index, src, reduce, include_self, at), at); }
  template <class = void> Tensor& scatter_reduce_(int dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool include_self = true, SourceLine at = here()) { return replace("scatter_reduce_", before_update(at, src).scatter_reduce(dim, index, src, reduce, include_self, at), at); }
  template <class = void> Tensor& put_(const Tensor& index, const Tensor& source, bool accumulate = false, SourceLine at = here()) { return detail::InPlaceSome(*this, "put_", at, index, source, accumulate).take(before_update(at, index, source, accumulate).put(index, source, accumulate, at)); }
  /// Random numbers of the default generator, see dispatch/random.hpp.
  template <class = void> Tensor& uniform_(double from = 0, double to = 1, SourceLine at = here());
  template <class = void> Tensor& uniform_(double from, double to, Generator& g, SourceLine at = here());
  template <class = void> Tensor& normal_(double mean = 0, double std = 1, SourceLine at = here());
  template <class = void> Tensor& normal_(double mean, double std, Generator& g, SourceLine at = here());
  template <class = void> Tensor& bernoulli_(double p = 0.5, SourceLine at = here());
  template <class = void> Tensor& bernoulli_(double p, Generator& g, SourceLine at = here());
  template <class = void> Tensor& bernoulli_(const Tensor& p, SourceLine at = here());
  template <class = void> Tensor& bernoulli_(const Tensor& p, Generator& g, SourceLine at = here());
  template <class = void> Tensor& exponential_(double lambd = 1, SourceLine at = here());
  template <class = void> Tensor& exponential_(double lambd, Generator& g, SourceLine at = here());
  template <class = void> Tensor& geometric_(double p, SourceLine at = here());
  template <class = void> Tensor& geometric_(double p, Generator& g, SourceLine at = here());
  template <class = void> Tensor& log_normal_(double mean = 1, double std = 2, SourceLine at = here());
  template <class = void> Tensor& log_normal_(double mean, double std, Generator& g, SourceLine at = here());
  template <class = void> Tensor& cauchy_(double median = 0, double sigma = 1, SourceLine at = here());
  template <class = void> Tensor& cauchy_(double median, double sigma, Generator& g, SourceLine at = here());
  /// Whole numbers from `from` to below `to`; without a bound from 0 to the largest of the range that the dtype represents exactly (i64: 2^53).
  template <class = void> Tensor& random_(std::int64_t from, std::int64_t to, SourceLine at = here());
  template <class = void> Tensor& random_(std::int64_t from, std::int64_t to, Generator& g, SourceLine at = here());
  template <class = void> Tensor& random_(std::int64_t to, SourceLine at = here()) { return random_(0, to, at); }
  template <class = void> Tensor& random_(std::int64_t to, Generator& g, SourceLine at = here());
  template <class = void> Tensor& random_(Generator& g, SourceLine at = here());
  template <class = void> Tensor& random_(SourceLine at = here());

  template <class V> Tensor& fill_diagonal_(const V& value, bool wrap = false, SourceLine at = here());

  // ---- in place: other sizes, another view or other memory, see dispatch/view_updates.hpp
  template <class = void> Tensor& transpose_(int dim0, int dim1, SourceLine at = here());
  template <class = void> Tensor& swapaxes_(int axis0, int axis1, SourceLine at = here());
  template <class = void> Tensor& swapdims_(int dim0, int dim1, SourceLine at = here());
  template <class = void> Tensor& t_(SourceLine at = here());
  template <class = void> Tensor& squeeze_(CallLine at = here());
  template <class = void> Tensor& squeeze_(int dim, SourceLine at = here());
  template <class = void> Tensor& squeeze_(const IntList& dim, SourceLine at = here());
  template <class = void> Tensor& unsqueeze_(int dim, SourceLine at = here());
  template <class = void> Tensor& as_strided_(const IntList& size, const IntList& stride, SourceLine at = here());
  template <class = void> Tensor& as_strided_(const IntList& size, const IntList& stride, std::int64_t storage_offset, SourceLine at = here());
  /// Other sizes, contiguous. Elements keep their position in memory; new ones are uninitialised (NumPy's resize method: zeros).
  template <class = void> Tensor& resize_(const IntList& size, SourceLine at = here());
  template <class = void> Tensor& resize_as_(const Tensor& o, SourceLine at = here());
  /// Shares the elements of another Tensor of the same dtype.
  template <class = void> Tensor& set_(const Tensor& source, SourceLine at = here());
  /// Without its autograd history.
  template <class = void> Tensor& detach_(SourceLine at = here());

  // ---- autograd
  bool requires_grad() const;
  /// Calls hook(gradient) for each gradient that arrives; a result of the hook replaces the gradient. Returns the
  /// number that remove_hook takes. See autograd/modes.hpp.
  template <class F> unsigned register_hook(F hook, SourceLine at = here()) const;
  template <class = void> void remove_hook(unsigned hook, SourceLine at = here()) const;
  /// Keeps the gradient of a Tensor that is not a leaf, for grad().
  template <class = void> void retain_grad(SourceLine at = here()) const;
  Tensor& requires_grad_(bool on = true, SourceLine at = here());
  bool is_leaf() const;
  Tensor grad() const;
  /// `grad`: a Tensor of this one's shape and dtype, or an undefined one to remove the gradient.
  void set_grad(const Tensor& grad, SourceLine at = here());
  void zero_grad();
  template <class = void> void backward(SourceLine at = here()) const;
  void backward(const Tensor& gradient, bool retain_graph = false, bool create_graph = false, SourceLine at = here()) const;
  /// Adds to the gradients of `inputs` only.
  template <class = void> void backward(const Tensor& gradient, bool retain_graph, bool create_graph, const std::vector<Tensor>& inputs, SourceLine at = here()) const;

  /// For the layers below: the object behind the handle.
  detail::TensorImpl& impl() const {
    if (!impl_) [[unlikely]] detail::refuse_undefined();
    return *impl_;
  }

 private:
  friend class detail::InPlace;
  detail::TensorImpl* impl_ = nullptr;

  TT_INLINE int checked_axis(int axis, const char* op, SourceLine at) const;
  /// Replaces the elements by those of an op's result; Error if it has another shape, or a dtype that this one cannot hold.
  TT_INLINE Tensor& replace(const char* op, const Tensor& result, SourceLine at);
  /// The operand of an op whose result replaces the elements: this Tensor, or a copy where the tape keeps it, as its derivative reads the old elements.
  template <class... A>
  Tensor before_update(SourceLine at, const A&... others) const {
    bool taped = impl().requires_grad;
    [[maybe_unused]] const auto look = [&](const auto& o) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(o)>, Tensor>) taped = taped || o.impl().requires_grad;
    };
    (look(others), ...);
    return taped ? detail::copy_for_tape(*this, at) : *this;
  }
  Size size_of_axis(std::int64_t value, int axis, SourceLine at) const {
    if (!detail::capture_mode) [[likely]] return Size(value);
    return Size(value, detail::capture_mode->size_of(*this, axis), detail::capture_mode->capture_number, at);
  }
  /// Recorded views are contiguous; the strides they would have are known where they are made.
  void need_layout(bool unknown, const char* op, SourceLine at = {}) const {
    if (detail::capture_mode && unknown && impl().trace_id >= 0) [[unlikely]] detail::capture_mode->need(*this, op, at);
  }
  void look_at_sizes(SourceLine at) const {
    for (int k = 0; detail::capture_mode && k < dim(); ++k) (void)std::int64_t{size(k, at)};
  }
  TT_INLINE void check_type(DType d, const char* op, SourceLine at) const;
  void need_elements(const char* op, SourceLine at, detail::Use use = detail::Use::reads) const {
    if (detail::capture_mode) [[unlikely]] detail::capture_mode->need(*this, op, at, use);
  }
  void may_be_written() const {
    if (detail::capture_mode) [[unlikely]] detail::capture_mode->may_be_written(*this);
  }
  template <class T>
  T element(const char* op, SourceLine at) const {
    need_one_element(op, at);
    return with_dtype(dtype(), [&]<class E>(E) {
      using C = compute_t<E>;
      const auto v = static_cast<C>(detail::first_element<E>(*impl_));
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && (std::is_floating_point_v<C> || sizeof(T) < sizeof(C) || std::is_unsigned_v<T>))
        need_whole(static_cast<double>(v), std::numeric_limits<T>::digits, std::is_signed_v<T>, op, at);
      return static_cast<T>(v);
    });
  }
  /// Throws Error when a number, truncated, is no integer of `digits` bits besides the sign.
  TT_INLINE static void need_whole(double v, int digits, bool is_signed, const char* op, SourceLine at);
  TT_INLINE void need_one_element(const char* op, SourceLine at) const;
  TT_INLINE void check_elements(DType d, SourceLine at) const;
  Text why_empty() const;
};
inline void Tensor::zero_grad() { set_grad(Tensor()); }
template <class> void Tensor::backward(SourceLine at) const { backward(Tensor(), false, false, at); }

}  // namespace tt

#if TT_DEFINES(core)
#include "tt/core/tensor_inl.hpp"
#endif
