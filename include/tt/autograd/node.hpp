// The tape: nodes that know how to turn the gradients of an op's results into those of its arguments,
// and edges to the nodes that made the arguments. Edges lead to older nodes only; neither backward nor
// destruction needs recursion.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "tt/autograd/dual_list.hpp"
#include "tt/autograd/history.hpp"
#include "tt/dispatch/graph_function.hpp"

namespace tt {

namespace autograd {

struct TapeNode;

/// The functions of a kind of node.
struct TapeNodeKind {
  /// Gradients of the results in (undefined: zero), those of the arguments out; `taped`: the steps
  /// are recorded too.
  void (*apply)(TapeNode&, Tensor* in, Tensor* out, bool taped);
  bool (*release_saved)(TapeNode&);  ///< after a backward that does not retain the graph; false: nothing was saved, and the node may run again
  void (*destroy)(TapeNode*);        ///< frees the node itself; its edges are gone already
  void (*keep_tangent)(TapeNode&, int result, const Tensor&) = nullptr;  ///< gives a saved result its tangent: see dual.hpp
  bool (*in_parts)(TapeNode&, const Tensor* in) = nullptr;  ///< a compiled program: may a later backward bring gradients of other results?
  bool (*hides)(const TapeNode&, const Tensor* in, int result) = nullptr;  ///< a compiled program: does a result with a gradient depend on this one, inside it?
  bool (*add_to)(TapeNode&, const Tensor& in, Tensor& sum) = nullptr;  ///< a view: adds `in` to its elements of `sum` (undefined: zeros). False: not done
};

struct Edge {
  TapeNode* node = nullptr;
  int result = 0;  ///< which result of that node
};

struct Pending;
struct Hook {
  int result = 0;
  TensorHook function{};
  std::weak_ptr<Tensor> retained{};  ///< or the gradient is collected here, after all hooks, as long as its Tensor lives: see retain_grad
  unsigned id = 0;
};

struct TapeNode {
  const TapeNodeKind* kind = nullptr;
  const char* name = "";
  SourceLine where{};
  std::atomic<std::int32_t> uses{1};
  int results = 1, edges = 0;
  bool released = false;
  bool placed = false, needed = false;  ///< notes of the pass in `seen_by`
  bool keeps_results = false;           ///< of an op's or a function's node: its derivative reads results
  Edge* edge = nullptr;        ///< memory of the derived node
  Pending* pending = nullptr;  ///< of the backward pass that runs now
  std::vector<Hook>* hooks = nullptr;
  std::uint64_t seen_by = 0;   ///< the last pass that came here

