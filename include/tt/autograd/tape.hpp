// The dispatcher's kernel for Tensors that require a gradient: runs the op below, then puts a node on
// the tape. The node's backward is the derivative of the op's graph, one fused program, made once for a
// signature; that step can be taped in turn, so derivatives of any order come for free.
// Nodes: FunctionNode (an op with a graph), OwnNode (a derivative of its own), JoinNode (any number of arguments), WideNode (functions).
#pragma once
#include <algorithm>

#include "tt/autograd/fit_gradient.hpp"
#include "tt/autograd/function_node.hpp"

namespace tt {
namespace autograd {

/// The dispatcher's kernel for Tensors that require a gradient.
TT_INLINE void autograd_kernel(Call& c, void*);
/// Puts the results of a function on the tape, if an argument that requires a gradient flows into them.
TT_INLINE void record_function(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner,
                               const SymbolValues& symbols, const char* name, SourceLine at,
                               const Tensor* const* argument, int count, const Tensor* result);

/// Runs a function of Tensors some of which have tangents: puts its results on the tape, and sets their tangents.
TT_INLINE void run_on_duals(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols,
                            const char* name, SourceLine at, const Tensor* const* argument, int count, Tensor* result);

/// Which arguments require a gradient.
inline BitSet required_gradients(const Tensor* const* argument, int count) {
  BitSet required;
  for (int k = 0; k < count; ++k)
    if (argument[k]->impl().requires_grad) required.set(k);
  return required;
}

#if TT_DEFINES(autograd)

/// As FunctionNode, for functions of more arguments: captured ones, and steps of backward.
struct WideNode : TapeNode {
  const GraphFunction* function = nullptr;
  std::shared_ptr<const GraphFunction> owner;  ///< of the function, or of the one it is a derivative of; null: kept for ever
  SymbolValues symbols;
  std::vector<Edge> own_edge;
  std::vector<SavedTensor> saved;
};

/// The arguments and results whose elements the derivative of a function reads; of the others it reads the shape only.
struct Kept {
  BitSet arguments, results;
};
inline Kept kept_for(const GraphFunction& f, const BitSet& wanted, int arguments) {
  const GraphFunction::Derivative& d = f.derivative(wanted);
  Kept kept;
  for (int k = 0; k < arguments; ++k)
    if (d.function->reads(k)) kept.arguments.set(k);
  for (int k = 0; k < f.outputs() && d.by_results; ++k)
    if (d.function->reads(arguments + f.outputs() + k)) kept.results.set(k);
  return kept;
}
inline Kept kept_for(const Call& c) {
  const bool whatever_the_shapes = c.op->body || c.op->primitive != Op::input;
  const BitSet required = required_gradients(c.argument, c.arguments);
  SmallVec<DType, 4> dtype(c.arguments);
  for (int k = 0; k < c.arguments; ++k) dtype[k] = c[k].dtype();
  const Operator::ReadArguments* const first = whatever_the_shapes ? c.op->read_arguments.load(std::memory_order_acquire) : nullptr;
  for (const Operator::ReadArguments* known = first; known; known = known->next)
    if (known->required == required && std::equal(dtype.begin(), dtype.end(), known->dtype.begin(), known->dtype.end())) return {known->read, known->results};
  const BoundFunction f = bind_function(c);
  const Kept kept = kept_for(*f.function, required, c.arguments);
  if (whatever_the_shapes) {
    auto* fresh = new Operator::ReadArguments{dtype, required, kept.arguments, kept.results, first};
    if (!c.op->read_arguments.compare_exchange_strong(fresh->next, fresh, std::memory_order_acq_rel)) delete fresh;  // another thread was first
  }
  return kept;
}

inline void apply_function(TapeNode& base, Tensor* in, Tensor* out, bool taped);
inline bool release_function(TapeNode& base) {
  auto& n = static_cast<FunctionNode&>(base);
  bool any = false;
  for (int k = 0; k < n.saved_count(); ++k) any = n.saved()[k].release() || any;
  return any;
}
/// Releases saved Tensors; false: none had elements.
inline bool release_all(std::vector<SavedTensor>& saved) {
  bool any = false;
  for (SavedTensor& s : saved) any = std::exchange(s.tensor, Tensor()).defined() || any;
  return any;
}
inline bool add_view_to(TapeNode& base, const Tensor& in, Tensor& sum);
inline const TapeNodeKind function_kind{
    &apply_function, &release_function,
    [](TapeNode* n) {
      auto* own = static_cast<FunctionNode*>(n);
      const std::size_t bytes = FunctionNode::bytes(own->saved_count(), own->arguments, own->attributes, own->extents);
      release_function(*n);
      own->~FunctionNode();
      tt::detail::CachingAllocator::get().free(own, bytes);
    },
    [](TapeNode& base, int result, const Tensor& from) {
      auto& n = static_cast<FunctionNode&>(base);
      if (!n.keeps_results) return;
      if (PackedArgument& kept = n.saved()[n.arguments + result]; kept.form != PackedArgument::Form::shape) kept.keep_tangent(from);
    },
    nullptr, nullptr, &add_view_to};
inline FunctionNode* make_function_node(const Call& c, int saved, int extents) {
  const int attributes = c.attrs().size();
  auto* n = ::new (tt::detail::CachingAllocator::get().allocate(FunctionNode::bytes(saved, c.arguments, attributes, extents))) FunctionNode;
  n->kind = &function_kind;
  n->keeps_results = saved > c.arguments;
  n->op = c.op;
  n->name = c.op->name();
  n->where = c.at;
  n->results = c.op->results;
  n->arguments = static_cast<std::int16_t>(c.arguments);
  n->attributes = static_cast<std::int16_t>(attributes);
  n->extents = extents;
  for (int k = 0; k < saved; ++k) ::new (n->saved() + k) PackedArgument;
  for (int k = 0; k < c.arguments; ++k) ::new (n->own_edge() + k) Edge;
  for (int k = 0; k < attributes; ++k) n->attribute()[k] = c.attrs().value[k];
  ++tape_node_count();
  return n;
}

/// Makes `node`, a new one, the history of a call's results that can have a gradient.
inline void give_results(NodeHandle node, const Call& c) {
  set_histories(static_cast<NodeHandle&&>(node), c.result, c.op->results, [&](int k) { return is_floating(c.result[k].dtype()); });
}

/// Puts the results of a call on the tape.
inline void record_call(const Call& c) {
  const Kept kept = kept_for(c);
  const int saved = c.arguments + (kept.results.empty() ? 0 : c.op->results);
  const auto tensor = [&](int k) -> const Tensor& { return k < c.arguments ? c[k] : c.result[k - c.arguments]; };
  SmallVec<PackedArgument::Form, few_arguments> form(saved);
  int extents = 0;
  for (int k = 0; k < saved; ++k) {
    form[k] = PackedArgument::form_of(tensor(k), k < c.arguments ? kept.arguments.test(k) : kept.results.test(k - c.arguments));
    if (form[k] != PackedArgument::Form::handle) extents += tensor(k).dim();
  }
  FunctionNode* n = make_function_node(c, saved, extents);
  NodeHandle owner = NodeHandle::of_new(n);
  std::int64_t* extent = n->extent();
  for (int k = 0; k < saved; ++k) {
    n->saved()[k].save(k < c.arguments || tensor(k).impl().storage ? tensor(k) : without_history(tensor(k)), form[k], extent, *n);
    extent += n->saved()[k].rank;
  }
  connect(*n, n->own_edge(), c.argument, c.arguments);
  give_results(static_cast<NodeHandle&&>(owner), c);
}

/// An op with a derivative of its own.
struct OwnNode : TapeNode {
  const Operator* op = nullptr;
  Attributes attributes;
  std::vector<SavedTensor> argument, result;
  std::vector<Edge> own_edge;
  int arguments() const { return static_cast<int>(argument.size()); }
};
inline void keep_own_tangent(TapeNode& base, int result, const Tensor& from) {
  if (const SavedTensor& s = static_cast<OwnNode&>(base).result[static_cast<std::size_t>(result)]; s.tensor.defined()) take_tangent(s.tensor, from);
}
inline const TapeNodeKind own_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool taped) {
      auto& n = static_cast<OwnNode&>(base);
      SmallVec<Tensor, few_arguments> argument(n.arguments());
      SmallVec<Tensor, few_results> result(n.results);
      const SavedArguments saved(n.argument.data(), n.arguments()), given(n.result.data(), n.results);
      for (int k = 0; k < n.arguments(); ++k) {
        saved.check(n, k);
        argument[k] = saved[k];
      }
      for (int k = 0; k < n.results; ++k) {
        given.check(n, k, "result");
        result[k] = given[k];
        if (taped && n.op->keeps_values && is_floating(result[k].dtype())) {
          result[k] = off_tape(result[k]);
          set_history(result[k], &n, k);
        }
      }
      if (!n.op->derivative) TT_THROW(Error(Text("tt::") << n.name << ": the op has a kernel, and no derivative. Give its struct one?" << n.where));
      n.op->derivative({n.op, &n.attributes, argument.data(), result.data(), n.arguments(), in, {out, n.arguments(), n.name}, n.where});
      for (int k = 0; k < n.arguments(); ++k)
        if (out[k].defined() && !fit_gradient(out[k], argument[k].dtype(), argument[k].impl().shape, n.where))
          TT_THROW(Error(Text("tt::") << n.name << ": its derivative gives a gradient of shape " << out[k].shape() << " for argument " << k + 1 << ", of shape " << argument[k].shape() << "." << n.where));
    },
    [](TapeNode& base) {
      auto& n = static_cast<OwnNode&>(base);
      const bool any = release_all(n.argument);
      return release_all(n.result) || any;
    },
    [](TapeNode* n) { delete static_cast<OwnNode*>(n); }, &keep_own_tangent};
