// Collectives: calls that all ranks of a group make together (tt/dist/group.hpp), the same ones in the same order, with equal shapes and dtypes. Each gives a new
// Tensor, which has the same bits on all ranks that get it; is differentiable to any order, on the tape and in captured functions; and is a call in a graph, in
// its place among the others. Tensors of devices travel through the host.
//   Tensor total = tt::distributed::all_reduce(x);
//   auto [loss, g] = tt::value_and_grad(f)(weights, batch);      g = tt::distributed::all_reduce(g, tt::distributed::ReduceOp::avg);      // any struct of Tensors
// Source: torch.distributed, whose functional collectives these are.
#pragma once
#include "tt/dispatch/control_flow.hpp"
#include "tt/dispatch/all_ops.hpp"
#include "tt/dispatch/function_methods.hpp"
#include "tt/dist/group.hpp"

namespace tt::distributed {

enum class ReduceOp { sum, avg, product, min, max };

namespace detail {

struct GroupOptions {
  int size = 1;  ///< of the group; a captured function is for groups of one size
  int rank = 0;  ///< that gives, or gets
};
inline ProcessGroup& group_of(const GroupOptions& o, SourceLine at) {
  ProcessGroup& g = current_group(at);
  if (g.size() != o.size)
    TT_THROW(Error(Text("tt::distributed: this was captured in a group of ") << o.size << " ranks, and runs in one of " << g.size() << ". Compile another function for it?" << at));
  return g;
}
inline std::span<const std::byte> bytes_of(const Tensor& t) { return {static_cast<const std::byte*>(t.data()), static_cast<std::size_t>(t.numel() * size_of(t.dtype()))}; }
inline std::span<std::byte> writable_bytes_of(const Tensor& t) { return {static_cast<std::byte*>(const_cast<void*>(t.data())), bytes_of(t).size()}; }
/// One of `count` equal parts of memory.
template <class Byte>
std::span<Byte> part(std::span<Byte> all, int k, int count) {
  const std::size_t bytes = all.size() / static_cast<std::size_t>(count);
  return all.subspan(bytes * static_cast<std::size_t>(k), bytes);
}
template <class V>
V with_axis_in_front(const V& shape, int size) {
  V s{size};
  for (int k = 0; k < shape.rank; ++k) s.push_back(shape[k]);
  return s;
}
inline ReceiveParts parts_to_fill(const Tensor& t, int count) {
  ReceiveParts parts;
  for (int k = 0; k < count; ++k) parts.push_back(part(writable_bytes_of(t), k, count));
  return parts;
}
/// All collectives are linear; the result is like the operand where the op does not say otherwise.
struct Collective {
  using Options = GroupOptions;
  static constexpr bool is_linear = true;
  static Sym like(const Sym& x, const Options&) { return x; }
};

/// Part k along axis 0 goes to rank k; part k of the result comes from rank k.
struct AllToAll : Collective {
  static constexpr OpInfo info{.name = "_all_to_all", .effect = true, .arguments = "input, .size, .rank"};
  static void kernel(Call& c, const Options& o) {
    c.result[0] = empty_like(c[0]);
    if (c[0].is_meta()) return;
    const Tensor x = c[0].contiguous();
    SendParts send;
    for (int k = 0; k < o.size; ++k) send.push_back(part(bytes_of(x), k, o.size));
    group_of(o, c.at).exchange(send, parts_to_fill(c.result[0], o.size), c.at);
  }
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<AllToAll>(s.at, o, s.gradient[0]); }
};
/// The values of all ranks, along a new axis 0.
struct AllGather : Collective {
  static constexpr OpInfo info{.name = "_all_gather", .effect = true, .arguments = "input, .size, .rank"};
  static Sym like(const Sym& x, const Options& o) { return {x.graph, x.graph->constant(x.dtype(), 0, with_axis_in_front(x.shape(), o.size))}; }
  static void kernel(Call& c, const Options& o) {
    c.result[0] = Tensor(c[0].dtype(), with_axis_in_front(c[0].impl().shape, o.size), c[0].device());
    if (c[0].is_meta()) return;
    const Tensor x = c[0].contiguous();
    group_of(o, c.at).exchange(SendParts(static_cast<std::size_t>(o.size), bytes_of(x)), parts_to_fill(c.result[0], o.size), c.at);
  }
  static void derivative(const auto& s, const Options& o) { s.out[0] = tt::sum(call_with<AllToAll>(s.at, o, s.gradient[0]), 0); }
};
struct Reduce;
/// The value of one rank.
struct Broadcast : Collective {
  static constexpr OpInfo info{.name = "_broadcast", .effect = true, .arguments = "input, .size, .rank"};
  static void kernel(Call& c, const Options& o) {
    c.result[0] = empty_like(c[0]);
    if (c[0].is_meta()) return;
    ProcessGroup& g = group_of(o, c.at);
    const Tensor x = c[0].contiguous();
    const auto n = static_cast<std::size_t>(o.size);
    ReceiveParts receive(n);
    receive[static_cast<std::size_t>(o.rank)] = writable_bytes_of(c.result[0]);
    g.exchange(g.rank() == o.rank ? SendParts(n, bytes_of(x)) : SendParts(n), receive, c.at);
  }
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<Reduce>(s.at, o, s.gradient[0]); }
};
/// The sum over all ranks on one rank; zeros on the others.
struct Reduce : Collective {
  static constexpr OpInfo info{.name = "_reduce", .effect = true, .arguments = "input, .size, .rank"};
  static void kernel(Call& c, const Options& o) {
    if (c[0].is_meta()) return void(c.result[0] = empty_like(c[0]));
    ProcessGroup& g = group_of(o, c.at);
    const Tensor x = c[0].contiguous();
    const auto n = static_cast<std::size_t>(o.size);
    SendParts send(n);
    send[static_cast<std::size_t>(o.rank)] = bytes_of(x);
    if (g.rank() != o.rank) {
      g.exchange(send, ReceiveParts(n), c.at);
      c.result[0] = tt::zeros_like(x);
      return;
    }
    const Tensor all(x.dtype(), with_axis_in_front(x.impl().shape, o.size), x.device());
    g.exchange(send, parts_to_fill(all, o.size), c.at);
    c.result[0] = all.sum(0).to(x.dtype());
  }
  static void derivative(const auto& s, const Options& o) { s.out[0] = call_with<Broadcast>(s.at, o, s.gradient[0]); }
};

