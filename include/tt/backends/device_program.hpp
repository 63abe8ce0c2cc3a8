// A device's program, in place of the CPU's TileProgram: made from a Plan, or from the graph itself. A backend that registers a maker of
// programs runs every op, every step of backward and every compiled function.
//   set_program_maker(DeviceType::cuda, [](Plan p, const char* name, const ProgramOptions& o) { return new DeviceProgram(new Mine(...)); });
//   set_graph_program_maker(npu.type, [](const Graph& g, const char* name, const ProgramOptions& o) -> DeviceProgram* { ... });
// Graphs that the maker refuses run on the CPU, if that is wanted: set_cpu_fallback in dispatch/device_fallback.hpp.
#pragma once
#include <atomic>

#include "tt/core/bit_set.hpp"
#include "tt/core/keys.hpp"
#include "tt/plan/memory.hpp"

namespace tt {

/// The purpose for which a function is compiled, like torch.compile's mode.
///   reduce_overhead   the launches of a device's program are replayed as one (CUDA graphs) from the second call
///                     with the same sizes on. Arguments may have other addresses at each call, and results belong to the
///                     caller. Memory between kernels is kept for each of the sizes. No effect on the CPU, whose
///                     programs are one call anyway.
enum class CompileMode : unsigned char { default_mode, reduce_overhead };
constexpr const char* name(CompileMode m) { return m == CompileMode::reduce_overhead ? "reduce_overhead" : "default"; }

/// The rounding of a compiled function.
///   exact   as eager ops do, on every processor
///   fast    values are rounded to 16-bit floats where a product or a call reads them and where they are returned, not between other
///           ops (not even where the function calls to() for that); the processor's own products of bf16 are used. Errors are smaller
///           as a rule, and differ from one processor to another.
enum class Numerics : unsigned char { exact, fast };

/// Options of a program.
struct ProgramOptions {
  CompileMode mode = CompileMode::default_mode;
  Numerics numerics = Numerics::exact;
  bool interpreted = false;  ///< on the CPU, permanently: for eager ops, which are never compiled
};

/// The arguments of a run.
struct ProgramArguments {
  /// Pointers to the inputs in order, then to outputs that do not reuse a donated input, all on the device. Null: an input of which only
  /// the shape is used, or one without elements.
  void* const* external = nullptr;
  const BitSet* on_host = nullptr;  ///< except these inputs: their single element is in host memory; null: none
  bool is_on_host(int input) const { return on_host && on_host->test(input); }
};

/// Owns a backend's program P, which has the functions below. They are not virtual: compilers follow virtual functions into backends
/// that a program does not use.
class DeviceProgram {
 public:
  template <class P>
  explicit DeviceProgram(P* program) : program_(program), functions_(&functions_of<P>) {}
  DeviceProgram(const DeviceProgram&) = delete;
  ~DeviceProgram() { functions_->destroy(program_); }
  /// Runs on device number `index`. Thread-safe; may return before the work is done, but not before operands in host memory were read.
  void run(int index, const ProgramArguments& arguments, const SymbolValues& symbols) {
    functions_->run(program_, index, arguments, symbols);
  }
  /// Inputs whose single element may be in host memory; others are copied to the device first.
  const BitSet& may_be_on_host() const { return functions_->may_be_on_host(program_); }
  /// For explain(): how the program ran, and options that it could not follow. Empty, or a phrase.
  Text report() const { return functions_->report(program_); }

 private:
  struct Functions {
    void (*run)(void* p, int index, const ProgramArguments& arguments, const SymbolValues& symbols);
    const BitSet& (*may_be_on_host)(const void* p);
    Text (*report)(const void* p);
    void (*destroy)(void* p);
  };
  template <class P>
  static constexpr Functions functions_of = {
      [](void* p, int index, const ProgramArguments& a, const SymbolValues& s) { static_cast<P*>(p)->run(index, a, s); },
      [](const void* p) -> const BitSet& { return static_cast<const P*>(p)->may_be_on_host(); },
      [](const void* p) { return static_cast<const P*>(p)->report(); }, [](void* p) { delete static_cast<P*>(p); }};
  void* program_;
  const Functions* functions_;
};
using ProgramMaker = DeviceProgram* (*)(Plan plan, const char* name, const ProgramOptions& options);

/// Makes a program from the graph, in which ops with decompositions are still calls (see inline_bodies) and extents may be symbols. Null:
/// the device does not support the graph.
using GraphProgramMaker = DeviceProgram* (*)(const Graph& graph, const char* name, const ProgramOptions& options);

class GraphFunction;
class Tensor;

namespace detail {
/// Runs a device's work on the CPU, on copies: see dispatch/device_fallback.hpp. Function pointers, so that programs without such a
/// device contain no code for it.
struct CpuCopies {
  void (*run)(const GraphFunction& f, Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result);
  void (*write)(const Tensor& to, const Tensor& from);
};
/// How programs for a kind of device are made.
struct DevicePrograms {
  std::atomic<ProgramMaker> of_plan{nullptr};
  std::atomic<GraphProgramMaker> of_graph{nullptr};
  std::atomic<const CpuCopies*> on_cpu{nullptr};  ///< for work that the device has no program for
};
inline DevicePrograms& device_programs(DeviceType t) {
  static DevicePrograms all[most_devices];
  return all[static_cast<int>(t)];
}
}  // namespace detail

inline void set_program_maker(DeviceType t, ProgramMaker make) { detail::device_programs(t).of_plan.store(make, std::memory_order_release); }
/// Null: the backend makes its kernels itself.
inline ProgramMaker program_maker(DeviceType t) { return detail::device_programs(t).of_plan.load(std::memory_order_acquire); }
inline void set_graph_program_maker(DeviceType t, GraphProgramMaker make) { detail::device_programs(t).of_graph.store(make, std::memory_order_release); }
inline GraphProgramMaker graph_program_maker(DeviceType t) { return detail::device_programs(t).of_graph.load(std::memory_order_acquire); }
/// Is there a way to run programs for this kind of device, other than the CPU's TileProgram on its memory?
inline bool has_programs(DeviceType t) {
  const detail::DevicePrograms& p = detail::device_programs(t);
  return p.of_plan.load(std::memory_order_acquire) || p.of_graph.load(std::memory_order_acquire) || p.on_cpu.load(std::memory_order_acquire);
}

}  // namespace tt