/// Puts the results of a call on the tape; DerivativeStep says which values are kept.
inline void record_own(const Call& c) {
  auto* n = new OwnNode;
  NodeHandle owner = NodeHandle::of_new(n);
  n->kind = &own_kind;
  n->op = c.op;
  n->name = c.op->name();
  n->where = c.at;
  n->results = c.op->results;
  n->attributes = c.attrs();
  n->argument.resize(static_cast<std::size_t>(c.arguments));
  n->own_edge.resize(static_cast<std::size_t>(c.arguments));
  n->result.resize(static_cast<std::size_t>(c.op->results));
  const auto save = [n](SavedTensor& to, const Tensor& t) {
    if (is_floating(t.dtype()) && !n->op->keeps_values) to.save_shape(t);
    else to.save(t, *n);
  };
  for (int k = 0; k < c.arguments; ++k) save(n->argument[static_cast<std::size_t>(k)], c[k]);
  for (int k = 0; k < c.op->results; ++k) save(n->result[static_cast<std::size_t>(k)], c.op->keeps_values ? c.result[k].detach() : c.result[k]);  // no cycle
  connect(*n, n->own_edge.data(), c.argument, c.arguments);
  ++tape_node_count();
  give_results(static_cast<NodeHandle&&>(owner), c);
}

