// Runs a Plan on a device: its kernels as emitted text, compiled by NVRTC, launched one after the other on the thread's stream, or
// replayed as a CUDA graph where that was asked for. Asynchronous: run() returns before the work is done, and reading the results
// waits for it.
//   Program p(plan, "softmax");   p.run(Device::get(0), {pointers}, symbols);
#pragma once
#include <utility>

#include "tt/backends/cuda/device.hpp"
#include "tt/backends/cuda/emit_cuda.hpp"
#include "tt/backends/cuda/libraries.hpp"
#include "tt/backends/cuda/replay_graph.hpp"
#include "tt/backends/device_program.hpp"

namespace tt::cuda {

class Program {
 public:
  Program(Plan plan, const char* name, const ProgramOptions& options = {})
      : plan_(static_cast<Plan&&>(plan)), name_(name), options_(options) {
    for (Buffer& b : plan_.buffers)
      if (b.scratch) b.first = -1;  // needs no place in the arena: threads and teams have their own
    const Vec<char> values = may_be_values(plan_);
    for (int k = 0; k < values.size(); ++k)
      if (const int input = plan_.buffers[k].external; values[k] && input >= 0) may_be_on_host_.set(input);
  }
  Program(const Program&) = delete;
  ~Program() {
    for (std::atomic<Loaded*>& l : loaded_) delete l.load();
  }
  const Plan& plan() const { return plan_; }
  /// Compiles the kernels of several programs, whose names differ, by one call of NVRTC.
  static void load(Device& device, Program* const* programs, int count);

  /// Thread-safe. Returns the number of kernels launched.
  int run(Device& device, const ProgramArguments& arguments, const SymbolValues& symbols);
  /// Inputs whose single element is passed in the kernels' parameters if it is in host memory.
  const BitSet& may_be_on_host() const { return may_be_on_host_; }
  /// How often launches were planned: once for a device and sizes, as long as they are among the last ones used.
  int planned() const { return planned_.load(std::memory_order_relaxed); }
  /// A sentence about the program's graphs and libraries; empty if neither was asked for.
  Text report() const;

 private:
  /// Counts for a library: kernels that it ran, kernels whose operands were not aligned, and why it refused the last other one.
  struct LibraryCounts {
    std::atomic<std::int64_t> ran = 0, not_aligned = 0;
    Text refused;
  };
  /// The launches for some sizes, and their graph if these sizes came twice.
  struct Sized {
    Sized(LaunchList l, LibrarySettings s) : launches(static_cast<LaunchList&&>(l)), settings(s) {}
    LaunchList launches;
    LibrarySettings settings;
    tt::detail::BusyFlag busy;
    bool seen = false, refused = false;  ///< seen: ran once; refused: no graph for these sizes
    std::unique_ptr<ReplayGraph> graph;
  };
  /// The state on one device: for each kernel the functions of function_suffix, and the launches for the last sizes.
  struct Loaded {
    static constexpr int most_sizes = 32;
    Vec<Handle> function;
    tt::detail::BusyFlag busy;
    std::shared_ptr<Sized> sized[most_sizes];
    int oldest = 0;
  };
  Plan plan_;
  Text name_;
  ProgramOptions options_;
  BitSet may_be_on_host_;
  std::atomic<int> planned_ = 0;
  std::atomic<std::int64_t> runs_ = 0, replays_ = 0, changed_ = 0, without_graph_ = 0;
  LibraryCounts libraries_[2];  ///< by LibraryWork
  mutable tt::detail::BusyFlag texts_busy_;
  Text graphless_;  ///< why there is no graph for some sizes: the last reason
  std::atomic<Loaded*> loaded_[Device::most_devices] = {};

