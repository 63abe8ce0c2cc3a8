// A device: its context, limits, memory and modules. Memory is cached and ordered by stream: a block freed on a stream is reused by
// that stream's next work, without waiting. Code that uses memory on another stream than the one it was allocated on must order the two
// by events.
//   Device& d = Device::get(0);   DevicePointer p = d.allocate(bytes);   d.free(p, bytes);
#pragma once
#include <bit>
#include <memory>
#include <unordered_map>

#include "tt/backends/cuda/launch.hpp"
#include "tt/backends/cuda/nvrtc.hpp"
#include "tt/backends/disk_cache.hpp"
#include "tt/core/allocator.hpp"

namespace tt::cuda {

class Device {
 public:
  static constexpr int most_devices = 16;
  /// Throws Unavailable without a driver, Error for a device that is not there.
  static Device& get(int index);
  static int count();

  int index() const { return index_; }
  const char* name() const { return name_; }
  int capability() const { return 10 * major_ + minor_; }
  const DeviceLimits& limits() const { return limits_; }
  Handle context() const { return context_; }
  const Driver& driver() const { return driver_; }

  /// Makes this the device of the thread's driver calls; throws Error if it was lost.
  void activate() {
    if (lost_) TT_THROW(Error(Text("tt::cuda: device ") << index_ << " was lost after an error on it. Start the process again."));
    check(driver_.set_context(context_), "cuCtxSetCurrent");  // every time: the program may have set another
  }
  /// Like activate(), for code that must not throw.
  void make_current() const noexcept { driver_.set_context(context_); }
  bool is_lost() const { return lost_; }
  void check(Result r, const char* what) {
    if (r == success) return;
    if (Driver::loses_device(r)) lost_ = true;
    driver_.failed(r, what);
  }

  /// The stream of this thread's work on the device: the device's own stream, or the one that a StreamGuard chose.
  Handle stream() const {
    const Handle chosen = chosen_stream();
    return chosen ? chosen : own_stream_;
  }
  Handle& chosen_stream() const {
    thread_local Handle streams[most_devices] = {};
    return streams[index_];
  }
  void synchronize() {
    activate();
    check(driver_.synchronize(), "cuCtxSynchronize");
  }

  /// Rounds up to size classes of at least 512 bytes; memory for the current stream. If the device has no memory, returns cached blocks
  /// to the driver and tries again; throws Error with the statistics if that fails too.
  DevicePointer allocate(std::size_t bytes);
  void free(DevicePointer p, std::size_t bytes) noexcept;
  MemoryStats stats() {
    const tt::detail::FlagLock lock(busy_);
    return stats_;
  }
  void empty_cache();
  /// Assigns the cached blocks of a stream that ends to the device's own stream.
  void forget_stream(Handle stream) {
    const tt::detail::FlagLock lock(busy_);
    for (Block& b : kept_)
      if (b.stream == stream) b.stream = own_stream_;
    for (auto& [address, of] : stream_of_)
      if (of == stream) of = own_stream_;
  }

  /// The module of this text: loaded before, from disk, or compiled now.
  struct Module {
    ContentHash key;
    Handle handle = nullptr;
    Module* next = nullptr;
  };
  const Module& module(const Text& text, const char* name);
  /// Texts compiled by this process, modules found on disk, and modules found there but rejected as untrusted.
  struct Compiled {
    std::int64_t compiled = 0, from_disk = 0, rejected = 0;
  };
  Compiled compiled() {
    const tt::detail::FlagLock lock(loading_);
    return compiled_;
  }

