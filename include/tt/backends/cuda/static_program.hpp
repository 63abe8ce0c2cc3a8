// Runs a static plan on a device: its kernels launched one after the other, each compiled with the
// program by nvcc. The plan comes as a value, from whose type the kernels are deduced.
//   run_static(plan_codes<Compiled<P>>(), device, external, symbols);
#pragma once
#include "tt/backends/cuda/device.hpp"
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

template <class Codes, int K>
void launch_kernel(Device& device, void* const* external, char* arena, const std::int64_t* offsets, char* work, const SymbolValues& symbols) {
  constexpr Kernel k = Codes::plan.kernels[K];
  OperandsOf<Codes, k.code> a{};  // kernels of equal code share one function
  for (int b = 0; b < k.bindings; ++b) {
    const int number = Codes::plan.bindings[k.first_binding + b];
    const Buffer x = Codes::plan.buffers[number];
    a.p[b] = x.external >= 0 ? external[x.external] : arena + offsets[number];
  }
  for (int s = 0; s < max_symbols; ++s) a.s[s] = symbols.value[s];
  a.work = work;
  const Launches all = launches_of(Codes::plan, k, symbols, device.limits());
  for (int i = 0; i < all.count; ++i) {
    const Launch& l = all.launch[i];
    a.work_bytes = l.work_team;
    a.shared_bytes = l.shared_team;
    a.parts_bytes = l.parts;
    a.team = l.team;
    constexpr KernelForm form = form_of(Codes::plan, k);
    if (!*l.suffix) {
      launch(&static_kernel<Codes, k.code, 0>, l, device, a);
    } else if constexpr (form == KernelForm::matmul || has_parts(Codes::plan, k)) {
      if (std::strcmp(l.suffix, "_finish") != 0) launch(&static_kernel<Codes, k.code, 1>, l, device, a);
      else if constexpr (form != KernelForm::matmul) launch(&static_kernel<Codes, k.code, 2>, l, device, a);
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
  const DeviceMemory memory(device, static_cast<std::size_t>(arena + work));
  char* const begin = reinterpret_cast<char*>(memory.begin());
  (launch_kernel<Codes, static_cast<int>(K)>(device, external, begin, offsets, begin + arena, symbols), ...);
}

}  // namespace detail

/// `external`: device pointers of the inputs in order, then of outputs that are not donated.
template <class Codes>
void run_static(Codes, Device& device, void* const* external, const SymbolValues& symbols) {
  device.activate();
  detail::launch_all<Codes>(std::make_index_sequence<static_cast<std::size_t>(Codes::plan.kernels.size())>{}, device, external, symbols);
}

}  // namespace tt::cuda
