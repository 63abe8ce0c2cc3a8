// What the dispatcher does with Tensors that require a gradient: run the op below, then put a node on
// the tape. Its backward is the derivative of the op's graph, one fused program, made once for a
// signature; that step can be taped in turn, so derivatives of any order come for free.
#pragma once
#include "tt/autograd/node.hpp"

namespace tt {
namespace autograd {

/// An op, or the derivative of one, as a tape node: a function found by signature when it is needed.
struct FunctionNode : TapeNode {
  const Operator* op = nullptr;             ///< of an op: looked up at backward
  const GraphFunction* function = nullptr;  ///< of a step of backward: known
  SymbolValues symbols;
  Attributes attributes;
  int arguments = 0;
  SavedTensor saved[2 * max_arguments];
};

inline unsigned floating_arguments(const Tensor* const* argument, int count) {
  unsigned bits = 0;
  for (int k = 0; k < count; ++k)
    if (is_floating(argument[k]->impl().dtype)) bits |= 1u << k;
  return bits;
}
/// Which arguments' elements the derivative of `f` reads, as bits.
inline unsigned arguments_read(const GraphFunction& f, unsigned wanted, int arguments) {
  const GraphFunction::Derivative& d = f.derivative(wanted);
  unsigned bits = 0;
  for (int k = 0; k < arguments; ++k)
    if (d.function->reads(k)) bits |= 1u << k;
  return bits;
}
inline unsigned arguments_read(const Call& c) {
  const bool elementwise = c.op->body || c.op->primitive != Op::input;
  if (elementwise)  // whatever the shapes are
    if (const int known = c.op->saved_arguments.load(std::memory_order_relaxed); known >= 0)
      return static_cast<unsigned>(known);
  const BoundFunction f = bind_function(c);
  const unsigned bits = arguments_read(*f.function, floating_arguments(c.argument, c.arguments), c.arguments);
  if (elementwise) c.op->saved_arguments.store(static_cast<int>(bits), std::memory_order_relaxed);
  return bits;
}

inline void apply_function(TapeNode& base, Tensor* in, Tensor* out, bool taped);
inline void release_function(TapeNode& base) {
  auto& n = static_cast<FunctionNode&>(base);
  for (int k = 0; k < n.arguments; ++k) n.saved[k].tensor = Tensor();
}
inline const TapeNodeKind function_kind{
    &apply_function, &release_function,
    [](TapeNode* n) {
      auto* own = static_cast<FunctionNode*>(n);
      own->~FunctionNode();
      tt::detail::CachingAllocator::get().free(own, sizeof(FunctionNode));
    }};
inline FunctionNode* make_function_node(const char* name, int results, SourceLine at) {
  auto* n = ::new (tt::detail::CachingAllocator::get().allocate(sizeof(FunctionNode))) FunctionNode;
  n->kind = &function_kind;
  n->name = name;
  n->where = at;
  n->results = results;
  ++tape_node_count();
  return n;
}

/// Makes the results of a call part of the tape.
inline void record_call(const Call& c) {
  FunctionNode* n = make_function_node(c.op->name(), c.op->results, c.at);
  n->op = c.op;
  n->attributes.size = c.attrs().size;
  for (int k = 0; k < c.attrs().size; ++k) n->attributes.value[k] = c.attrs().value[k];
  n->arguments = c.arguments;
  const unsigned read = arguments_read(c);
  for (int k = 0; k < c.arguments; ++k)
    if (read >> k & 1) n->saved[k].save(c[k]);
    else n->saved[k].save_shape(c[k]);
  connect(*n, c.argument, c.arguments);
  n->number = next_number();
  for (int k = 0; k < c.op->results; ++k)
    if (is_floating(c.result[k].dtype())) set_history(c.result[k], n, k);
  release(n);
}

inline void autograd_kernel(Call& c, void*) {
  bool needed = false;
  for (int k = 0; k < c.arguments; ++k) needed = needed || c[k].impl().requires_grad;
  Dispatcher::get().redispatch(c);
  if (!needed || !DispatchState::of_this_thread().grad_enabled || c.op == &tt::detail::detach_operator()) return;
  bool floating = false;
  for (int k = 0; k < c.op->results; ++k) floating = floating || is_floating(c.result[k].dtype());
  if (floating) record_call(c);
}

/// One step of backward: the derivative of the node's function on what was saved and the gradients.
inline void apply_function(TapeNode& base, Tensor* in, Tensor* out, bool taped) {
  auto& n = static_cast<FunctionNode&>(base);
  const Tensor* argument[3 * max_arguments];
  unsigned wanted = 0;
  for (int k = 0; k < n.arguments; ++k) {
    argument[k] = &n.saved[k].tensor;
    if (n.edge[k].node) wanted |= 1u << k;
  }
  BoundFunction f{n.function, n.symbols};
  if (!f.function) f = bind_function({n.op, argument, n.arguments, &n.attributes, nullptr, n.where, {}});
  const GraphFunction::Derivative& d = f.function->derivative(wanted);
  const int results = n.results;
  for (int k = 0; k < results; ++k) {
    if (!in[k].defined())
      in[k] = full(f.function->output_shape(k, f.symbols), 0,
                   {f.function->graph()[f.function->graph().outputs[k]].dtype});
    if (!in[k].is_contiguous()) in[k] = in[k].contiguous();
    argument[n.arguments + k] = &in[k];
  }
  for (int k = 0; k < n.arguments; ++k)
    if (d.function->reads(k)) n.saved[k].check(n, k);
  Tensor given[max_arguments];
  d.function->run(argument, f.symbols, given);
  if (taped) {
    const int count = n.arguments + results;
    bool needed = false;
    for (int k = 0; k < count; ++k) needed = needed || argument[k]->impl().requires_grad;
    if (needed) {
      FunctionNode* step = make_function_node(n.name, d.function->outputs(), n.where);
      step->function = d.function;
      step->symbols = f.symbols;
      step->arguments = count;
      for (int k = 0; k < count; ++k) step->saved[k].save(*argument[k]);
      connect(*step, argument, count);
      step->number = next_number();
      for (int k = 0; k < d.function->outputs(); ++k) set_history(given[k], step, k);
      release(step);
    }
  }
  int at = 0;
  for (int k = 0; k < n.arguments; ++k)
    if (d.given >> k & 1) out[k] = static_cast<Tensor&&>(given[at++]);
}

}  // namespace autograd
}  // namespace tt
