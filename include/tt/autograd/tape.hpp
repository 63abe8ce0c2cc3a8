// What the dispatcher does with Tensors that require a gradient: run the op below, then put a node on
// the tape. Its backward is the derivative of the op's graph, one fused program, made once for a
// signature; that step can be taped in turn, so derivatives of any order come for free.
#pragma once
#include "tt/autograd/node.hpp"

namespace tt {
namespace autograd {

/// The dispatcher's kernel for Tensors that require a gradient.
TT_INLINE void autograd_kernel(Call& c, void*);
/// Makes the results of a function part of the tape, those into which something that requires a gradient flows.
TT_INLINE void record_function(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner,
                               const SymbolValues& symbols, const char* name, SourceLine at,
                               const Tensor* const* argument, int count, const Tensor* result);

#if !defined(TT_COMPILED) || defined(TT_BUILD)

/// An op as a tape node: its function is found by signature when backward needs it. What it has of each
/// argument, and the attributes, lie behind it in the same block.
struct FunctionNode : TapeNode {
  const Operator* op = nullptr;
  int arguments = 0, attributes = 0;

  SavedTensor* saved() { return reinterpret_cast<SavedTensor*>(this + 1); }
  Edge* own_edge() { return reinterpret_cast<Edge*>(saved() + arguments); }
  std::int64_t* attribute() { return reinterpret_cast<std::int64_t*>(own_edge() + arguments); }
  static std::size_t bytes(int arguments, int attributes) {
    return sizeof(FunctionNode) + static_cast<std::size_t>(arguments) * (sizeof(SavedTensor) + sizeof(Edge)) +
           static_cast<std::size_t>(attributes) * sizeof(std::int64_t);
  }
};

/// The same for functions of more arguments: captured ones, and steps of backward.
struct WideNode : TapeNode {
  const GraphFunction* function = nullptr;
  std::shared_ptr<const GraphFunction> owner;  ///< of the function or of what it is a derivative of; null: kept for ever
  SymbolValues symbols;
  std::vector<Edge> own_edge;
  std::vector<SavedTensor> saved;
};

inline std::uint64_t floating_arguments(const Tensor* const* argument, int count) {
  std::uint64_t bits = 0;
  for (int k = 0; k < count; ++k)
    if (is_floating(argument[k]->impl().dtype)) bits |= std::uint64_t{1} << k;
  return bits;
}
/// Which arguments' elements the derivative of `f` reads, as bits.
inline std::uint64_t arguments_read(const GraphFunction& f, std::uint64_t wanted, int arguments) {
  const GraphFunction::Derivative& d = f.derivative(wanted);
  std::uint64_t bits = 0;
  for (int k = 0; k < arguments; ++k)
    if (d.function->reads(k)) bits |= std::uint64_t{1} << k;
  return bits;
}
inline std::uint64_t arguments_read(const Call& c) {
  const bool elementwise = c.op->body || c.op->primitive != Op::input;
  const std::uint64_t floating = floating_arguments(c.argument, c.arguments);
  if (elementwise)  // whatever the shapes are
    if (const int known = c.op->saved_arguments.load(std::memory_order_relaxed);
        known >= 0 && static_cast<std::uint64_t>(known) >> max_arguments == floating)
      return static_cast<std::uint64_t>(known) & ((1u << max_arguments) - 1);
  const BoundFunction f = bind_function(c);
  const std::uint64_t bits = arguments_read(*f.function, floating, c.arguments);
  if (elementwise) c.op->saved_arguments.store(static_cast<int>(floating << max_arguments | bits), std::memory_order_relaxed);
  return bits;
}

inline void apply_function(TapeNode& base, Tensor* in, Tensor* out, bool taped);
inline void release_function(TapeNode& base) {
  auto& n = static_cast<FunctionNode&>(base);
  for (int k = 0; k < n.arguments; ++k) n.saved()[k].tensor = Tensor();
}
inline const TapeNodeKind function_kind{
    &apply_function, &release_function,
    [](TapeNode* n) {
      auto* own = static_cast<FunctionNode*>(n);
      const std::size_t bytes = FunctionNode::bytes(own->arguments, own->attributes);
      for (int k = 0; k < own->arguments; ++k) own->saved()[k].~SavedTensor();
      own->~FunctionNode();
      tt::detail::CachingAllocator::get().free(own, bytes);
    }};
inline FunctionNode* make_function_node(const Call& c) {
  const int attributes = c.attrs().size;
  auto* n = ::new (tt::detail::CachingAllocator::get().allocate(FunctionNode::bytes(c.arguments, attributes))) FunctionNode;
  n->kind = &function_kind;
  n->op = c.op;
  n->name = c.op->name();
  n->where = c.at;
  n->results = c.op->results;
  n->arguments = c.arguments;
  n->attributes = attributes;
  for (int k = 0; k < c.arguments; ++k) {
    ::new (n->saved() + k) SavedTensor;
    ::new (n->own_edge() + k) Edge;
  }
  for (int k = 0; k < attributes; ++k) n->attribute()[k] = c.attrs().value[k];
  ++tape_node_count();
  return n;
}

/// A call's results that can have a gradient are a new node's.
inline void give_results(NodeHandle node, const Call& c) {
  set_histories(static_cast<NodeHandle&&>(node), c.result, c.op->results, [&](int k) { return is_floating(c.result[k].dtype()); });
}

/// Makes the results of a call part of the tape.
inline void record_call(const Call& c) {
  FunctionNode* n = make_function_node(c);
  NodeHandle owner = NodeHandle::of_new(n);
  const std::uint64_t read = arguments_read(c);
  for (int k = 0; k < c.arguments; ++k)
    if (read >> k & 1) n->saved()[k].save(c[k], *n);
    else n->saved()[k].save_shape(c[k]);
  connect(*n, n->own_edge(), c.argument, c.arguments);
  give_results(static_cast<NodeHandle&&>(owner), c);
}

/// An op with a derivative of its own.
struct OwnNode : TapeNode {
  const Operator* op = nullptr;
  Attributes attributes;
  int arguments = 0;
  SavedTensor argument[max_arguments], result[max_results];
  Edge own_edge[max_arguments];
};
inline const TapeNodeKind own_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool) {
      auto& n = static_cast<OwnNode&>(base);
      Tensor argument[max_arguments], result[max_results];
      const SavedArguments saved(n.argument, n.arguments), given(n.result, n.results);
      for (int k = 0; k < n.arguments; ++k) {
        saved.check(n, k);
        argument[k] = saved[k];
      }
      for (int k = 0; k < n.results; ++k) {
        given.check(n, k, "result");
        result[k] = given[k];
      }
      n.op->derivative({n.op, &n.attributes, argument, result, n.arguments, in, out, n.where});
    },
    [](TapeNode& base) {
      auto& n = static_cast<OwnNode&>(base);
      for (int k = 0; k < n.arguments; ++k) n.argument[k].tensor = Tensor();
      for (int k = 0; k < n.results; ++k) n.result[k].tensor = Tensor();
    },
    [](TapeNode* n) { delete static_cast<OwnNode*>(n); }};