/// An op with any number of arguments, whose gradients are parts of the result's: a node for each argument, which passes the argument's
/// part on by one edge, and the whole gradient by the other, to the node of the argument before it.
struct JoinNode : TapeNode {
  struct Joined {
    const Operator* op;
    Attributes attributes;
    std::vector<SavedTensor> argument;
    /// The arguments as Tensors without elements, made when the first of them is asked for.
    const Tensor* tensors() {
      const tt::detail::FlagLock lock(busy);
      if (made.empty())
        for (const SavedTensor& s : argument) made.push_back(Tensor(s.dtype, s.shape, {DeviceType::meta, 0}));
      return made.data();
    }

   private:
    std::vector<Tensor> made;
    tt::detail::BusyFlag busy;
  };
  std::shared_ptr<Joined> all;
  int number = 0;  ///< of the argument
  Edge own_edge[2];
};
inline const TapeNodeKind join_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool) {
      auto& n = static_cast<JoinNode&>(base);
      JoinNode::Joined& j = *n.all;
      j.op->derivative({j.op, &j.attributes, j.tensors(), nullptr, static_cast<int>(j.argument.size()), in, {&out[1], 1, n.name}, n.where, n.number});
      out[0] = in[0];
    },
    &keep_nothing, [](TapeNode* n) { delete static_cast<JoinNode*>(n); }};
