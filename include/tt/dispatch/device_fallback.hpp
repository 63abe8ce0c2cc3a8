// Ops on a registered device (register_device) that has no kernel by key for them: they run the program that the device's maker
// makes of the op's graph; else, if wanted, on the CPU. Elements are copied there and results back, and such calls are counted.
//   const tt::Device npu = tt::register_device("npu", &my_api);
//   tt::set_graph_program_maker(npu.type, my_compiler);   tt::set_cpu_fallback(npu);
//   for (const tt::CpuFallback& f : tt::cpu_fallbacks(npu)) std::printf("%s %lld\n", f.name, f.calls);
#pragma once
#include <vector>

#include "tt/core/copy_memory.hpp"
#include "tt/dispatch/inplace.hpp"

namespace tt {

/// Calls that ran on the CPU for a device, under the name of the op, or of the last op of a fused graph.
struct CpuFallback {
  const char* name = "";
  long long calls = 0;
};

/// Ops for which the device has no kernel get a program of its maker; ops for which the maker makes none run on the CPU. With
/// `on_cpu` false the latter throw Unavailable.
TT_INLINE void set_cpu_fallback(Device device, bool on_cpu = true);
/// Counted since the program began, in the order of their first calls.
TT_INLINE std::vector<CpuFallback> cpu_fallbacks(Device device);
/// The number of such calls, of all ops.
TT_INLINE long long cpu_fallback_calls(Device device);

/// For kernels by key that do not take some calls: runs the call as if there were no kernel.
TT_INLINE void run_without_kernel(Call& c);

#if TT_DEFINES(dispatch)

namespace detail {

/// The counts of one device; never destroyed.
struct FallbackList {
  detail::BusyFlag busy;
  std::vector<CpuFallback> list;
};
inline FallbackList& fallback_list(DeviceType t) {
  static FallbackList* const all = new FallbackList[most_devices];
  return all[static_cast<int>(t)];
}
inline void count_fallback(DeviceType t, const char* name) {
  FallbackList& of = fallback_list(t);
  const FlagLock lock(of.busy);
  for (CpuFallback& f : of.list)
    if (std::strcmp(f.name, name) == 0) return void(++f.calls);
  of.list.push_back({KeptText(name).text, 1});
}

/// The span from the first element to past the last one, in elements.
inline std::int64_t stretch(const TensorImpl& t) {
  if (t.numel == 0) return 0;
  std::int64_t last = 0;
  for (int k = 0; k < t.shape.rank; ++k) last += (t.shape.code[k] - 1) * t.stride[k];
  return last + 1;
}
inline void copy_stretch(const TensorImpl& to, const TensorImpl& from, std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count * size_of(from.dtype));
  const DeviceApi *of_target = device_api(to.device.type), *of_source = device_api(from.device.type);
  if (bytes == 0) return;
  if (!of_target && !of_source) copy_memory(to.data, from.data, bytes);
  else (of_target ? of_target : of_source)->copy(to.data, to.device, from.data, from.device, bytes, false);
}
/// A copy on another device with the strides of `t`: the whole span from the first element to the last is copied.
inline Tensor lying_alike(const Tensor& t, Device device) {
  const TensorImpl& impl = t.impl();
  const std::int64_t count = stretch(impl);
  Tensor copy(impl.dtype, Shape{count}, device);
  copy_stretch(copy.impl(), impl, count);
  if (impl.contiguous) copy.impl().set_dense(impl.shape);
  else copy.impl().set_strided(impl.shape, impl.stride);
  return copy;
}
/// Copies the elements of such a copy back.
inline void put_back(const Tensor& copy, const Tensor& to) { copy_stretch(to.impl(), copy.impl(), stretch(to.impl())); }

/// Runs a graph for which the device has no program.
inline void run_graph_on_cpu(const GraphFunction& f, Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) {
  count_fallback(device.type, f.last_op());
  const Graph& g = f.graph();
  const int n = g.inputs.size();
  SmallVec<Tensor, few_arguments> here(n);
  SmallVec<const Tensor*, few_arguments> moved;
  for (int k = 0; k < n; ++k) {
    bool needed = f.reads(k);
    for (const int into : g.donated) needed = needed || into == k;
    const Tensor& t = *argument[k];
    if (needed && !(t.device() == device) && !is_host(t.device()))
      TT_THROW(Error(Text("tt::") << f.last_op() << ": Tensors on different devices: " << to_text(device) << " and " << to_text(t.device()) << '.'));
    // An operand that lends its shape alone is not copied: the program would run on its device, and come here again.
    here[k] = t.device().type == DeviceType::cpu ? t : needed ? lying_alike(t, Device{}) : Tensor(t.dtype(), t.impl().shape, {DeviceType::meta, 0});
    moved.push_back(&here[k]);
  }
  f.run(moved.data(), symbols, result, Device{});
  for (int k = 0; k < f.outputs(); ++k)
    if (const int into = g.donated[k]; into >= 0) {
      put_back(here[into], *argument[into]);
      result[k] = *argument[into];
    } else {
      result[k] = lying_alike(result[k], device);
    }
}
/// Runs the CPU kernel of an op without a graph.
inline void run_op_on_cpu(Call& c, Device device) {
  count_fallback(device.type, c.op->name());
  SmallVec<Tensor, few_arguments> here(c.arguments);
  SmallVec<const Tensor*, few_arguments> moved;
  for (int k = 0; k < c.arguments; ++k) {
    here[k] = c[k].device() == device ? lying_alike(c[k], Device{}) : c[k];
    moved.push_back(&here[k]);
  }
  Call there{c.op, moved.data(), c.arguments, c.attributes, c.result, c.at, DispatchKey::cpu};
  const ExcludeKeys below(DispatchKey::autograd);
  Dispatcher::get().redispatch(there);
  for (int k = 0; k < c.op->results; ++k)
    if (c.result[k].defined()) c.result[k] = to_device(c.result[k], device, false, c.at);
}
/// Writes contiguous elements into a Tensor on a device that is not contiguous.
inline void write_through_copy(const Tensor& to, const Tensor& from) {
  count_fallback(to.device().type, "copy_");
  const Tensor there = lying_alike(to, Device{}), source = lying_alike(from, Device{});
  with_element_size(to.dtype(), [&]<class T>(T) { scatter<T>(there.impl(), reinterpret_cast<const T*>(source.impl().data)); });
  put_back(there, to);
}
inline constexpr CpuCopies cpu_copies_of_devices{&run_graph_on_cpu, &write_through_copy};

inline void device_kernel(Call& c, void*) {
  Device device;
  for (int k = 0; k < c.arguments; ++k)
    if (c[k].device().type != DeviceType::cpu) device = c[k].device();
  if (c.op->record && !c.op->external) {
    const BoundFunction f = bind_function(c);
    return f.function->run(c.argument, f.symbols, c.result);
  }
  if (!device_programs(device.type).on_cpu.load(std::memory_order_acquire))
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": has no kernel for Tensors on " << tt::name(device.type) << ". Move them to the CPU?" << c.at));
  run_op_on_cpu(c, device);
}

}  // namespace detail

TT_INLINE void set_cpu_fallback(Device device, bool on_cpu) {
  if (device.type == DeviceType::cpu || device.type == DeviceType::meta)
    TT_THROW(Error(Text("tt::set_cpu_fallback: a device of its own has one, not ") << name(device.type) << "."));
  detail::device_programs(device.type).on_cpu.store(on_cpu ? &detail::cpu_copies_of_devices : nullptr, std::memory_order_release);
  if (const DispatchKey key = backend_key(device); !Dispatcher::get().has_fallback(key)) Dispatcher::get().set_fallback(key, &detail::device_kernel);
}
TT_INLINE std::vector<CpuFallback> cpu_fallbacks(Device device) {
  detail::FallbackList& of = detail::fallback_list(device.type);
  const detail::FlagLock lock(of.busy);
  return of.list;
}
TT_INLINE long long cpu_fallback_calls(Device device) {
  long long calls = 0;
  for (const CpuFallback& f : cpu_fallbacks(device)) calls += f.calls;
  return calls;
}
TT_INLINE void run_without_kernel(Call& c) { detail::device_kernel(c, nullptr); }

#endif

}  // namespace tt
