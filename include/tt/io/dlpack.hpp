// DLPack: Tensors to other libraries and from them, without a copy. In C++ by pointer, in Python through a capsule.
//   DLManagedTensor* out = tt::to_dlpack<DLManagedTensor>(x);     // of any dlpack.h; tt::dlpack::ManagedTensor has the same layout
//   tt::Tensor y = tt::from_dlpack(out);                          // y owns it, and calls its deleter
// Layout and meaning: dmlc.github.io/dlpack, C API, versions 0.6 to 1.0.
#pragma once
#include <optional>

#include "tt/dispatch/from_blob.hpp"
#include "tt/dispatch/shape_functions.hpp"

namespace tt {
namespace dlpack {

struct Device {
  std::int32_t device_type;
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct TensorView {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: contiguous
  std::uint64_t byte_offset;
};
/// The struct in a capsule "dltensor".
struct ManagedTensor {
  TensorView dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor*);
};
struct Version {
  std::uint32_t major, minor;
};
/// The struct in a capsule "dltensor_versioned".
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  TensorView dl_tensor;
};
inline constexpr std::uint64_t read_only = 1, is_copied = 2;

/// A struct of dlpack.h, or one of the above.
template <class M>
concept Managed = requires(M m) {
  m.dl_tensor.device.device_type;
  m.dl_tensor.byte_offset;
  m.manager_ctx;
  m.deleter(&m);
};

}  // namespace dlpack

namespace detail {

struct DlpackDtype {
  int code, bits;
};
/// In the order of DType. Codes: 0 signed, 1 unsigned, 2 floating, 4 bfloat, 6 bool.
inline constexpr DlpackDtype dlpack_dtypes[dtype_count] = {{6, 8}, {0, 32}, {0, 64}, {2, 32}, {2, 64}, {2, 16}, {4, 16}, {1, 8}, {0, 8}, {0, 16}};
inline constexpr int dlpack_cpu = 1, dlpack_cuda = 2, dlpack_cuda_host = 3, dlpack_cuda_managed = 13;

/// The exported object: the struct, its sizes and strides, and the Tensor whose elements they describe.
template <class M>
struct DlpackExport {
  M managed{};
  Tensor tensor;
  std::int64_t shape[max_rank], strides[max_rank];
};
[[noreturn]] TT_NOINLINE inline void refuse_dlpack(const char* op, const Text& why, SourceLine at) { TT_THROW(Error(Text("tt::") << op << ": " << why << at)); }

}  // namespace detail

/// The Tensor's own elements as DLPack describes them: M is `DLManagedTensor` or `DLManagedTensorVersioned` of a dlpack.h, or tt's own.
/// The receiver must call its deleter, from any thread; until then the elements exist. Work on a device is done when this returns. Throws
/// Error for a Tensor that requires a gradient (use detach()), and for devices other than cpu and cuda.
template <dlpack::Managed M = dlpack::ManagedTensor>
M* to_dlpack(const Tensor& t, SourceLine at = here()) {
  if (!t.defined()) detail::refuse_undefined(at);
  if (t.requires_grad()) detail::refuse_dlpack("to_dlpack", "the Tensor requires a gradient, of which others know nothing. Use detach() first?", at);
  if (detail::capture_mode) detail::capture_mode->need(t, "to_dlpack", at, detail::Use::may_write);
  const Device device = t.device();
  const bool host = device.type == DeviceType::cpu;
  if (!host && device.type != DeviceType::cuda)
    detail::refuse_dlpack("to_dlpack", Text("DLPack has no name for device ") << name(device.type) << ". Use cpu() first?", at);
  if (!host) device_api(device.type)->synchronize(device.index);
  auto own = std::make_unique<detail::DlpackExport<M>>();
  own->tensor = t;
  Tensor& kept = own->tensor;
  M& m = own->managed;
  auto& view = m.dl_tensor;
  const detail::TensorImpl& impl = t.impl();
  for (int k = 0; k < impl.shape.rank; ++k) {
    own->shape[k] = impl.shape.code[k];
    own->strides[k] = impl.stride[k];
  }
  const detail::DlpackDtype dtype = detail::dlpack_dtypes[static_cast<int>(t.dtype())];
  view.data = kept.data();  // may be written by others from now on
  view.device.device_type = static_cast<decltype(view.device.device_type)>(host ? detail::dlpack_cpu : detail::dlpack_cuda);
  view.device.device_id = device.index;
  view.ndim = impl.shape.rank;
  view.dtype.code = static_cast<std::uint8_t>(dtype.code);
  view.dtype.bits = static_cast<std::uint8_t>(dtype.bits);
  view.dtype.lanes = 1;
  view.shape = own->shape;
  view.strides = own->strides;
  view.byte_offset = 0;
  if constexpr (requires { m.version; m.flags; }) {
    m.version.major = 1;
    m.version.minor = 0;
    m.flags = 0;
  }
  m.manager_ctx = own.get();
  m.deleter = [](M* self) { delete static_cast<detail::DlpackExport<M>*>(self->manager_ctx); };
  return &own.release()->managed;
}

