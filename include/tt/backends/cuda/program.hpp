// Runs a Plan on a device: its kernels as emitted text, compiled by NVRTC, launched one after the other
// on the thread's stream. Nothing waits; what is left to do is done when somebody reads the results.
//   Program p(plan, "softmax");   p.run(Device::get(0), pointers, symbols);
#pragma once
#include "tt/backends/cuda/device.hpp"
#include "tt/backends/cuda/emit_cuda.hpp"

namespace tt::cuda {

class Program {
 public:
  Program(Plan plan, const char* name) : plan_(static_cast<Plan&&>(plan)), name_(name) {
    for (const Kernel& k : plan_.kernels) most_bindings_ = k.bindings > most_bindings_ ? k.bindings : most_bindings_;
    for (Buffer& b : plan_.buffers)
      if (b.scratch) b.first = -1;  // no place in the arena: threads and teams have their own
  }
  Program(const Program&) = delete;
  ~Program() {
    for (std::atomic<Loaded*>& l : loaded_) delete l.load();
  }
  const Plan& plan() const { return plan_; }
  /// Compiles the kernels of several programs, whose names differ, by one call of NVRTC.
  static void load(Device& device, Program* const* programs, int count);

  /// `external`: device pointers of the inputs in order, then of outputs that are not donated. Thread-safe. Returns
  /// the number of kernels launched.
  int run(Device& device, void* const* external, const SymbolValues& symbols);

 private:
  /// Its functions on one device: of kernel k the whole, the first part and the second.
  struct Loaded {
    Vec<Handle> function;
  };
  Plan plan_;
  Text name_;
  int most_bindings_ = 0;
  std::atomic<Loaded*> loaded_[Device::most_devices] = {};

  const Loaded& loaded(Device& device) {
    std::atomic<Loaded*>& slot = loaded_[device.index()];
    if (!slot.load(std::memory_order_acquire)) {
      Program* self = this;
      load(device, &self, 1);
    }
    return *slot.load(std::memory_order_acquire);
  }
  void find_functions(Device& device, Handle module);
  Handle function_of(const Loaded& f, int kernel, const Launch& l) const {
    const int which = !*l.suffix ? 0 : std::strcmp(l.suffix, "_finish") == 0 ? 2 : 1;
    return f.function[3 * plan_.kernels[kernel].code + which];
  }
};

#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE void Program::load(Device& device, Program* const* programs, int count) {
  Vec<NamedPlan> plans;
  for (int k = 0; k < count; ++k) plans.push_back({&programs[k]->plan_, programs[k]->name_.c_str()});
  const Handle module = device.module(emit_cuda(plans), plans[0].name).handle;
  for (int k = 0; k < count; ++k) programs[k]->find_functions(device, module);
}

TT_INLINE void Program::find_functions(Device& device, Handle module) {
  auto fresh = std::make_unique<Loaded>();
  for (int k = 0; k < plan_.kernels.size(); ++k) {
    const bool own = plan_.kernels[k].code == k, parts = has_parts(plan_, plan_.kernels[k]);
    const bool product = plan_.kernels[k].kind == KernelKind::matmul;
    for (const char* suffix : {"", product ? "_large" : "_parts", "_finish"}) {
      Handle f = nullptr;
      const bool there = own && (!*suffix || parts || std::strcmp(suffix, "_large") == 0);
      Text symbol = Text(name_) << '_' << k << suffix;
      if (there) device.check(device.driver().find_function(&f, module, symbol.c_str()), "cuModuleGetFunction");
      fresh->function.push_back(f);
    }
  }
  Loaded* expected = nullptr;
  if (loaded_[device.index()].compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) fresh.release();
}

TT_INLINE int Program::run(Device& device, void* const* external, const SymbolValues& symbols) {
  const Loaded& functions = this->loaded(device);
  device.activate();
  Vec<std::int64_t> offsets(plan_.buffers.size() + 1, 0);
  const std::int64_t arena = plan_memory(plan_.buffers.begin(), plan_.buffers.size(), plan_.kernels.size(), symbols, offsets.begin());
  Vec<Launches> all;
  int launched = 0;
  std::int64_t work = 0;
  for (const Kernel& k : plan_.kernels) {
    all.push_back(launches_of(plan_, k, symbols, device.limits()));
    for (const Launch& l : all[all.size() - 1].launch) work = l.work > work ? l.work : work;
  }
  const DeviceMemory memory(device, static_cast<std::size_t>(arena + work));
  struct Parameters {  // Operands<N> of the emitted text, behind its N pointers
    std::int64_t symbols[max_symbols];
    DevicePointer work;
    std::int64_t work_team, shared_team, parts;
    int team;
  };
  Vec<std::uint64_t> block(most_bindings_ + 1 + static_cast<int>((sizeof(Parameters) + 7) / 8), 0);
  for (int j = 0; j < plan_.kernels.size(); ++j) {
    const Kernel& k = plan_.kernels[j];
    for (int b = 0; b < k.bindings; ++b) {
      const int number = plan_.bindings[k.first_binding + b];
      const Buffer& x = plan_.buffers[number];
      block[b] = x.external >= 0 ? reinterpret_cast<std::uintptr_t>(external[x.external])
                                 : memory.begin() + static_cast<std::uint64_t>(offsets[number]);
    }
    for (int i = 0; i < all[j].count; ++i) {
      const Launch& l = all[j].launch[i];
      Parameters p{};
      for (int s = 0; s < max_symbols; ++s) p.symbols[s] = symbols.value[s];
      p.work = memory.begin() + static_cast<std::uint64_t>(arena);
      p.work_team = l.work_team;
      p.shared_team = l.shared_team;
      p.parts = l.parts;
      p.team = l.team;
      std::memcpy(block.begin() + (k.bindings > 0 ? k.bindings : 1), &p, sizeof p);
      void* parameters[] = {block.begin()};
      device.check(device.driver().launch(function_of(functions, j, l), static_cast<unsigned>(l.grid), 1, 1, static_cast<unsigned>(l.block),
                                          1, 1, static_cast<unsigned>(l.shared), device.stream(), parameters, nullptr),
                   "cuLaunchKernel");
    }
    launched += all[j].count;
  }
  return launched;
}
#endif

}  // namespace tt::cuda