 private:
  struct Block {
    DevicePointer address = 0;
    Handle stream = nullptr;
    std::int64_t bytes = 0;
  };
  const Driver& driver_;
  int index_ = 0, major_ = 0, minor_ = 0;
  char name_[128] = {};
  DeviceLimits limits_;
  Handle context_ = nullptr, own_stream_ = nullptr;
  bool caches_ = std::getenv("TT_CUDA_NO_CACHE") == nullptr;  ///< without a cache, compute-sanitizer sees every block with its exact size
  std::atomic<bool> lost_ = false;
  tt::detail::BusyFlag busy_, loading_;
  Vec<Block> kept_;
  std::unordered_map<DevicePointer, Handle> stream_of_;  // of blocks in use: the stream of their allocation, if not the device's own
  MemoryStats stats_;
  Module* modules_ = nullptr;
  Compiled compiled_;

  Device(const Driver& driver, int index);
  /// Rounds up to quarters of powers of two: at most a quarter is lost.
  std::int64_t rounded(std::size_t bytes) const {
    if (!caches_) return static_cast<std::int64_t>(bytes > 0 ? bytes : 1);
    if (bytes <= 512) return 512;
    const std::size_t step = std::bit_floor(bytes - 1) / 4 < 512 ? 512 : std::bit_floor(bytes - 1) / 4;
    return static_cast<std::int64_t>((bytes + step - 1) / step * step);
  }
  void release_kept();
};

/// Owns memory of a device; null for no bytes.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, std::size_t bytes) : device_(device), bytes_(bytes), begin_(bytes > 0 ? device.allocate(bytes) : 0) {}
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (begin_) device_.free(begin_, bytes_);
  }
  DevicePointer begin() const { return begin_; }

 private:
  Device& device_;
  std::size_t bytes_;
  DevicePointer begin_;
};

#if TT_DEFINES(cuda)
TT_INLINE int Device::count() {
  const Driver& driver = Driver::get();
  int n = 0;
  driver.check(driver.device_count(&n), "cuDeviceGetCount");
  return n < most_devices ? n : most_devices;
}

TT_INLINE Device& Device::get(int index) {
  static std::atomic<Device*> devices[most_devices];
  static tt::detail::BusyFlag busy;
  if (index >= 0 && index < most_devices)
    if (Device* d = devices[index].load(std::memory_order_acquire)) return *d;
  const int n = count();
  if (index < 0 || index >= n)
    TT_THROW(Error(Text("tt::cuda: there is no device ") << index << ": the driver knows " << n << '.'));
  const tt::detail::FlagLock lock(busy);
  if (!devices[index].load(std::memory_order_relaxed))
    devices[index].store(new Device(Driver::get(), index), std::memory_order_release);  // lives as long as the process
  return *devices[index].load(std::memory_order_relaxed);
}

TT_INLINE Device::Device(const Driver& driver, int index) : driver_(driver), index_(index) {
  int handle = 0;
  check(driver.device(&handle, index), "cuDeviceGet");
  check(driver.device_name(name_, sizeof name_ - 1, handle), "cuDeviceGetName");
  check(driver.device_attribute(&major_, Attribute::major, handle), "cuDeviceGetAttribute");
  check(driver.device_attribute(&minor_, Attribute::minor, handle), "cuDeviceGetAttribute");
  check(driver.device_attribute(&limits_.multiprocessors, Attribute::multiprocessors, handle), "cuDeviceGetAttribute");
  check(driver.retain_context(&context_, handle), "cuDevicePrimaryCtxRetain");
  check(driver.set_context(context_), "cuCtxSetCurrent");
  check(driver.create_stream(&own_stream_, 0), "cuStreamCreate");
}