  void retain() { uses.fetch_add(1, std::memory_order_relaxed); }
  /// While no other thread can know of the node: a locked instruction is a tenth of recording a light op.
  void count_new(int change) { uses.store(uses.load(std::memory_order_relaxed) + change, std::memory_order_relaxed); }
};

/// Tells backward passes apart.
inline std::uint64_t next_pass() {
  static std::atomic<std::uint64_t> number = 1;
  return number.fetch_add(1, std::memory_order_relaxed);
}
/// Releases a reference to a node. Nodes without one are freed in a loop, not recursively: chains may be millions of nodes long.
inline void release(TapeNode* node) {
  if (!node) return;
  if (node->uses.load(std::memory_order_acquire) != 1 &&  // else nobody is left who could take another reference
      node->uses.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  thread_local TapeNode* list = nullptr;  // linked through `pending`
  thread_local bool draining = false;
  node->pending = reinterpret_cast<Pending*>(list);
  list = node;
  if (draining) return;
  draining = true;
  while (TapeNode* n = list) {
    list = reinterpret_cast<TapeNode*>(n->pending);
    for (int k = 0; k < n->edges; ++k) release(n->edge[k].node);
    delete n->hooks;
    n->kind->destroy(n);
  }
  draining = false;
}

/// A counted reference to a node.
class NodeHandle {
 public:
  NodeHandle() = default;
  explicit NodeHandle(TapeNode* n) : node_(n) {
    if (n) n->retain();
  }
  /// Takes over the reference that a node is made with.
  static NodeHandle of_new(TapeNode* n) {
    NodeHandle h;
    h.node_ = n;
    return h;
  }
  NodeHandle(const NodeHandle& o) : NodeHandle(o.node_) {}
  NodeHandle(NodeHandle&& o) noexcept : node_(o.detach()) {}
  NodeHandle& operator=(NodeHandle o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~NodeHandle() { release(node_); }
  TapeNode* get() const { return node_; }
  /// The reference is the caller's.
  TapeNode* detach() { return std::exchange(node_, nullptr); }

 private:
  TapeNode* node_ = nullptr;
};

/// The node that collects a leaf's gradient.
struct AccumulateNode : TapeNode {
  Tensor grad;
  std::atomic<bool> frozen = false;  ///< the leaf requires none any more, or is gone
  tt::detail::BusyFlag busy;
};

/// The part of a Tensor that the tape uses: the node that made the Tensor, or its leaf, and its tangent.
struct Meta : tt::detail::AutogradMeta {
  TapeNode* made_by = nullptr;  ///< null: a leaf
  int result = 0;
  AccumulateNode* leaf = nullptr;
  std::shared_ptr<Tensor> retained;  ///< the gradient of a Tensor that is not a leaf, after retain_grad
  std::unique_ptr<Dual> dual;
};

inline Meta& meta_of(const Tensor& t) {
  tt::detail::TensorImpl& impl = t.impl();
  if (!impl.autograd) {
    auto* m = ::new (tt::detail::CachingAllocator::get().allocate(sizeof(Meta))) Meta;
    m->destroy = [](tt::detail::AutogradMeta* base) {
      auto* own = static_cast<Meta*>(base);
      release(own->made_by);
      if (own->leaf) own->leaf->frozen = true;  // nobody can ask for its gradient
      release(own->leaf);
      own->~Meta();
      tt::detail::CachingAllocator::get().free(own, sizeof(Meta));
    };
    m->made_by_name = [](const tt::detail::AutogradMeta& base) {
      const TapeNode* node = static_cast<const Meta&>(base).made_by;
      return node ? node->name : nullptr;
    };
    impl.autograd = m;
  }
  return *static_cast<Meta*>(impl.autograd);
}

/// The tangent's Dual; null: `t` has none, or its level has ended.
inline const Dual* dual_of(const Tensor& t) {
  if (!may_be_dual(t)) return nullptr;
  const Dual* const d = meta_of(t).dual.get();
  return d && d->level->is_open() ? d : nullptr;
}
/// With an undefined tangent `t` is no dual any more.
inline void set_tangent(const Tensor& t, const Tensor& tangent, const std::shared_ptr<DualList>& level) {
  tt::detail::TensorImpl& impl = t.impl();
  if (!tangent.defined() && !may_be_dual(t)) return;
  Meta& m = meta_of(t);
  m.dual = nullptr;
  impl.keys = impl.keys.without(DispatchKey::forward);
  if (tangent.defined()) m.dual = std::make_unique<Dual>(tangent, level, impl);
}
inline void take_tangent(const Tensor& to, const Tensor& from) {
  const Dual* const d = dual_of(from);
  if (!d || to.is_same(from)) return;
  d->shared = true;
  set_tangent(to, d->tangent, d->level);
}

/// Exchanges histories and tangents of two Tensors.
inline void swap_histories(tt::detail::TensorImpl& a, tt::detail::TensorImpl& b) {
  std::swap(a.autograd, b.autograd);
  for (tt::detail::TensorImpl* t : {&a, &b})
    if (Dual* const d = t->autograd ? static_cast<Meta*>(t->autograd)->dual.get() : nullptr) d->of = t;
}

/// The functions of the tape for dual Tensors.
struct DualRules {
  /// Sets the tangents of a function's results on these arguments.
  void (*function)(const GraphFunction& f, const std::shared_ptr<const GraphFunction>& owner, const SymbolValues& symbols, const char* name, SourceLine at,
                   const Tensor* const* argument, int count, const Tensor* result) = nullptr;
  /// Calls f(arguments), which puts its results on the tape and returns them, and sets their tangents: by `jvp`, or, if that is null, by the backward.
  void (*custom)(const Tensor* const* argument, int count, CallableRef<std::span<Tensor>(const Tensor* const*)> f, const CustomTangents* jvp) = nullptr;
  /// The elements that were written to `target` get the tangent of `value`.
  void (*adopt)(const Tensor& target, const Tensor& value) = nullptr;
  /// Sets the tangent of a view that was made without an op.
  void (*view)(const Tensor& view) = nullptr;
};
/// Null until the first level: programs without any have no code for duals.
inline std::atomic<const DualRules*> dual_rules = nullptr;

inline bool keep_nothing(TapeNode&) { return false; }
inline const TapeNodeKind accumulate_kind{
    [](TapeNode& n, Tensor* in, Tensor*, bool taped) {
      auto& leaf = static_cast<AccumulateNode&>(n);
      if (!in[0].defined() || leaf.frozen) return;
      const tt::detail::FlagLock lock(leaf.busy);  // threads may share the leaf
      Tensor& grad = leaf.grad;
      const tt::detail::TensorImpl& impl = in[0].impl();
      const bool free_to_take = impl.uses == 1 && impl.storage && impl.storage->uses == 1 && taped >= impl.requires_grad;
      if (!grad.defined()) grad = free_to_take ? static_cast<Tensor&&>(in[0]) : in[0].clone();
      else if (taped || grad.impl().requires_grad || may_be_dual(grad) || may_be_dual(in[0]) || has_repeats(grad.impl())) grad = grad + in[0];
      else grad += in[0];  // in place: whoever holds grad() sees the sum
    },
    &keep_nothing,
    [](TapeNode* n) { delete static_cast<AccumulateNode*>(n); }};

/// The node that a gradient of `t` goes to.
inline Edge edge_of(const Tensor& t) {
  Meta& m = meta_of(t);
  if (m.made_by) return {m.made_by, m.result};
  if (!m.leaf) {
    m.leaf = new AccumulateNode;
    m.leaf->kind = &accumulate_kind;
    m.leaf->name = "AccumulateGrad";
  }
  return {m.leaf, 0};
}
/// Returns the hook's id.
inline unsigned add_hook(const Edge& e, Hook hook) {
  static std::atomic<unsigned> last = 0;
  if (!e.node->hooks) e.node->hooks = new std::vector<Hook>;
  hook.result = e.result;
  hook.id = last.fetch_add(1, std::memory_order_relaxed) + 1;
  e.node->hooks->push_back(hook);
  return hook.id;
}
/// The retained gradient of a Tensor that is changed in place is that of its new value; `from`: the node of the old one.
inline void move_retained(const std::shared_ptr<Tensor>& retained, TapeNode* from, const Edge& to) {
  if (from && from->hooks) std::erase_if(*from->hooks, [&](const Hook& h) { return h.retained.lock() == retained; });
  add_hook(to, {.retained = retained});
}
/// From now on `t` is result `index` of `node`, and has one of its references.
inline void take_history(const Tensor& t, TapeNode* node, int index) {
  Meta& m = meta_of(t);
  if (m.retained) [[unlikely]] move_retained(m.retained, m.made_by, {node, index});
  release(m.made_by);
  m.made_by = node;
  m.result = index;
  t.impl().requires_grad = true;
  t.impl().keys = t.impl().keys | DispatchKey::autograd;
}
/// From now on `t` is result `index` of `node`.
inline void set_history(const Tensor& t, TapeNode* node, int index) {
  node->retain();
  take_history(t, node, index);
}
/// From now on the results k for which has(k) are those of `node`, which is new: no other thread knows it.
inline void set_histories(NodeHandle node, const Tensor* result, int count, const auto& has) {
  for (int k = 0; k < count; ++k) {
    if (!has(k)) continue;
    (void)meta_of(result[k]);  // which may throw
    node.get()->count_new(1);
    take_history(result[k], node.get(), k);  // two results may be one Tensor: then the earlier reference is released
  }
  if (node.get()->uses.load(std::memory_order_relaxed) > 1) node.detach()->count_new(-1);
}
/// From now on `t` has no history, and requires no gradient.
inline void forget_history(const Tensor& t) {
  Meta& m = meta_of(t);
  TapeNode* const before = m.made_by;
  m.made_by = nullptr;
  m.retained = nullptr;
  if (m.leaf) m.leaf->frozen = true;
  t.impl().requires_grad = false;
  t.impl().keys = t.impl().keys.without(DispatchKey::autograd);
  release(before);
}
/// `target` and its view have exchanged histories: the retained gradient goes back to `target`.
inline void keep_retained(const Tensor& target, const Tensor& view) {
  Meta &now = meta_of(target), &before = meta_of(view);
  now.retained = static_cast<std::shared_ptr<Tensor>&&>(before.retained);
  if (now.made_by) move_retained(now.retained, before.made_by, {now.made_by, now.result});
}
inline void connect(TapeNode& node, Edge* edges, const Tensor* const* argument, int count) {
  node.edge = edges;
  node.edges = count;
  for (int k = 0; k < count; ++k) {
    if (!argument[k]->impl().requires_grad) continue;
    node.edge[k] = edge_of(*argument[k]);
    node.edge[k].node->retain();
  }
}

/// The same elements without a history: a node that held its own result would never be freed.
inline Tensor without_history(const Tensor& t) {
  return tt::detail::make_view(t, t.impl().shape, t.impl().stride, t.impl().data, true);
}
/// The same elements with the present history, and no tangent.
inline Tensor with_history_only(const Tensor& t) {
  const Tensor alias = without_history(t);
  if (t.impl().requires_grad) {
    const Edge e = edge_of(t);
    set_history(alias, e.node, e.result);
  }
  return alias;
}
/// `t` as nodes keep it: an alias with the present history. When `t` or its base is changed in place later, the new history of `t`
/// may lead to the node that keeps it, and neither would be freed. Leaves with a gradient get no history, so they are kept themselves.
inline Tensor for_keeping(const Tensor& t) {
  const tt::detail::TensorImpl& impl = t.impl();
  if (!impl.storage) return t;
  if (!impl.base && impl.requires_grad && !meta_of(t).made_by) return t;  // its tangent too
  const Tensor alias = with_history_only(t);
  take_tangent(alias, t);
  return alias;
}

/// An argument kept for backward: a Tensor with its version, or its shape and dtype only.
struct SavedTensor {
  Tensor tensor;
  std::uint32_t version = 0;
  DType dtype = DType::f32;
  Shape shape{};

  static void check_inference(const Tensor& t, const TapeNode& node) {
    if (t.impl().inference) [[unlikely]] refuse_inference(t, node);
  }
  [[noreturn]] TT_NOINLINE static void refuse_inference(const Tensor& t, const TapeNode& node) {
    TT_THROW(Error(Text("tt: an argument of ") << node.name << ", " << name(t.dtype()) << ' ' << t.shape()
                   << ", was made under InferenceMode and cannot be saved for backward. Use clone()?" << node.where));
  }
  void save(const Tensor& t, const TapeNode& node) {
    check_inference(t, node);
    tensor = for_keeping(t);
    version = t.version();
  }
  void save_shape(const Tensor& t) {
    dtype = t.dtype();
    shape = t.impl().shape;
  }
  void check(const TapeNode& node, int k, const char* what = "argument") const {
    if (tensor.defined()) check_version(tensor, version, node, k, what);
  }
  static void check_version(const Tensor& tensor, std::uint32_t version, const TapeNode& node, int k, const char* what) {
    if (tensor.version() != version)
      TT_THROW(Error(Text("tt::backward: ") << what << ' ' << k << " of " << node.name << ", " << name(tensor.dtype()) << ' '
                     << tensor.shape() << ", was changed in place after it was saved: version " << tensor.version()
                     << ", saved " << version << ". Use a copy there?" << node.where));
  }
};

/// SavedTensor in few bytes, for tapes of a million ops: of an op's result the storage, of a scalar the bytes. Their handles (TensorImpl) may
/// be freed; restored() makes new ones, with the history of the edge. Other Tensors are kept by handle: they live on anyhow, as parameters do.
struct PackedArgument {
  enum class Form : std::uint8_t { shape, number, dense, handle };
  union {
    Storage* storage = nullptr;     // dense
    tt::detail::TensorImpl* handle;
  };
  union {
    std::byte* data = nullptr;      // dense
    std::byte number[8];
  };
  std::uint32_t version = 0;
  DType dtype = DType::f32;
  std::uint8_t rank = 0;            ///< extents that are kept
  Form form = Form::shape;

  static Form form_of(const Tensor& t, bool read) {
    const tt::detail::TensorImpl& impl = t.impl();
    if (!read) return Form::shape;
    if (impl.is_number && impl.storage && is_host(impl.device)) return Form::number;
    const bool made = !impl.requires_grad || (impl.autograd && static_cast<const Meta*>(impl.autograd)->made_by);
    const bool plain = made && impl.contiguous && impl.storage && impl.device == Device{} && impl.capture == 0 && impl.trace_id < 0 &&
                       impl.keys.without(DispatchKey::autograd) == KeySet(DispatchKey::cpu);
    return plain ? Form::dense : Form::handle;
  }
  void save(const Tensor& t, Form as, std::int64_t* extent, const TapeNode& node) {
    tt::detail::TensorImpl& impl = t.impl();
    dtype = impl.dtype;
    if (as != Form::shape) {
      SavedTensor::check_inference(t, node);
      version = impl.storage ? t.version() : 0;
    }
    if (as == Form::handle) {
      const Tensor kept = for_keeping(t);
      handle = &kept.impl();
      handle->retain();
      form = as;
      return;
    }
    rank = static_cast<std::uint8_t>(impl.shape.rank);
    for (int k = 0; k < rank; ++k) extent[k] = impl.shape.code[k];
    if (as == Form::number) std::memcpy(number, impl.data, static_cast<std::size_t>(size_of(dtype)));
    if (as == Form::dense) {
      impl.storage->retain_for_tape();
      storage = impl.storage;
      data = impl.data;
    }
    form = as;
  }
  /// False: it kept nothing alive.
  bool release() {
    if (form == Form::dense) storage->release_from_tape();
    else if (form == Form::handle) handle->release();
    else return false;
    form = Form::shape;
    return true;
  }
  /// Keeps the tangent of a saved result too; `from` is that result.
  void keep_tangent(const Tensor& from) {
    const Tensor kept = without_history(from);
    take_tangent(kept, from);
    release();
    handle = &kept.impl();
    handle->retain();
    form = Form::handle;
  }
  /// `history`: the edge of the argument, or null. If only the shape was saved: a Tensor without elements.
  Tensor restored(const std::int64_t* extent, const Edge* history) const {
    if (form == Form::handle) {
      handle->retain();
      return Tensor(handle);
    }
    Shape shape;
    for (int k = 0; k < rank; ++k) shape.push_back(extent[k]);
    if (form == Form::shape) return Tensor(dtype, shape, {DeviceType::meta, 0});
    if (form == Form::number) {
      Tensor t(dtype, shape);
      t.impl().is_number = true;
      std::memcpy(t.impl().data, number, static_cast<std::size_t>(size_of(dtype)));
      return t;
    }
    Tensor t(tt::detail::TensorImpl::make());
    tt::detail::TensorImpl& impl = t.impl();
    storage->retain();
    impl.storage = storage;
    impl.data = data;
    impl.dtype = dtype;
    impl.set_dense(shape);
    if (history && history->node) set_history(t, history->node, history->result);
    return t;
  }
};
/// Saved arguments as Tensors; if only the shape was saved, without elements.
class SavedArguments {
 public:
  SavedArguments(const SavedTensor* saved, int count) : saved_(saved), made_(count), pointer_(count) {
    for (int k = 0; k < count; ++k) {
      const SavedTensor& s = saved[k];
      if (!s.tensor.defined()) made_[k] = Tensor(s.dtype, s.shape, {DeviceType::meta, 0});
      pointer_[k] = s.tensor.defined() ? &s.tensor : &made_[k];
    }
  }
  /// The first ones, as many as there are in `history`, with their histories where backward is taped.
  SavedArguments(const PackedArgument* packed, const std::int64_t* extent, int count, const Edge* history, int histories)
      : packed_(packed), made_(count), pointer_(count) {
    for (int k = 0; k < count; ++k) {
      made_[k] = packed[k].restored(extent, k < histories ? history + k : nullptr);
      pointer_[k] = &made_[k];
      extent += packed[k].rank;
    }
  }
  SavedArguments(const SavedArguments&) = delete;
  const Tensor* const* data() const { return pointer_.data(); }
  const Tensor& operator[](int k) const { return *pointer_[k]; }
  int size() const { return pointer_.size(); }
  /// From now on the axes of all are in another order, and none has a history.
  void reorder(const tt::detail::MemoryOrder& order) {
    for (int k = 0; k < size(); ++k) {
      if (pointer_[k]->dim() == 0) continue;
      made_[k] = tt::detail::in_order(*pointer_[k], order);
      pointer_[k] = &made_[k];
    }
  }
  /// Throws if k was changed since it was saved; the message calls it `what`, number k - `first`.
  void check(const TapeNode& node, int k, const char* what = "argument", int first = 0) const {
    const bool packed = packed_ && packed_[k].form >= PackedArgument::Form::dense;
    if (packed || (saved_ && saved_[k].tensor.defined())) SavedTensor::check_version(*pointer_[k], packed ? packed_[k].version : saved_[k].version, node, k - first, what);
  }

 private:
  const SavedTensor* saved_ = nullptr;
  const PackedArgument* packed_ = nullptr;
  SmallVec<Tensor, few_arguments> made_;
  SmallVec<const Tensor*, few_arguments> pointer_;
};

}  // namespace autograd
}  // namespace tt