  Loaded& loaded(Device& device) {
    std::atomic<Loaded*>& slot = loaded_[device.index()];
    if (!slot.load(std::memory_order_acquire)) {
      Program* self = this;
      load(device, &self, 1);
    }
    return *slot.load(std::memory_order_acquire);
  }
  void find_functions(Device& device, Handle module);
  std::shared_ptr<Sized> sized(Loaded& on, Device& device, const SymbolValues& symbols);
  bool replay(Device& device, Sized& s, const ProgramArguments& arguments);
  void refuse_graph(Sized& s, const char* why);
  bool let_go_of_graphs(Loaded& on);
  Handle function_of(const Loaded& f, int kernel, const Launch& l) const { return f.function[3 * plan_.kernels[kernel].code + l.function]; }
};

#if TT_DEFINES(cuda)
TT_INLINE void Program::load(Device& device, Program* const* programs, int count) {
  Vec<NamedPlan> plans;
  for (int k = 0; k < count; ++k) plans.push_back({&programs[k]->plan_, programs[k]->name_.c_str()});
  const Handle module = device.module(emit_cuda(plans), plans[0].name).handle;
  for (int k = 0; k < count; ++k) programs[k]->find_functions(device, module);
}

TT_INLINE void Program::find_functions(Device& device, Handle module) {
  auto fresh = std::make_unique<Loaded>();
  for (int k = 0; k < plan_.kernels.size(); ++k) {
    const Kernel& kernel = plan_.kernels[k];
    const bool several = kernel.kind == KernelKind::matmul || has_parts(plan_, kernel);
    for (int number = 0; number < 3; ++number) {
      Handle f = nullptr;
      const bool there = kernel.code == k && (number == 0 || several);
      Text symbol = Text(name_) << '_' << k << function_suffix(kernel.kind, number);
      if (there) device.check(device.driver().find_function(&f, module, symbol.c_str()), "cuModuleGetFunction");
      fresh->function.push_back(f);
    }
  }
  Loaded* expected = nullptr;
  if (loaded_[device.index()].compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) fresh.release();
}

/// Planning may open a library, and a graph may be destroyed: neither happens under the lock.
TT_INLINE std::shared_ptr<Program::Sized> Program::sized(Loaded& on, Device& device, const SymbolValues& symbols) {
  const LibrarySettings settings;
  const auto find = [&]() -> std::shared_ptr<Sized> {
    for (const auto& known : on.sized)
      if (known && known->settings == settings && known->launches.is_for(symbols)) return known;
    return nullptr;
  };
  {
    const tt::detail::FlagLock lock(on.busy);
    if (auto known = find()) return known;
  }
  const auto function = [&](int kernel, const Launch& l) { return function_of(on, kernel, l); };
  const auto library = [&](int kernel) {
    Text refused;
    auto made = find_library(device, plan_, plan_.kernels[kernel], symbols, settings, refused);
    if (!refused.empty()) {
      const tt::detail::FlagLock lock(texts_busy_);
      libraries_[plan_.kernels[kernel].windows >= 0].refused = refused;
    }
    return made;
  };
  const auto fresh = std::make_shared<Sized>(LaunchList(plan_, symbols, device.limits(), function, library), settings);
  std::shared_ptr<Sized> before;  // destroyed after the lock is released
  const tt::detail::FlagLock lock(on.busy);
  if (auto known = find()) return known;  // another thread was first
  planned_.fetch_add(1, std::memory_order_relaxed);
  before = std::exchange(on.sized[on.oldest++ % Loaded::most_sizes], fresh);
  return fresh;
}

/// Makes these sizes run kernel by kernel from now on.
TT_INLINE void Program::refuse_graph(Sized& s, const char* why) {
  s.graph.reset();
  s.refused = true;
  const tt::detail::FlagLock lock(texts_busy_);
  graphless_ = Text(why);
}

/// Replays from the second run with the same sizes on: sizes that never return are not worth a graph, nor is a single kernel. The launches
/// of a library are not known, so their addresses cannot be updated. If no graph can be made, kernels are launched one by one, and no
/// further attempt is made. Errors of the graph's launch are thrown, as it may have begun.
TT_INLINE bool Program::replay(Device& device, Sized& s, const ProgramArguments& arguments) {
  if (options_.mode != CompileMode::reduce_overhead || device.driver().missing_for_graphs || s.launches.items().size() < 2 || s.launches.by_library() > 0) return false;
  const tt::detail::FlagLock lock(s.busy);
  if (!s.seen) {
    s.seen = true;
    return false;
  }
  int changed = 0;
  try {
    if (!s.graph && !s.refused) {
      auto fresh = std::make_unique<ReplayGraph>(device, s.launches.bytes());
      fresh->build(s.launches, arguments);
      s.graph = std::move(fresh);
    }
    if (s.graph) changed = s.graph->update(s.launches, arguments);
  } catch (const Error& e) {
    if (device.is_lost()) throw;
    refuse_graph(s, e.what());
  }
  if (!s.graph) {
    without_graph_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  s.graph->launch();
  changed_.fetch_add(changed, std::memory_order_relaxed);
  replays_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Graphs keep their memory. When a run finds no memory, this destroys the program's own graphs; false: there are none.
TT_INLINE bool Program::let_go_of_graphs(Loaded& on) {
  std::shared_ptr<Sized> all[Loaded::most_sizes];
  {
    const tt::detail::FlagLock lock(on.busy);
    for (int k = 0; k < Loaded::most_sizes; ++k) all[k] = on.sized[k];
  }
  bool any = false;
  for (const auto& s : all) {
    if (!s) continue;
    const tt::detail::FlagLock lock(s->busy);
    if (!s->graph) continue;
    any = true;
    refuse_graph(*s, "the memory of a graph was needed to run other sizes.");
  }
  return any;
}

TT_INLINE int Program::run(Device& device, const ProgramArguments& arguments, const SymbolValues& symbols) {
  Loaded& on = loaded(device);
  device.activate();
  const std::shared_ptr<Sized> s = sized(on, device, symbols);
  const Vec<LaunchList::Item>& items = s->launches.items();
  runs_.fetch_add(1, std::memory_order_relaxed);
  if (replay(device, *s, arguments)) return items.size();
  const DeviceMemory memory = [&] {
    try {
      return DeviceMemory(device, s->launches.bytes());
    } catch (const Error&) {
      if (device.is_lost() || !let_go_of_graphs(on)) throw;
    }
    return DeviceMemory(device, s->launches.bytes());
  }();
  Vec<std::uint64_t> words = s->launches.parameters(arguments, memory.begin());
  for (const LaunchList::Item& l : items) {
    void* parameters[] = {words.begin() + l.first};
    const auto launch = [&](const LaunchList::Item::Function& f) {
      device.check(device.driver().launch(f.handle, f.grid, 1, 1, f.block, 1, 1, f.shared, device.stream(), parameters, nullptr), "cuLaunchKernel");
    };
    if (l.library) {
      const bool done = l.library->run(device, words.begin() + l.first, s->launches.work(memory.begin()));
      LibraryCounts& counts = libraries_[static_cast<int>(l.library->work())];
      (done ? counts.ran : counts.not_aligned).fetch_add(1, std::memory_order_relaxed);
      if (done && l.epilogue.handle) launch(l.epilogue);
      if (done) continue;
    }
    launch(l.function);
  }
  return items.size();
}

TT_INLINE Text Program::report() const {
  Text t;
  const tt::detail::FlagLock lock(texts_busy_);
  const std::int64_t runs = runs_.load(), replays = replays_.load();
  if (options_.mode == CompileMode::reduce_overhead && runs > 0) {
    if (const char* missing = Driver::get().missing_for_graphs) {
      t << runs << " runs kernel by kernel, as the driver has no " << missing;
    } else {
      t << replays << " of " << runs << " runs replayed as a CUDA graph, with " << changed_.load() << " changes of a kernel's operands";
      if (const std::int64_t without = without_graph_.load()) t << "; " << without << " kernel by kernel, as there is no graph: " << graphless_;
      else if (replays == 0) t << " (sizes must return, kernels be two or more, and none of them a library's)";
    }
  }
  static constexpr const char* names[] = {"products by cuBLASLt", "convolutions by cuDNN"};
  for (int i = 0; i < 2; ++i) {
    const std::int64_t ran = libraries_[i].ran.load(), not_aligned = libraries_[i].not_aligned.load();
    const Text& refused = libraries_[i].refused;
    if (ran == 0 && not_aligned == 0 && refused.empty()) continue;
    t << (t.empty() ? "" : "; ") << ran << ' ' << names[i];
    if (not_aligned > 0) t << "; " << not_aligned << " by own tiles, as operands were not aligned to " << LibraryKernel::alignment << " bytes";
    if (!refused.empty()) t << "; others by own tiles: " << refused;
  }
  return t;
}
#endif

}  // namespace tt::cuda