TT_INLINE DevicePointer Device::allocate(std::size_t bytes) {
  activate();
  const std::int64_t size = rounded(bytes);
  const Handle stream = this->stream();
  const tt::detail::FlagLock lock(busy_);
  stats_.allocated += size;
  for (int k = kept_.size() - 1; k >= 0; --k)
    if (kept_[k].bytes == size && kept_[k].stream == stream) {
      const DevicePointer p = kept_[k].address;
      kept_[k] = kept_[kept_.size() - 1];
      kept_.pop_back();
      ++stats_.hits;
      if (stream != own_stream_) stream_of_[p] = stream;
      return p;
    }
  ++stats_.misses;
  DevicePointer p = 0;
  Result r = driver_.allocate(&p, static_cast<std::size_t>(size));
  if (r == out_of_memory) {  // return cached blocks, and try once more
    driver_.synchronize();
    release_kept();
    r = driver_.allocate(&p, static_cast<std::size_t>(size));
  }
  if (r != success) {
    stats_.allocated -= size;
    if (r != out_of_memory) check(r, "cuMemAlloc");
    std::size_t free_bytes = 0, total = 0;
    driver_.memory_info(&free_bytes, &total);
    TT_THROW(Error(Text("tt::cuda: out of memory on device ")
                   << index_ << ": " << bytes << " bytes asked for, " << stats_.allocated << " in use by Tensors, "
                   << stats_.reserved << " taken from the driver, " << free_bytes << " of " << total << " free on the device."));
  }
  stats_.reserved += size;
  if (stats_.reserved > stats_.peak) stats_.peak = stats_.reserved;
  if (stream != own_stream_) stream_of_[p] = stream;
  return p;
}

TT_INLINE void Device::free(DevicePointer p, std::size_t bytes) noexcept {
  const tt::detail::FlagLock lock(busy_);
  Handle stream = own_stream_;  // the stream of its allocation, whose work may still use the block
  if (const auto known = stream_of_.find(p); known != stream_of_.end()) {
    stream = known->second;
    stream_of_.erase(known);
  }
  stats_.allocated -= rounded(bytes);
  if (!caches_) {
    make_current();
    driver_.synchronize_stream(stream);
    driver_.free(p);
    stats_.reserved -= rounded(bytes);
    return;
  }
  kept_.push_back({p, stream, rounded(bytes)});
}

TT_INLINE void Device::release_kept() {
  for (const Block& b : kept_) {
    driver_.free(b.address);
    stats_.reserved -= b.bytes;
  }
  kept_.clear();
}

TT_INLINE void Device::empty_cache() {
  synchronize();
  const tt::detail::FlagLock lock(busy_);
  release_kept();
}

TT_INLINE const Device::Module& Device::module(const Text& text, const char* name) {
  activate();
  const tt::detail::FlagLock lock(loading_);
  Text identity(text);
  const Nvrtc* nvrtc = nullptr;
  identity << "\nsm_" << major_ << minor_ << '\n';
  for (const char* flag : nvrtc_flags) identity << flag << ' ';
  const ContentHash in_memory = ContentHash::of(identity);
  for (const Module* m = modules_; m; m = m->next)
    if (m->key == in_memory) return *m;
  nvrtc = &Nvrtc::get();
  identity << nvrtc->version();
  const ContentHash key = ContentHash::of(identity);
  static const DiskCache disk(DiskCache::default_folder(), DiskCache::device);
  Handle handle = nullptr;
  Vec<char> code;
  Text path;
  if (const DiskCache::Found found = disk.find(key, path); found == DiskCache::Found::object) {
    if (DiskCache::read_file(path.c_str(), code) && driver_.load_module(&handle, code.begin()) == success) {
      ++compiled_.from_disk;
    } else {
      handle = nullptr;
      ++compiled_.rejected;
      disk.remove_object(code.begin(), code.size());
    }
  } else {
    compiled_.rejected += found == DiskCache::Found::rejected;
  }
  if (!handle) {
    code = nvrtc->compile(text, name, major_, minor_);
    check(driver_.load_module(&handle, code.begin()), "cuModuleLoadData");
    ++compiled_.compiled;
    if (!disk.keep_object(code.begin(), code.size(), text).empty()) disk.keep_entry(key, code.begin(), code.size());
    disk.trim();
  }
  modules_ = new Module{in_memory, handle, modules_};
  return *modules_;
}
#endif

}  // namespace tt::cuda