inline void check_rank(int rank, const char* op, SourceLine at) {
  if (const int size = get_world_size(at); rank < 0 || rank >= size) TT_THROW(Error(Text("tt::distributed::") << op << ": rank " << rank << " of a group of " << size << "." << at));
}
/// The parts of all ranks, which lie along axis 0, reduced.
inline Tensor reduced(const Tensor& all, ReduceOp op, const char* name, SourceLine at) {
  const DType d = all.dtype();
  switch (op) {
    case ReduceOp::sum: return all.sum(0).to(d);
    case ReduceOp::avg:
      if (!is_floating(d)) TT_THROW(Error(Text("tt::distributed::") << name << ": the average of integers. Take the sum?" << at));
      return all.mean(0);
    case ReduceOp::product: return tt::prod(all, 0).to(d);
    case ReduceOp::min: return tt::amin(all, 0);
    case ReduceOp::max: return tt::amax(all, 0);
  }
  return all;
}
inline Tensor split_axis(const Tensor& x, int dim, int size, const char* name, SourceLine at) {
  const Size n = x.size(dim, at);
  if (n % size != 0)
    TT_THROW(Error(Text("tt::distributed::") << name << ": axis " << dim << " of " << x.shape() << " cannot be split evenly among " << size << " ranks." << at));
  return x.unflatten(dim, {size, -1}, at).movedim(dim, 0, at);
}
inline constexpr int few_elements = 1024;  // these are sent to all at once

}  // namespace detail

