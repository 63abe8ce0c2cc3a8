// The CUDA interface for programs: devices, streams, events, pinned memory, memory statistics. A program is
// the same with and without a GPU: the driver is opened on first use.
//   if (tt::cuda::is_available()) x = x.cuda();
//   tt::cuda::Event begin, end;  begin.record();  work();  end.record();  begin.elapsed_time(end);
#pragma once
#include "tt/backends/cuda/library_settings.hpp"
#include "tt/core/device_api.hpp"

namespace tt::cuda {

/// Is there a driver and a device? Never throws.
TT_INLINE bool is_available() noexcept;
/// The missing driver or device, as a sentence; empty if CUDA is available.
TT_INLINE Text unavailable_reason();
/// Throws Unavailable without a driver.
TT_INLINE int device_count();
TT_INLINE Text device_name(int index = 0);
/// 90 for compute capability 9.0.
TT_INLINE int device_capability(int index = 0);
/// Waits for all work on a device; throws errors of that work at the latest.
TT_INLINE void synchronize(int index = 0);
/// Bytes, as the device's caching allocator sees them.
TT_INLINE MemoryStats memory_stats(int index = 0);
/// Returns cached memory to the driver, after waiting for the device.
TT_INLINE void empty_cache(int index = 0);

/// Kernels compiled by this process for a device, loaded from the disk cache, and found there but rejected as untrusted.
struct CompileStats {
  std::int64_t compiled = 0, from_disk = 0, rejected = 0;
};
TT_INLINE CompileStats compile_stats(int index = 0);
/// Kernels of Tensors launched by this process on all devices.
TT_INLINE std::int64_t launches();

/// Why cuBLASLt cannot compute products here (see MatmulSettings); empty if it can. Opens it.
TT_INLINE Text cublaslt_unavailable_reason();
/// The same for cuDNN and convolutions (see ConvSettings).
TT_INLINE Text cudnn_unavailable_reason();

/// Work on one stream runs in order; work on different streams in any order. Waits for its work when destroyed. A Tensor's memory belongs
/// to the stream it was made on, and is reused by that stream's next Tensor when the Tensor is destroyed: code that uses the Tensor on
/// another stream must keep it until that work has been waited for (Event::wait, synchronize).
class Stream {
 public:
  TT_INLINE explicit Stream(int device = 0);
  Stream(const Stream&) = delete;
  TT_INLINE ~Stream();
  TT_INLINE void synchronize();
  void* handle() const { return handle_; }
  int device() const { return device_; }

 private:
  int device_;
  void* handle_ = nullptr;
};
/// While it lives, the thread's work on the stream's device goes to this stream.
class StreamGuard {
 public:
  TT_INLINE explicit StreamGuard(Stream& s);
  StreamGuard(const StreamGuard&) = delete;
  TT_INLINE ~StreamGuard();

 private:
  int device_;
  void* before_ = nullptr;
};

/// A point in the work of the thread's stream.
class Event {
 public:
  TT_INLINE explicit Event(int device = 0);
  Event(const Event&) = delete;
  TT_INLINE ~Event();
  TT_INLINE void record();
  TT_INLINE void synchronize();
  /// Makes the thread's stream wait for this point.
  TT_INLINE void wait();
  /// Milliseconds from this point to `end`; both must have been reached.
  TT_INLINE float elapsed_time(const Event& end) const;

 private:
  int device_;
  void* handle_ = nullptr;
};

/// Page-locked host memory: asynchronous copies to and from it need not wait for the host.
class PinnedMemory {
 public:
  TT_INLINE explicit PinnedMemory(std::size_t bytes);
  PinnedMemory(const PinnedMemory&) = delete;
  TT_INLINE ~PinnedMemory();
  void* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// Registers allocator and plan execution for Tensors of device cuda. Opens no driver.
TT_INLINE void register_cuda();

}  // namespace tt::cuda

#if TT_DEFINES(cuda)
#include "tt/backends/cuda/cuda_inl.hpp"
#endif
