// The launches of a program as one CUDA graph: built once for a device and sizes, then launched by one call of the driver. Kernels whose
// operands have other addresses than at the last launch are updated before it, so nothing is copied, and results belong to the caller as
// without a graph. The graph owns the memory between its kernels: the driver orders its launches, on whichever streams they are.
//   ReplayGraph graph(device, bytes);   graph.build(list, arguments);
//   graph.update(list, arguments);   graph.launch();
#pragma once
#include "tt/backends/cuda/device.hpp"
#include "tt/backends/cuda/launch_list.hpp"

namespace tt::cuda {

/// Not thread-safe. Its first launch must be on the stream of the thread that made it.
class ReplayGraph {
 public:
  ReplayGraph(Device& device, std::size_t bytes) : device_(device), memory_(device, bytes) {}
  ReplayGraph(const ReplayGraph&) = delete;
  ~ReplayGraph() {
    const Driver& driver = device_.driver();
    device_.make_current();
    driver.synchronize();  // its memory returns to the stream of its allocation, and may be in use on another
    if (executable_) driver.destroy_executable(executable_);
    if (graph_) driver.destroy_graph(graph_);
  }
  TT_INLINE void build(const LaunchList& list, const ProgramArguments& arguments);
  /// Returns the number of kernels whose parameters changed.
  TT_INLINE int update(const LaunchList& list, const ProgramArguments& arguments);
  /// Launches the graph on the thread's stream.
  void launch() { device_.check(device_.driver().launch_graph(executable_, device_.stream()), "cuGraphLaunch"); }

 private:
  Device& device_;
  DeviceMemory memory_;
  Handle graph_ = nullptr, executable_ = nullptr;
  Vec<Handle> node_;           // in the order of the launches
  Vec<std::uint64_t> words_;   // the parameters in the executable graph
};

#if TT_DEFINES(cuda)
namespace detail {
inline KernelNode kernel_node(const LaunchList::Item& l, void** parameters) {
  return {.function = l.function.handle, .grid_x = l.function.grid, .block_x = l.function.block, .shared = l.function.shared, .parameters = parameters};
}
}  // namespace detail

TT_INLINE void ReplayGraph::build(const LaunchList& list, const ProgramArguments& arguments) {
  const Driver& driver = device_.driver();
  words_ = list.parameters(arguments, memory_.begin());
  device_.check(driver.create_graph(&graph_, 0), "cuGraphCreate");
  Handle before = nullptr;
  for (const LaunchList::Item& l : list.items()) {
    void* parameters[] = {words_.begin() + l.first};
    const KernelNode k = detail::kernel_node(l, parameters);
    Handle node = nullptr;
    device_.check(driver.add_kernel(&node, graph_, &before, before ? 1 : 0, &k), "cuGraphAddKernelNode");
    node_.push_back(before = node);
  }
  device_.check(driver.instantiate_graph(&executable_, graph_, 0), "cuGraphInstantiate");
}

TT_INLINE int ReplayGraph::update(const LaunchList& list, const ProgramArguments& arguments) {
  const Driver& driver = device_.driver();
  Vec<std::uint64_t> now = list.parameters(arguments, memory_.begin());
  int changed = 0;
  for (int k = 0; k < list.items().size(); ++k) {
    const LaunchList::Item& l = list.items()[k];
    const std::size_t bytes = sizeof(std::uint64_t) * static_cast<std::size_t>(l.words);
    if (std::memcmp(now.begin() + l.first, words_.begin() + l.first, bytes) == 0) continue;
    void* parameters[] = {now.begin() + l.first};
    const KernelNode other = detail::kernel_node(l, parameters);
    device_.check(driver.set_kernel(executable_, node_[k], &other), "cuGraphExecKernelNodeSetParams");
    std::memcpy(words_.begin() + l.first, now.begin() + l.first, bytes);
    ++changed;
  }
  return changed;
}
#endif

}  // namespace tt::cuda