inline void record_join(const Call& c) {
  auto all = std::make_shared<JoinNode::Joined>();
  all->op = c.op;
  all->attributes = c.attrs();
  all->argument.resize(static_cast<std::size_t>(c.arguments));
  for (int k = 0; k < c.arguments; ++k) all->argument[static_cast<std::size_t>(k)].save_shape(c[k]);
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
  if (!needed || !DispatchState::of_this_thread().grad_enabled || c.op->cuts_history) return;
  bool floating = false;
  for (int k = 0; k < c.op->results; ++k) floating = floating || is_floating(c.result[k].dtype());
  if (!floating) return;
  if (c.op->variadic && c.op->derivative) record_join(c);
  else if (c.op->derivative || !c.op->record) record_own(c);  // one without a derivative says so in backward
  else record_call(c);
}

/// One step of backward: the derivative of a function on saved arguments, maybe saved results, and the gradients `in` of its
/// results; `out` gets one for each argument that has an edge and flows into a result.
inline void run_derivative(TapeNode& n, const BoundFunction& f, const std::shared_ptr<const GraphFunction>& owner,
                           const SavedArguments& saved, Tensor* in, Tensor* out, bool taped);

inline void apply_function(TapeNode& base, Tensor* in, Tensor* out, bool taped) {
  auto& n = static_cast<FunctionNode&>(base);
  SavedArguments saved(n.saved(), n.extent(), n.saved_count(), n.own_edge(), taped ? n.arguments : 0);
  const Attributes attributes = n.saved_attributes();
  if (!taped)
    if (Tensor back = exchanged_back(n, saved, attributes, in[0]); back.defined()) return void(out[0] = static_cast<Tensor&&>(back));
  const tt::detail::MemoryOrder order = order_of_step(n, saved, in[0], taped);
  const bool reordered = !order.is_row_major();
  if (reordered) {
    for (int k = 0; k < saved.size(); ++k) saved.check(n, k, k < n.arguments ? "argument" : "result", k < n.arguments ? 0 : n.arguments);
    saved.reorder(order);
    in[0] = tt::detail::in_order(in[0], order);
  }
  const BoundFunction f = bind_function({n.op, saved.data(), n.arguments, &attributes, nullptr, n.where, {}});
  run_derivative(n, f, taped ? f.function->shared_from_this() : nullptr, saved, in, out, taped);
  for (int k = 0; reordered && k < n.edges; ++k)
    if (out[k].defined()) out[k] = tt::detail::out_of_order(out[k], order);
}
/// May an element be -0? True without looking on devices, and of Tensors that are not contiguous.
inline bool may_have_negative_zero(const Tensor& t) {
  if (!is_host(t.device()) || !t.is_contiguous()) return true;
  const auto among = [&]<class Bits>(Bits zero) {
    constexpr std::int64_t block = 4096;  // a vectorised loop each
    const auto* const x = reinterpret_cast<const Bits*>(t.impl().data);
    for (std::int64_t begin = 0; begin < t.impl().numel; begin += block) {
      const std::int64_t end = std::min(begin + block, t.impl().numel);
      Bits found = 0;
      for (std::int64_t k = begin; k < end; ++k) found |= static_cast<Bits>(x[k] == zero);
      if (found) return true;
    }
    return false;
  };
  switch (size_of(t.dtype())) {
    case 2: return among(std::uint16_t{0x8000});
    case 4: return among(std::uint32_t{1} << 31);
    default: return among(std::uint64_t{1} << 63);
  }
}
/// See TapeNodeKind::add_to. Zeros are made for large gradients only: for small ones the derivative's program is one call, and this three.
inline bool add_view_to(TapeNode& base, const Tensor& in, Tensor& sum) {
  auto& n = static_cast<FunctionNode&>(base);
  if (!n.op->is_view || n.arguments != 1) return false;
  constexpr std::int64_t large = 1 << 14;
  const SavedArguments saved(n.saved(), n.extent(), n.saved_count(), n.own_edge(), 0);
  const tt::detail::TensorImpl& of = saved[0].impl();
  if (in.impl().numel >= of.numel || in.dtype() != of.dtype) return false;
  if (sum.defined() ? !(sum.impl().shape == of.shape) || sum.dtype() != in.dtype() : of.numel < large) return false;
  const Attributes attributes = n.saved_attributes();
  Tensor whole = sum.defined() ? sum : zeros(of.shape, {.dtype = in.dtype(), .device = in.device()});
  const Tensor* const argument = &whole;
  Tensor part = tt::detail::call_operator(*n.op, &argument, 1, attributes, n.where).detach();
  if (part.impl().storage != whole.impl().storage || !(part.impl().shape == in.impl().shape) || part.dtype() != in.dtype() || tt::detail::has_repeats(part.impl())) return false;
  if (sum.defined()) {
    part.add_(in, n.where);
  } else {
    part.copy_(in, n.where);
    sum = whole;
  }
  return true;
}
inline const TapeNodeKind wide_kind{
    [](TapeNode& base, Tensor* in, Tensor* out, bool taped) {
      auto& n = static_cast<WideNode&>(base);
      const SavedArguments saved(n.saved.data(), static_cast<int>(n.saved.size()));
      run_derivative(n, {n.function, n.symbols}, n.owner, saved, in, out, taped);
    },
    [](TapeNode& n) { return release_all(static_cast<WideNode&>(n).saved); },
    [](TapeNode* n) { delete static_cast<WideNode*>(n); },
    [](TapeNode& base, int result, const Tensor& from) {
      auto& n = static_cast<WideNode&>(base);
      const std::size_t at = n.own_edge.size() + static_cast<std::size_t>(result);
      if (n.keeps_results && n.saved[at].tensor.defined()) take_tangent(n.saved[at].tensor, from);
    }};

