// The tape node of an op, and the order of axes in which its step of backward goes over memory.
#pragma once
#include "tt/autograd/node.hpp"

#if TT_DEFINES(autograd)

namespace tt::autograd {

/// An op as a tape node: its function is found by signature when backward needs it. The saved arguments, the saved results if the
/// derivative takes those, edges, attributes and extents follow the node in the same block of memory.
struct FunctionNode : TapeNode {
  const Operator* op = nullptr;
  std::int16_t arguments = 0, attributes = 0;
  int extents = 0;  ///< number of the extents of all saved shapes together

  int saved_count() const { return arguments + (keeps_results ? results : 0); }
  PackedArgument* saved() { return reinterpret_cast<PackedArgument*>(this + 1); }
  Edge* own_edge() { return reinterpret_cast<Edge*>(saved() + saved_count()); }
  std::int64_t* attribute() { return reinterpret_cast<std::int64_t*>(own_edge() + arguments); }
  std::int64_t* extent() { return attribute() + attributes; }
  Attributes saved_attributes() {
    Attributes a;
    a.value.append(attribute(), attributes);
    return a;
  }
  static std::size_t bytes(int saved, int arguments, int attributes, int extents) {
    return sizeof(FunctionNode) + static_cast<std::size_t>(saved) * sizeof(PackedArgument) + static_cast<std::size_t>(arguments) * sizeof(Edge) +
           static_cast<std::size_t>(attributes + extents) * sizeof(std::int64_t);
  }
};
// A light op on a Tensor of four floats takes 200 bytes, besides the storage that it keeps; tests/test_memory.cpp counts.
static_assert(sizeof(FunctionNode) <= 96 && sizeof(PackedArgument) + sizeof(Edge) <= 40);

/// May a step take the axes of t in another order? Not while the step is recorded, nor where it computes tangents too.
inline bool may_reorder(const Tensor& t) { return DispatchState::of_this_thread().capture == 0 && !may_be_dual(t) && t.impl().trace_id < 0; }
/// The order of axes in which an elementwise step goes over memory: the memory order of its operands, as in its call; else row-major. Row-major too where
/// gradients are summed to an argument's shape: the order of sums is that of the shape.
inline tt::detail::MemoryOrder order_of_step(const FunctionNode& n, const SavedArguments& saved, const Tensor& in, bool taped) {
  const tt::detail::MemoryOrder usual(Call{});
  if (taped || !n.op->elementwise || n.results != 1 || !in.defined()) return usual;
  SmallVec<const Tensor*, few_arguments> read;
  bool contiguous = true, reorders = true;
  const auto look_at = [&](const Tensor& t) {
    read.push_back(&t);
    contiguous = contiguous && t.impl().contiguous;
    reorders = reorders && may_reorder(t);
  };
  for (int k = 0; k < saved.size(); ++k)
    if (!saved[k].is_meta()) look_at(saved[k]);
  look_at(in);
  if (contiguous || !reorders) return usual;
  for (int k = 0; k < n.edges; ++k)
    if (n.edge[k].node && !(saved[k].impl().shape == in.impl().shape)) return usual;
  const tt::detail::MemoryOrder order(Call{.argument = read.data(), .arguments = read.size()});
  return order.shape == in.impl().shape ? order : usual;
}
/// The gradient through a view that exchanges axes, of a gradient with strides: copied once, not twice. Undefined for other views and ops.
inline Tensor exchanged_back(const FunctionNode& n, const SavedArguments& saved, const Attributes& attributes, const Tensor& in) {
  if (!n.op->is_view || n.arguments != 1 || !in.defined() || in.impl().contiguous || !may_reorder(in)) return {};
  const Shape& shape = saved[0].impl().shape;
  const Tensor probe(in.dtype(), shape, {DeviceType::meta, 0});
  const Tensor* const argument = &probe;
  const Tensor view = tt::detail::call_operator(*n.op, &argument, 1, attributes, n.where).detach();
  if (view.impl().numel != probe.impl().numel || view.impl().numel == 0 || !(view.impl().shape == in.impl().shape)) return {};
  std::int64_t strides[max_rank] = {};
  for (int k = 0; k < shape.rank; ++k) {
    int from = -1;
    for (int j = 0; j < view.dim() && from < 0; ++j)
      if (view.impl().stride[j] == probe.impl().stride[k] && view.impl().shape[j] == shape[k]) from = j;
    if (from < 0 && shape[k] != Extent(1)) return {};
    if (from >= 0) strides[k] = in.impl().stride[from];
  }
  return tt::detail::over_elements(in, shape, strides).clone();
}

}  // namespace tt::autograd

#endif