/// Makes the results of a call part of the tape; what is kept: see DerivativeStep.
inline void record_own(const Call& c) {
  auto* n = new OwnNode;
  NodeHandle owner = NodeHandle::of_new(n);
  n->kind = &own_kind;
  n->op = c.op;
  n->name = c.op->name();
  n->where = c.at;
  n->results = c.op->results;
  n->attributes = c.attrs();
  n->arguments = c.arguments;
  const auto save = [n](SavedTensor& to, const Tensor& t) {
    if (is_floating(t.dtype())) to.save_shape(t);
    else to.save(t, *n);
  };
  for (int k = 0; k < c.arguments; ++k) save(n->argument[k], c[k]);
  for (int k = 0; k < c.op->results; ++k) save(n->result[k], c.result[k]);
  connect(*n, n->own_edge, c.argument, c.arguments);
  ++tape_node_count();
  give_results(static_cast<NodeHandle&&>(owner), c);
}

/// An op with any number of arguments, as graphs have it: a node for each argument, whose gradient is part of the result's, and
/// which leads on to the node before it with all of that.
struct JoinNode : TapeNode {
  struct Joined {
    const Operator* op;
    Attributes attributes;
    int arguments;
    SavedTensor argument[max_arguments];
  };
  std::shared_ptr<const Joined> all;
  int number = 0;  ///< of the argument
  Edge own_edge[2];
};
inline const TapeNodeKind join_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool) {
      auto& n = static_cast<JoinNode&>(base);
      const JoinNode::Joined& j = *n.all;
      const SavedArguments saved(j.argument, j.arguments);
      Tensor argument[max_arguments], each[max_arguments];
      for (int k = 0; k < j.arguments; ++k) argument[k] = saved[k];
      j.op->derivative({j.op, &j.attributes, argument, nullptr, j.arguments, in, each, n.where, n.number});
      out[0] = in[0];
      out[1] = each[n.number];
    },
    [](TapeNode&) {}, [](TapeNode* n) { delete static_cast<JoinNode*>(n); }};