TT_INLINE void record_function(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols,
                            const char* name, SourceLine at, const Tensor* const* argument, int count, const Tensor* result) {
  const BitSet required = required_gradients(argument, count);
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
  const Kept kept = kept_for(f, required, count);
  n->keeps_results = !kept.results.empty();
  n->saved.resize(static_cast<std::size_t>(count + (n->keeps_results ? f.outputs() : 0)));
  for (int k = 0; k < count; ++k) {
    SavedTensor& s = n->saved[static_cast<std::size_t>(k)];
    if (kept.arguments.test(k)) s.save(*argument[k], *n);
    else s.save_shape(*argument[k]);
  }
  for (int k = 0; k < f.outputs() && n->keeps_results; ++k) {
    SavedTensor& s = n->saved[static_cast<std::size_t>(count + k)];
    if (kept.results.test(k)) s.save(without_history(result[k]), *n);
    else s.save_shape(result[k]);
  }
  connect(*n, n->own_edge.data(), argument, count);
  ++tape_node_count();
  set_histories(static_cast<NodeHandle&&>(owner_of_node), result, f.outputs(), [&](int k) { return f.flows_into(k).meets(required); });
}

TT_INLINE void run_on_duals(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols, const char* name, SourceLine at,
                            const Tensor* const* argument, int count, Tensor* result) {
  if (has_effects(f.graph())) TT_THROW(Error(Text("tt::") << name << ": the graph draws random numbers, and has no tangents then: they would be those of other draws. Call the function itself?" << at));
  f.run(argument, symbols, result);
  if (DispatchState::of_this_thread().grad_enabled && !required_gradients(argument, count).empty()) record_function(f, owner, symbols, name, at, argument, count, result);
  dual_rules.load(std::memory_order_acquire)->function(f, owner, symbols, name, at, argument, count, result);
}