/// A Tensor on elements that another library exports: they stay in place, on the host or on CUDA, and the deleter is called when the
/// last Tensor on them is destroyed. `copy`, as in the array API's from_dlpack: true: always copies; false: never, but throws Error where
/// a copy is needed; else copies where needed: elements that are read-only, or have a negative stride. Throws Error, and leaves `managed`
/// to the caller, for dtypes and devices that tt does not have, elements that are not aligned, and versions of DLPack beyond 1.
template <dlpack::Managed M>
Tensor from_dlpack(M* managed, std::optional<bool> copy = {}, SourceLine at = here()) {
  constexpr const char* op = "from_dlpack";
  if (!managed) detail::refuse_dlpack(op, "there is no Tensor: null.", at);
  const auto& view = managed->dl_tensor;
  bool needs_copy = false;
  if constexpr (requires { managed->version; managed->flags; }) {
    if (managed->version.major != 1)
      detail::refuse_dlpack(op, Text("version ") << static_cast<std::int64_t>(managed->version.major) << " of DLPack is not known; 1 is.", at);
    needs_copy = managed->flags & dlpack::read_only;
  }
  int d = 0;
  while (d < dtype_count && (detail::dlpack_dtypes[d].code != static_cast<int>(view.dtype.code) || detail::dlpack_dtypes[d].bits != view.dtype.bits)) ++d;
  if (d == dtype_count || view.dtype.lanes != 1)
    detail::refuse_dlpack(op, Text("its dtype (code ") << static_cast<int>(view.dtype.code) << ", " << static_cast<int>(view.dtype.bits) << " bits, "
                                                       << static_cast<int>(view.dtype.lanes) << " lanes) is none of tt's.", at);
  const auto dtype = static_cast<DType>(d);
  const int where = static_cast<int>(view.device.device_type);
  const bool cuda = where == detail::dlpack_cuda || where == detail::dlpack_cuda_managed;
  if (!cuda && where != detail::dlpack_cpu && where != detail::dlpack_cuda_host)
    detail::refuse_dlpack(op, Text("it is on a device (type ") << where << " of DLPack) that tt does not have. Bring it to the host first?", at);
  const Device device = cuda ? Device{DeviceType::cuda, static_cast<int>(view.device.device_id)} : Device{};
  if (cuda) backend::register_cuda();
  if (view.ndim < 0 || view.ndim > max_rank) detail::refuse_dlpack(op, Text("it has ") << view.ndim << " axes; a Tensor has at most " << max_rank << ".", at);
  Shape shape;
  for (int k = 0; k < view.ndim; ++k) {
    if (view.shape[k] < 0) detail::refuse_dlpack(op, Text("a size is negative: ") << view.shape[k] << ".", at);
    shape.push_back(view.shape[k]);
  }
  (void)bytes_of("tt::from_dlpack", dtype, shape);  // throws for more elements than memory holds
  SmallVec<std::int64_t, 8> strides = detail::dense_strides(shape);
  std::int64_t first = 0;  // offset of the lowest element
  IntList backwards;
  for (int k = 0; view.strides && k < view.ndim; ++k) {
    strides[k] = view.strides[k];
    if (strides[k] >= 0) continue;
    first += strides[k] * (shape.code[k] > 0 ? shape.code[k] - 1 : 0);
    strides[k] = -strides[k];
    if (shape.code[k] > 1) backwards.push_back(k);
  }
  needs_copy = needs_copy || backwards.size() > 0;
  if (needs_copy && copy == false) detail::refuse_dlpack(op, backwards.size() > 0 ? "a stride is negative; without copy = false the elements are copied." : "its elements are read-only; without copy = false they are copied.", at);
  const std::int64_t offset = static_cast<std::int64_t>(view.byte_offset) + first * size_of(dtype);
  void* const data = view.data ? static_cast<std::byte*>(view.data) + offset : nullptr;
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(size_of(dtype)) != 0)
    detail::refuse_dlpack(op, Text("its elements are not aligned to ") << size_of(dtype) << " bytes. Copy them first?", at);
  const Tensor t = detail::tensor_on(data, dtype, shape, strides.begin(), device, [managed](void*) {
    if (managed->deleter) managed->deleter(managed);
  });
  if (backwards.size() > 0) return flip(t, backwards, at);
  return needs_copy || copy == true ? t.clone(at) : t;
}

}  // namespace tt