inline void record_join(const Call& c) {
  auto all = std::make_shared<JoinNode::Joined>();
  all->op = c.op;
  all->attributes = c.attrs();
  all->arguments = c.arguments;
  for (int k = 0; k < c.arguments; ++k) all->argument[k].save_shape(c[k]);
  NodeHandle last;
  for (int k = 0; k < c.arguments; ++k) {
    if (!c[k].impl().requires_grad) continue;
    auto* n = new JoinNode;
    NodeHandle owner = NodeHandle::of_new(n);
    n->kind = &join_kind;
    n->name = c.op->name();
    n->where = c.at;
    n->all = all;
    n->number = k;
    n->edge = n->own_edge;
    n->edges = 2;
    n->own_edge[0].node = last.detach();
    n->own_edge[1] = edge_of(c[k]);
    n->own_edge[1].node->retain();
    ++tape_node_count();
    last = static_cast<NodeHandle&&>(owner);
  }
  give_results(static_cast<NodeHandle&&>(last), c);
}

TT_INLINE void autograd_kernel(Call& c, void*) {
  bool needed = false;
  for (int k = 0; k < c.arguments; ++k) needed = needed || c[k].impl().requires_grad;
  Dispatcher::get().redispatch(c);
  if (!needed || !DispatchState::of_this_thread().grad_enabled || c.op == &tt::detail::detach_operator()) return;
  bool floating = false;
  for (int k = 0; k < c.op->results; ++k) floating = floating || is_floating(c.result[k].dtype());
  if (!floating) return;
  if (c.op->variadic && c.op->derivative) record_join(c);
  else if (c.op->derivative) record_own(c);
  else record_call(c);
}

/// One step of backward: the derivative of a function on what was saved and the gradients `in` of its
/// results; `out` gets one for each argument that has an edge and through which something flows.
inline void run_derivative(TapeNode& n, const BoundFunction& f, const std::shared_ptr<const GraphFunction>& owner,
                           const SavedArguments& saved, Tensor* in, Tensor* out, bool taped);

inline void apply_function(TapeNode& base, Tensor* in, Tensor* out, bool taped) {
  auto& n = static_cast<FunctionNode&>(base);
  const SavedArguments saved(n.saved(), n.arguments);
  Attributes attributes;
  attributes.size = n.attributes;
  for (int k = 0; k < n.attributes; ++k) attributes.value[k] = n.attribute()[k];
  const BoundFunction f = bind_function({n.op, saved.data(), n.arguments, &attributes, nullptr, n.where, {}});
  run_derivative(n, f, nullptr, saved, in, out, taped);
}
inline const TapeNodeKind wide_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool taped) {
      auto& n = static_cast<WideNode&>(base);
      const SavedArguments saved(n.saved.data(), static_cast<int>(n.saved.size()));
      run_derivative(n, {n.function, n.symbols}, n.owner, saved, in, out, taped);
    },
    [](TapeNode& n) { static_cast<WideNode&>(n).saved.clear(); },
    [](TapeNode* n) { delete static_cast<WideNode*>(n); }};

/// Which arguments require a gradient, as bits.
inline std::uint64_t required_gradients(const Tensor* const* argument, int count) {
  std::uint64_t bits = 0;
  for (int k = 0; k < count && k < 64; ++k)
    if (argument[k]->impl().requires_grad) bits |= std::uint64_t{1} << k;
  return bits;
}
/// All arguments of a node: those in `read` (bits) as they are, of the others the shape.
inline void save_arguments(std::vector<SavedTensor>& saved, std::uint64_t read, const Tensor* const* argument, int count, TapeNode& n) {
  saved.resize(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k)
    if (read >> k & 1) saved[static_cast<std::size_t>(k)].save(*argument[k], n);
    else saved[static_cast<std::size_t>(k)].save_shape(*argument[k]);
}