/// The device of the gradients of a node's results.
inline Device device_of_gradients(int results, const Tensor* in) {
  for (int k = 0; k < results; ++k)
    if (in[k].defined()) return in[k].device();
  return {};
}
/// The gradient of result k as a step of backward takes it: contiguous, zeros where there is none.
inline void fill_gradient(const GraphFunction& f, const SymbolValues& symbols, int results, Tensor* in, int k) {
  if (!in[k].defined())
    in[k] = full(f.output_shape(k, symbols), 0,
                 tt::detail::on_device(f.graph()[f.graph().outputs[k]].dtype, device_of_gradients(results, in)));
  if (!in[k].impl().contiguous) in[k] = in[k].contiguous();
}
/// Runs a step of backward, records it if it is taped, and puts its results in `out`, for the arguments `given`. A step that
/// reads nothing (zeros: the gradient of an empty slice) runs on the device of the gradients `in`.
inline void run_step(TapeNode& n, const GraphFunction& f, const BitSet& given, const std::shared_ptr<const GraphFunction>& owner,
                     const SymbolValues& symbols, const Tensor* const* argument, int count, const Tensor* in, Tensor* out, bool taped) {
  SmallVec<Tensor, few_arguments> result(f.outputs());
  f.run(argument, symbols, result.data(), device_of_gradients(n.results, in));
  bool needed = false;
  for (int k = 0; k < count && taped; ++k) needed = needed || argument[k]->impl().requires_grad;
  if (needed) record_function(f, owner, symbols, n.name, n.where, argument, count, result.data());
  if (const DualRules* const rules = dual_rules.load(std::memory_order_acquire); rules && may_be_dual(argument, count))
    rules->function(f, owner, symbols, n.name, n.where, argument, count, result.data());
  int at = 0;
  for (int k : given) out[k] = static_cast<Tensor&&>(result[at++]);
}

inline void run_derivative(TapeNode& n, const BoundFunction& f, const std::shared_ptr<const GraphFunction>& owner,
                           const SavedArguments& saved, Tensor* in, Tensor* out, bool taped) {
  const int arguments = n.edges;
  SmallVec<const Tensor*, 16> argument;
  BitSet wanted;
  for (int k = 0; k < arguments; ++k) {
    argument.push_back(&saved[k]);
    if (n.edge[k].node) wanted.set(k);
  }
  const GraphFunction::Derivative& d = f.function->derivative(wanted);
  for (int k = 0; k < n.results; ++k) {
    fill_gradient(*f.function, f.symbols, n.results, in, k);
    argument.push_back(&in[k]);
  }
  for (int k = 0; k < arguments; ++k)
    if (d.function->reads(k)) saved.check(n, k);
  SmallVec<Tensor, few_results> result(d.by_results ? n.results : 0);
  for (int k = 0; k < result.size(); ++k) {
    result[k] = saved[arguments + k];
    argument.push_back(&result[k]);
    if (!d.function->reads(arguments + n.results + k)) continue;
    saved.check(n, arguments + k, "result", arguments);
    if (taped) {
      result[k] = off_tape(result[k]);
      set_history(result[k], &n, k);
    }
    if (!result[k].impl().contiguous) result[k] = result[k].contiguous();
  }
  run_step(n, *d.function, d.given, owner, f.symbols, argument.data(), argument.size(), in, out, taped);
}

#endif

}  // namespace autograd
}  // namespace tt