/// The values of all ranks, joined along an axis; of Tensors without axes one of `size` elements.
inline Tensor all_gather(const Tensor& x, int dim = 0, SourceLine at = here()) {
  const Tensor all = call_with<detail::AllGather>(at, {get_world_size(at), 0}, x);
  if (x.dim() == 0) return all;
  const int axis = dim < 0 ? dim + x.dim() : dim;
  return all.movedim(0, axis, at).flatten(axis, axis + 1, at);
}
/// All ranks' Tensors are reduced; each rank keeps its own of equal parts along an axis, whose size is a multiple of the group's.
inline Tensor reduce_scatter(const Tensor& x, ReduceOp op = ReduceOp::sum, int dim = 0, SourceLine at = here()) {
  const int size = get_world_size(at), axis = dim < 0 ? dim + x.dim() : dim;
  return detail::reduced(call_with<detail::AllToAll>(at, {size, 0}, detail::split_axis(x, axis, size, "reduce_scatter", at)), op, "reduce_scatter", at);
}
/// Part k along axis 0, of equal parts, goes to rank k; part k of the result is from rank k.
inline Tensor all_to_all(const Tensor& x, SourceLine at = here()) {
  const int size = get_world_size(at);
  return call_with<detail::AllToAll>(at, {size, 0}, detail::split_axis(x, 0, size, "all_to_all", at)).flatten(0, 1, at);
}
/// The Tensors of all ranks, reduced element by element. avg: of floating dtypes.
inline Tensor all_reduce(const Tensor& x, ReduceOp op = ReduceOp::sum, SourceLine at = here()) {
  const int size = get_world_size(at);
  const detail::GroupOptions o{size, 0};
  const Tensor flat = x.reshape({-1}, at);
  const Size n = flat.size(0);
  if (n <= detail::few_elements) return detail::reduced(call_with<detail::AllGather>(at, o, x), op, "all_reduce", at);
  // Each rank reduces its own part, with zeros behind the last element, and gives it to all.
  const Size more = (n + (size - 1)) / size * size - n;
  const Tensor whole = more == 0 ? flat : tt::cat({flat, tt::zeros({more}, {.dtype = x.dtype(), .device = x.device()})}, 0, at);
  const Tensor own = detail::reduced(call_with<detail::AllToAll>(at, o, whole.reshape({size, -1}, at)), op, "all_reduce", at);
  return call_with<detail::AllGather>(at, o, own).reshape({-1}, at).slice(0, 0, n, 1, at).reshape(x.shape(at), at);
}
/// The same of all Tensors in a struct, tuple or list, those of one dtype together: gradients of a training step, whose batch is divided among the ranks.
template <class S>
  requires(!std::convertible_to<const S&, const Tensor&>)
S all_reduce(const S& tensors, ReduceOp op = ReduceOp::sum, SourceLine at = here()) {
  const std::vector<const Tensor*> leaves = tt::detail::leaves_of(tensors);
  std::vector<Tensor> done(leaves.size());
  for (std::size_t first = 0; first < leaves.size(); ++first) {
    if (done[first].defined()) continue;
    std::vector<std::size_t> same;
    std::vector<Tensor> flat;
    for (std::size_t k = first; k < leaves.size(); ++k)
      if (leaves[k]->dtype() == leaves[first]->dtype() && leaves[k]->device() == leaves[first]->device()) {
        same.push_back(k);
        flat.push_back(leaves[k]->reshape({-1}, at));
      }
    const Tensor all = all_reduce(tt::cat(flat, 0, at), op, at);
    Size begin(0);
    for (std::size_t k = 0; k < same.size(); ++k) {
      const Size end = begin + flat[k].size(0);
      done[same[k]] = all.slice(0, begin, end, 1, at).reshape(leaves[same[k]]->shape(at), at);
      begin = end;
    }
  }
  std::size_t next = 0;
  return tt::detail::with_leaves(tensors, [&](const Tensor&) { return done[next++]; });
}
/// The Tensor of rank `src` on all ranks.
inline Tensor broadcast(const Tensor& x, int src, SourceLine at = here()) {
  detail::check_rank(src, "broadcast", at);
  return call_with<detail::Broadcast>(at, {get_world_size(at), src}, x);
}
/// The sum over all ranks on rank `dst`; zeros on the others.
inline Tensor reduce(const Tensor& x, int dst, SourceLine at = here()) {
  detail::check_rank(dst, "reduce", at);
  return call_with<detail::Reduce>(at, {get_world_size(at), dst}, x);
}
/// Returns when all ranks have called it. In a captured function it would not be a step of the graph: call it outside.
inline void barrier(SourceLine at = here()) {
  ProcessGroup& g = current_group(at);
  const auto n = static_cast<std::size_t>(g.size());
  g.exchange(SendParts(n), ReceiveParts(n), at);
}

}  // namespace tt::distributed