TT_INLINE void record_function(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols,
                            const char* name, SourceLine at, const Tensor* const* argument, int count, const Tensor* result) {
  if (count > 64) TT_THROW(Error(Text("tt::backward: a function of ") << count << " Tensors: at most 64 can be on the tape." << at));
  const std::uint64_t required = required_gradients(argument, count);
  auto* n = new WideNode;
  n->kind = &wide_kind;
  NodeHandle owner_of_node = NodeHandle::of_new(n);
  n->name = name;
  n->where = at;
  n->results = f.outputs();
  n->function = &f;
  n->owner = owner;
  n->symbols = symbols;
  n->own_edge.resize(static_cast<std::size_t>(count));
  save_arguments(n->saved, arguments_read(f, floating_arguments(argument, count), count), argument, count, *n);
  connect(*n, n->own_edge.data(), argument, count);
  ++tape_node_count();
  set_histories(static_cast<NodeHandle&&>(owner_of_node), result, f.outputs(), [&](int k) { return (f.flows_into(k) & required) != 0; });
}

/// Where the gradients of a node's results lie.
inline Device device_of_gradients(int results, const Tensor* in) {
  for (int k = 0; k < results; ++k)
    if (in[k].defined()) return in[k].device();
  return {};
}
/// The gradients of a node's results as a step of backward takes them: dense, zeros where there is none.
inline void fill_gradient(const GraphFunction& f, const SymbolValues& symbols, int results, Tensor* in, int k) {
  if (!in[k].defined())
    in[k] = full(f.output_shape(k, symbols), 0,
                 tt::detail::on_device(f.graph()[f.graph().outputs[k]].dtype, device_of_gradients(results, in)));
  if (!in[k].is_contiguous()) in[k] = in[k].contiguous();
}
/// Runs a step of backward, records it if asked to, and hands out what it gives to the arguments `given` (bits). One that
/// reads nothing (zeros: the gradient of an empty slice) runs where the gradients `in` lie.
inline void run_step(TapeNode& n, const GraphFunction& f, std::uint64_t given, const std::shared_ptr<const GraphFunction>& owner,
                     const SymbolValues& symbols, const Tensor* const* argument, int count, const Tensor* in, Tensor* out, bool taped) {
  Tensor few[max_arguments];
  std::vector<Tensor> many(f.outputs() > max_arguments ? static_cast<std::size_t>(f.outputs()) : 0);
  Tensor* const result = many.empty() ? few : many.data();
  f.run(argument, symbols, result, device_of_gradients(n.results, in));
  bool needed = false;
  for (int k = 0; k < count && taped; ++k) needed = needed || argument[k]->impl().requires_grad;
  if (needed) record_function(f, owner, symbols, n.name, n.where, argument, count, result);
  int at = 0;
  for (int k = 0; k < n.edges; ++k)
    if (given >> k & 1) out[k] = static_cast<Tensor&&>(result[at++]);
}

inline void run_derivative(TapeNode& n, const BoundFunction& f, const std::shared_ptr<const GraphFunction>& owner,
                           const SavedArguments& saved, Tensor* in, Tensor* out, bool taped) {
  const int arguments = saved.size();
  const Tensor* argument[max_inputs + max_outputs];
  std::uint64_t wanted = 0;
  for (int k = 0; k < arguments; ++k) {
    argument[k] = &saved[k];
    if (n.edge[k].node) wanted |= std::uint64_t{1} << k;
  }
  const GraphFunction::Derivative& d = f.function->derivative(wanted);
  for (int k = 0; k < n.results; ++k) {
    fill_gradient(*f.function, f.symbols, n.results, in, k);
    argument[arguments + k] = &in[k];
  }
  for (int k = 0; k < arguments; ++k)
    if (d.function->reads(k)) saved.check(n, k);
  run_step(n, *d.function, d.given, owner, f.symbols, argument, arguments + n.results, in, out, taped);
}

#endif

}  // namespace autograd
}  // namespace tt
