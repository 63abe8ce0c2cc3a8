// A compiled function on the tape: one node that runs the forward half of a joint graph and keeps the arguments
// of the backward half, as graph/partition.hpp chose them: some inputs, some results, and saved intermediate
// values. Inputs that neither the backward nor a backward of it may read are not kept.
//
// Derivatives of any order: saved values are results of the node too, so that a second backward can send gradients
// to them: where backward is taped, the Tensors it reads have this node as their history. Such gradients run another
// backward, which takes adjoints of saved values besides those of results, and is made when first needed. So do gradients
// of some results only: a result without a gradient has no part in it, where zeros would make NaN of infinities.
#pragma once
#include "tt/autograd/tape.hpp"

namespace tt {
namespace autograd {

/// Runs a function on Tensors some of which require a gradient, and puts its results on the tape.
TT_INLINE void run_on_tape(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols,
                           const char* name, SourceLine at, const Tensor* const* argument, int count, Tensor* result);

#if TT_DEFINES(autograd)

struct JointNode : TapeNode {
  const GraphFunction* function = nullptr;
  const GraphFunction::Joint* joint = nullptr;
  std::shared_ptr<const GraphFunction> owner;  ///< null: kept for ever
  SymbolValues symbols;
  std::vector<Edge> own_edge;
  std::vector<SavedTensor> kept, saved;  ///< as listed by `joint` and by its first backward
  BitSet had;                            ///< results whose gradients have come, in this backward or an earlier one
};

inline void run_backward(JointNode& n, Tensor* in, Tensor* out, bool taped) {
  const GraphFunction::Joint& joint = *n.joint;
  BitSet seeded;
  for (int k = 0; k < n.results; ++k)
    if (in[k].defined() && is_floating(in[k].dtype()) && joint.forward->flows_into(k).meets(joint.wanted)) seeded.set(k);
  const GraphFunction::Joint::Backward& backward = n.function->backward(joint, seeded);
  if (backward.given.empty()) return;
  SmallVec<const Tensor*, 16> argument(backward.inputs.size() + backward.saved.size() + backward.adjoints.size());
  std::vector<Tensor> with_history;
  with_history.reserve(taped ? static_cast<std::size_t>(backward.saved.size()) : 0);
  int count = 0;
  for (int i = 0; i < backward.inputs.size(); ++i) {
    const SavedTensor& s = n.kept[static_cast<std::size_t>(backward.kept_at[i])];
    s.check(n, backward.inputs[i]);
    argument[count++] = &s.tensor;
  }
  for (int i = 0; i < backward.saved.size(); ++i) {
    const int k = backward.saved[i];
    const SavedTensor& s = n.saved[static_cast<std::size_t>(backward.saved_at[i])];
    s.check(n, k, "result");
    argument[count++] = &s.tensor;
    if (!taped || !joint.forward->flows_into(k).meets(joint.wanted)) continue;
    with_history.push_back(without_history(s.tensor));
    set_history(with_history.back(), &n, k);
    argument[count - 1] = &with_history.back();
  }
  for (int k : backward.adjoints) {
    if (!in[k].impl().contiguous) in[k] = in[k].contiguous();
    argument[count++] = &in[k];
  }
  run_step(n, *backward.function, backward.given, n.owner, n.symbols, argument.data(), count, in, out, taped);
}
/// An argument that flows into no result with a gradient gets none (not zeros), as from eager ops.
inline void apply_joint(TapeNode& base, Tensor* in, Tensor* out, bool taped) {
  auto& n = static_cast<JointNode&>(base);
  BitSet reached;
  for (int k = 0; k < n.results; ++k)
    if (in[k].defined()) reached |= n.joint->forward->flows_into(k);
  run_backward(n, in, out, taped);
  for (int k = 0; k < n.edges; ++k)
    if (!reached.test(k)) out[k] = Tensor();
}

inline const TapeNodeKind joint_kind{
    &apply_joint,
    [](TapeNode& base) {
      auto& n = static_cast<JointNode&>(base);
      const bool any = release_all(n.kept);
      return release_all(n.saved) || any;
    },
    [](TapeNode* n) { delete static_cast<JointNode*>(n); },
    nullptr,
    [](TapeNode& base, const Tensor* in) {
      auto& n = static_cast<JointNode&>(base);
      bool some = false;
      for (int k = 0; k < n.function->outputs(); ++k) {
        if (in[k].defined()) n.had.set(k);
        some = some || (!n.had.test(k) && n.joint->forward->flows_into(k).meets(n.joint->wanted));
      }
      return some;
    },
    [](const TapeNode& base, const Tensor* in, int result) {
      const auto& n = static_cast<const JointNode&>(base);
      const Graph& g = n.joint->forward->graph();
      std::vector<char> hangs(static_cast<std::size_t>(g.size()), 0);
      const auto node = [&](int k) { return static_cast<std::size_t>(g.outputs[k]); };
      hangs[node(result)] = 1;
      for (int i = g.outputs[result] + 1; i < g.size(); ++i)
        for (const int o : g.operands(i)) hangs[static_cast<std::size_t>(i)] |= is_floating(g[i].dtype) && g[i].op != Op::detach && hangs[static_cast<std::size_t>(o)];
      bool any = false;
      for (int k = 0; k < n.results; ++k) any = any || (node(k) != node(result) && in[k].defined() && hangs[node(k)]);
      return any;
    }};

TT_INLINE void run_on_tape(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols,
                           const char* name, SourceLine at, const Tensor* const* argument, int count, Tensor* result) {
  const BitSet required = required_gradients(argument, count);
  const GraphFunction::Joint* const joint = f.joint(required, symbols);
  if (!joint) {
    f.run(argument, symbols, result);
    return record_function(f, owner, symbols, name, at, argument, count, result);
  }
  auto* n = new JointNode;
  n->kind = &joint_kind;
  NodeHandle handle = NodeHandle::of_new(n);
  n->name = name;
  n->where = at;
  n->results = joint->forward->outputs();
  n->function = &f;
  n->joint = joint;
  n->owner = owner;
  n->symbols = symbols;
  n->own_edge.resize(static_cast<std::size_t>(count));
  n->kept.resize(static_cast<std::size_t>(joint->kept.size()));
  n->saved.resize(static_cast<std::size_t>(joint->first.saved.size()));
  for (int k = 0; k < joint->kept.size(); ++k) n->kept[static_cast<std::size_t>(k)].save(*argument[joint->kept[k]], *n);
  std::vector<Tensor> made(static_cast<std::size_t>(joint->forward->outputs()));
  joint->forward->run(argument, symbols, made.data());
  for (int k = 0; k < joint->first.saved.size(); ++k) {
    const int index = joint->first.saved[k];
    const Tensor& value = made[static_cast<std::size_t>(index)];
    n->saved[static_cast<std::size_t>(k)].save(index < f.outputs() ? without_history(value) : value, *n);
  }
  connect(*n, n->own_edge.data(), argument, count);
  ++tape_node_count();
  saved_value_count() += joint->first.saved.size();
  for (int k = 0; k < f.outputs(); ++k) result[k] = static_cast<Tensor&&>(made[static_cast<std::size_t>(k)]);
  set_histories(static_cast<NodeHandle&&>(handle), result, f.outputs(), [&](int k) { return f.flows_into(k).meets(required); });
}

#endif

}  // namespace autograd
}  // namespace tt
