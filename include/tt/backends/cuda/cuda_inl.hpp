// Definitions of cuda.hpp.
#pragma once
#include "tt/backends/cuda/cuda.hpp"
#include "tt/backends/cuda/program.hpp"
#include "tt/backends/device_program.hpp"

namespace tt::cuda {
namespace detail {

inline void* allocate_on(int index, std::size_t bytes) { return reinterpret_cast<void*>(Device::get(index).allocate(bytes)); }
inline void free_on(int index, void* p, std::size_t bytes) noexcept {
  Device::get(index).free(reinterpret_cast<std::uintptr_t>(p), bytes);
}
inline void copy_between(void* to, tt::Device to_device, const void* from, tt::Device from_device, std::size_t bytes, bool non_blocking) {
  const bool in = to_device.type == DeviceType::cuda, out = from_device.type == DeviceType::cuda;
  Device& d = Device::get(in ? to_device.index : from_device.index);
  d.activate();
  const Driver& driver = d.driver();
  const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
  if (in && out && to_device.index != from_device.index) {
    Device& other = Device::get(from_device.index);
    other.synchronize();  // the streams of the two devices are not ordered
    d.activate();
    d.check(driver.copy_peer(target, d.context(), source, other.context(), bytes, d.stream()), "cuMemcpyPeer");
    d.check(driver.synchronize_stream(d.stream()), "cuStreamSynchronize");  // nor does the source's stream wait until this one has read
  } else if (in && out) {
    d.check(driver.copy(target, source, bytes, d.stream()), "cuMemcpyDtoD");
  } else if (in) {
    d.check(driver.to_device(target, from, bytes, d.stream()), "cuMemcpyHtoD");
    if (!non_blocking) d.check(driver.synchronize_stream(d.stream()), "cuStreamSynchronize");  // the copy from pinned memory would be asynchronous
  } else {
    d.check(driver.to_host(to, source, bytes, d.stream()), "cuMemcpyDtoH");
    if (!non_blocking) d.check(driver.synchronize_stream(d.stream()), "cuStreamSynchronize");
  }
}
inline const DeviceApi api{
    [] { return Device::count(); }, &allocate_on, &free_on, &copy_between,
    [](int index) { Device::get(index).synchronize(); },
    [](int index) { return Device::get(index).stream(); },
    [](int index) { return Device::get(index).stats(); },
    [](int index) { Device::get(index).empty_cache(); }};

inline std::atomic<std::int64_t> launch_count = 0;
class PlanProgram {
 public:
  PlanProgram(Plan plan, const char* name, const ProgramOptions& options) : program_(static_cast<Plan&&>(plan), name, options) {}
  void run(int index, const ProgramArguments& arguments, const SymbolValues& symbols) {
    launch_count.fetch_add(program_.run(Device::get(index), arguments, symbols), std::memory_order_relaxed);
  }
  const BitSet& may_be_on_host() const { return program_.may_be_on_host(); }
  Text report() const { return program_.report(); }

 private:
  Program program_;
};

}  // namespace detail

TT_INLINE Text unavailable_reason() {
  try {
    return Device::count() > 0 ? Text() : Text("tt::cuda: the driver knows no device.");
  } catch (const Exception& e) {
    return Text(e.what());
  }
}
TT_INLINE bool is_available() noexcept { return unavailable_reason().empty(); }
TT_INLINE int device_count() { return Device::count(); }
TT_INLINE Text device_name(int index) { return Text(Device::get(index).name()); }
TT_INLINE int device_capability(int index) { return Device::get(index).capability(); }
TT_INLINE void synchronize(int index) { Device::get(index).synchronize(); }
TT_INLINE MemoryStats memory_stats(int index) { return Device::get(index).stats(); }
TT_INLINE void empty_cache(int index) { Device::get(index).empty_cache(); }
TT_INLINE CompileStats compile_stats(int index) {
  const Device::Compiled c = Device::get(index).compiled();
  return {c.compiled, c.from_disk, c.rejected};
}
TT_INLINE std::int64_t launches() { return detail::launch_count.load(std::memory_order_relaxed); }

TT_INLINE Text cublaslt_unavailable_reason() { return CublasLt::get().why_not(); }
TT_INLINE Text cudnn_unavailable_reason() { return Cudnn::get().why_not(); }

TT_INLINE Stream::Stream(int device) : device_(device) {
  Device& d = Device::get(device);
  d.activate();
  d.check(d.driver().create_stream(&handle_, 0), "cuStreamCreate");
}
TT_INLINE Stream::~Stream() {
  Device& d = Device::get(device_);
  d.make_current();
  d.driver().synchronize_stream(handle_);
  d.forget_stream(handle_);
  d.driver().destroy_stream(handle_);
}
TT_INLINE void Stream::synchronize() {
  Device& d = Device::get(device_);
  d.activate();
  d.check(d.driver().synchronize_stream(handle_), "cuStreamSynchronize");
}
TT_INLINE StreamGuard::StreamGuard(Stream& s) : device_(s.device()), before_(Device::get(device_).chosen_stream()) {
  Device::get(device_).chosen_stream() = s.handle();
}
TT_INLINE StreamGuard::~StreamGuard() { Device::get(device_).chosen_stream() = before_; }

TT_INLINE Event::Event(int device) : device_(device) {
  Device& d = Device::get(device);
  d.activate();
  d.check(d.driver().create_event(&handle_, 0), "cuEventCreate");
}
TT_INLINE Event::~Event() {
  Device::get(device_).make_current();
  Device::get(device_).driver().destroy_event(handle_);
}
TT_INLINE void Event::record() {
  Device& d = Device::get(device_);
  d.activate();
  d.check(d.driver().record_event(handle_, d.stream()), "cuEventRecord");
}
TT_INLINE void Event::synchronize() {
  Device& d = Device::get(device_);
  d.activate();
  d.check(d.driver().synchronize_event(handle_), "cuEventSynchronize");
}
TT_INLINE void Event::wait() {
  Device& d = Device::get(device_);
  d.activate();
  d.check(d.driver().wait_event(d.stream(), handle_, 0), "cuStreamWaitEvent");
}
TT_INLINE float Event::elapsed_time(const Event& end) const {
  Device& d = Device::get(device_);
  float milliseconds = 0;
  d.activate();
  d.check(d.driver().elapsed(&milliseconds, handle_, end.handle_), "cuEventElapsedTime");
  return milliseconds;
}

TT_INLINE PinnedMemory::PinnedMemory(std::size_t bytes) : bytes_(bytes) {
  Device& d = Device::get(0);
  d.activate();
  d.check(d.driver().allocate_host(&data_, bytes > 0 ? bytes : 1, 1), "cuMemHostAlloc");  // 1: for every device
}
TT_INLINE PinnedMemory::~PinnedMemory() {
  Device::get(0).make_current();
  Device::get(0).driver().free_host(data_);
}

TT_INLINE void register_cuda() {
  static const bool first = !device_api(DeviceType::cuda);  // else the program has registered its own
  static std::atomic<bool> done = !first;
  if (done.exchange(true, std::memory_order_acq_rel)) return;
  set_device_api(DeviceType::cuda, &detail::api);
  set_program_maker(DeviceType::cuda, [](Plan plan, const char* name, const ProgramOptions& options) {
    return new DeviceProgram(new detail::PlanProgram(static_cast<Plan&&>(plan), name, options));
  });
}

}  // namespace tt::cuda
