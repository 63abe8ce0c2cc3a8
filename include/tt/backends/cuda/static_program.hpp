// Runs a static plan on a device: its kernels, compiled with the program by nvcc, launched one after the other; a library computes
// products and convolutions if that was asked for. The plan is passed as a value, from whose type the kernels are deduced.
//   run_static(plan_codes<Compiled<P>>(), device, external, symbols);
#pragma once
#include <utility>

#include "tt/backends/cuda/libraries.hpp"
#include "tt/backends/cuda/static_codes.hpp"
#include "tt/backends/cuda/static_kernels.hpp"

namespace tt::cuda {
namespace detail {

#if defined(__CUDACC__)
template <class Kernel, class Operands>
void launch(Kernel* kernel, const Launch& l, Device& device, const Operands& operands) {
  void* arguments[] = {const_cast<Operands*>(&operands)};
  device.check(static_cast<Result>(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(l.grid)),
                                                    dim3(static_cast<unsigned>(l.block)), arguments, static_cast<std::size_t>(l.shared),
                                                    static_cast<cudaStream_t>(device.stream()))),
               "cudaLaunchKernel");
}
#else
template <class Kernel, class Operands>
void launch(Kernel* kernel, const Launch& l, Device&, const Operands& operands) {
  shim::launch(kernel, static_cast<unsigned>(l.grid), static_cast<unsigned>(l.block), operands);
}
#endif

/// The library kernels of a plan, for the sizes, devices and settings it ran with last.
template <class Codes>
class StaticLibraries {
 public:
  static constexpr int kernels = Codes::plan.kernels.size();
  struct Chosen {
    int device;
    SymbolValues symbols;
    LibrarySettings settings;
    std::shared_ptr<const LibraryKernel> kernel[kernels > 0 ? kernels : 1];
    std::size_t memory = 0;
  };
  /// Null if own tiles compute everything.
  static std::shared_ptr<const Chosen> find(Device& device, const SymbolValues& symbols) {
    const LibrarySettings settings;
    if (settings.are_own() || !has_products()) return nullptr;
    static tt::detail::BusyFlag busy;
    static auto* const last = new std::shared_ptr<const Chosen>[most];  // never destroyed: the libraries may be gone before
    static int oldest = 0;
    {
      const tt::detail::FlagLock lock(busy);
      for (int i = 0; i < most; ++i)
        if (const auto& known = last[i]; known && known->device == device.index() && known->symbols == symbols && known->settings == settings) return known;
    }
    auto fresh = std::make_shared<Chosen>(Chosen{device.index(), symbols, settings, {}, 0});
    for (int k = 0; k < kernels; ++k) {
      Text refused;
      fresh->kernel[k] = find_library(device, Codes::plan, Codes::plan.kernels[k], symbols, settings, refused);
      if (fresh->kernel[k] && fresh->kernel[k]->memory() > fresh->memory) fresh->memory = fresh->kernel[k]->memory();
    }
    std::shared_ptr<const Chosen> before = fresh;  // destroyed after the lock is released
    const tt::detail::FlagLock lock(busy);
    last[oldest++ % most].swap(before);
    return fresh;
  }

 private:
  static constexpr int most = 8;
  static constexpr bool has_products() {
    for (const Kernel& k : Codes::plan.kernels)
      if (k.kind == KernelKind::matmul) return true;
    return false;
  }
};

template <class Codes, int K>
void launch_kernel(Device& device, void* const* external, char* arena, const std::int64_t* offsets, char* work, const SymbolValues& symbols,
                   const LibraryKernel* library) {
  constexpr Kernel k = Codes::plan.kernels[K];
  OperandsOf<Codes, k.code> a{};  // kernels of equal code share one function
  for (int b = 0; b < k.bindings; ++b) {
    const int number = Codes::plan.bindings[k.first_binding + b];
    const Buffer x = Codes::plan.buffers[number];
    a.p[b] = x.external >= 0 ? external[x.external] : arena + offsets[number];
  }
  for (int s = 0; s < max_symbols; ++s) a.s[s] = symbols.value[s];
  a.work = work;
  if constexpr (k.kind == KernelKind::matmul) {
    std::uint64_t operand[k.bindings];
    for (int b = 0; b < k.bindings; ++b) operand[b] = reinterpret_cast<std::uintptr_t>(a.p[b]);
    if (library && library->run(device, operand, reinterpret_cast<std::uintptr_t>(work))) {
      if (library->leaves_sums()) launch(&static_kernel<Codes, k.code, 2>, epilogue_launch(Codes::plan, k, symbols, device.limits()), device, a);
      return;
    }
  }
  const Launches all = launches_of(Codes::plan, k, symbols, device.limits());
  for (int i = 0; i < all.count; ++i) {
    const Launch& l = all.launch[i];
    a.work_bytes = l.work_team;
    a.shared_bytes = l.shared_team;
    a.parts_bytes = l.parts;
    a.team = l.team;
    if (l.function == 0) {
      launch(&static_kernel<Codes, k.code, 0>, l, device, a);
    } else if constexpr (k.kind == KernelKind::matmul || has_parts(Codes::plan, k)) {
      launch(l.function == 1 ? &static_kernel<Codes, k.code, 1> : &static_kernel<Codes, k.code, 2>, l, device, a);
    }
  }
}
template <class Codes, std::size_t... K>
void launch_all(std::index_sequence<K...>, Device& device, void* const* external, const SymbolValues& symbols) {
  std::int64_t offsets[Codes::plan.buffers.size() + 1] = {};
  const auto& plan = Codes::plan;
  const std::int64_t arena = plan_memory(plan.buffers.begin(), plan.buffers.size(), plan.kernels.size(), symbols, offsets);
  std::int64_t work = 0;
  for (int k = 0; k < plan.kernels.size(); ++k) {
    const Launches all = launches_of(plan, plan.kernels[k], symbols, device.limits());
    for (int i = 0; i < all.count; ++i)
      if (all.launch[i].work > work) work = all.launch[i].work;
  }
  const auto libraries = StaticLibraries<Codes>::find(device, symbols);
  if (libraries && static_cast<std::int64_t>(libraries->memory) > work) work = static_cast<std::int64_t>(libraries->memory);
  const DeviceMemory memory(device, static_cast<std::size_t>(arena + work));
  char* const begin = reinterpret_cast<char*>(memory.begin());
  (launch_kernel<Codes, static_cast<int>(K)>(device, external, begin, offsets, begin + arena, symbols,
                                              libraries ? libraries->kernel[K].get() : nullptr),
   ...);
}

}  // namespace detail

/// `external`: device pointers of the inputs in order, then of outputs that do not reuse a donated input.
template <class Codes>
void run_static(Codes, Device& device, void* const* external, const SymbolValues& symbols) {
  device.activate();
  detail::launch_all<Codes>(std::make_index_sequence<static_cast<std::size_t>(Codes::plan.kernels.size())>{}, device, external, symbols);
}

}  // namespace tt::cuda
