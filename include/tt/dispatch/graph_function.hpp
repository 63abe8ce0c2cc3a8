// What Tensors run through: a graph with symbolic sizes, its program, and its derivatives, made once
// for a signature (dtypes, ranks, which extents are 1, which are equal, how the operands lie) and
// kept. Every eager op, every backward step of the tape and every captured function is one of these,
// so no formula, shape rule or derivative is written for Tensors a second time.
//   GraphFunction& f = intern(op, attributes, signature);   f.run(arguments, symbols, results);
#pragma once
#include <memory>
#include <vector>

#include "tt/backends/runtime.hpp"
#include "tt/dispatch/dispatcher.hpp"
#include "tt/graph/partition.hpp"

namespace tt {

/// An array that costs nothing to make: an element is assigned before it is read.
template <class T, int N>
class Blank {
 public:
  Blank() {}
  T& operator[](int i) { return value_[i]; }
  const T& operator[](int i) const { return value_[i]; }

 private:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  union {
    T value_[N];
  };
};

/// How the operands of a call look to a graph: sizes that are not 0 or 1 are symbols, equal ones the
/// same; so are the strides of what does not lie dense. Where eight symbols do not suffice, or
/// nothing else is legal, all are constants.
template <int Most>
struct BasicSignature {
  static constexpr int capacity = Most * (2 * max_rank + 3) + Attributes::capacity + 2;
  int words = 0;
  std::int64_t word[capacity];
  int arguments = 0, symbols = 0;
  bool constant = false;
  DType dtype[Most];
  Blank<Shape, Most> shape, strides;  // kilobytes, of which a call writes a few words
  SymbolValues values;

  BasicSignature(const Tensor* const* argument, int count, const Attributes& attributes, bool all_constant = false)
      : arguments(count), constant(all_constant) {
    if (!describe(argument) && !constant) {
      constant = true;
      describe(argument);
    }
    for (int k = 0; k < attributes.size; ++k) word[words++] = attributes.value[k];
  }
  /// Something else that must be equal.
  void push(std::int64_t v) {
    if (words == capacity) TT_THROW(Error(Text("tt: a call has at most ") << capacity << " sizes, strides and numbers."));
    word[words++] = v;
  }
  friend bool operator==(const BasicSignature& a, const BasicSignature& b) {
    return a.words == b.words && std::memcmp(a.word, b.word, sizeof(std::int64_t) * static_cast<std::size_t>(a.words)) == 0;
  }
  std::uint64_t hash() const {
    std::uint64_t h = 14695981039346656037u;
    for (int k = 0; k < words; ++k) {
      h = (h ^ static_cast<std::uint64_t>(word[k])) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    return h;
  }

 private:
  bool describe(const Tensor* const* argument) {
    words = symbols = 0;
    for (int i = 0; i < arguments; ++i) {
      const detail::TensorImpl& t = argument[i]->impl();
      dtype[i] = t.dtype;
      shape[i] = strides[i] = {};
      word[words++] = static_cast<int>(t.dtype) | t.shape.rank << 4 | (t.contiguous ? 0 : 256) | (constant ? 512 : 0);
      for (int k = 0; k < t.shape.rank; ++k) {
        Extent e;
        if (!extent(t.shape.code[k], e)) return false;
        shape[i].push_back(e);
        word[words++] = e.code;
      }
      if (t.contiguous) continue;
      for (int k = 0; k < t.shape.rank; ++k) {
        Extent e;
        if (!extent(t.shape.code[k] == 1 ? 0 : t.stride[k], e)) return false;
        strides[i].push_back(e);
        word[words++] = e.code;
      }
    }
    return true;
  }
  bool extent(std::int64_t n, Extent& e) {
    e = n;
    if (constant || n == 0 || n == 1) return true;
    for (int s = 0; s < symbols; ++s)
      if (values.value[s] == n) {
        e = Extent::symbol(s);
        return true;
      }
    if (symbols == max_symbols) return false;
    values.value[symbols] = n;
    e = Extent::symbol(symbols++);
    return true;
  }
};

/// Of an operator's call, and of a captured function's.
using Signature = BasicSignature<max_arguments>;
inline constexpr int max_inputs = 64;

class GraphFunction {
 public:
  /// `options` reach the programs of devices, those of its derivatives too. `results_change`: whoever runs it may change
  /// results before their gradients come, see JointGraph.
  explicit GraphFunction(Graph graph, const ProgramOptions& options = {}, bool results_change = false)
      : graph_(static_cast<Graph&&>(graph)), options_(options), results_change_(results_change) {
    for (int k = 0; k < graph_.inputs.size(); ++k) read_.push_back(0);
    Vec<std::uint64_t> flow(graph_.size(), 0);
    for (int i : post_order(graph_, graph_.outputs)) {
      for (int k = 0; k < graph_.inputs.size(); ++k)
        if (graph_.inputs[k] == i) {
          read_[k] = 1;
          if (k < 64) flow[i] |= std::uint64_t{1} << k;
        }
      for (int k = 0; k < max_operands; ++k)
        if (const int o = graph_[i].operand[k]; o >= 0 && graph_[i].op != Op::detach) flow[i] |= flow[o];
      if (!is_floating(graph_[i].dtype)) flow[i] = 0;
    }
    for (int o : graph_.outputs) flow_.push_back(flow[o]);
  }
  GraphFunction(const GraphFunction&) = delete;
  ~GraphFunction() {
    delete program_.load();  // a reference; others may hold more
    for (std::atomic<DeviceProgram*>& p : device_program_) delete p.load();
    for (std::atomic<DeviceProgram*>& p : device_writer_) delete p.load();
    for (Derivative* d = derivatives_.load(); d;) {
      Derivative* next = d->next;
      delete d->function;
      delete d;
      d = next;
    }
    for (Joint* j = joints_.load(); j;) {
      Joint* next = j->next;
      delete j;
      j = next;
    }
  }

  const Graph& graph() const { return graph_; }
  int outputs() const { return graph_.outputs.size(); }
  /// Does a result depend on what input k holds (and not only on its shape)?
  bool reads(int k) const { return read_[k]; }
  /// The inputs, as bits, that result k is a function of with a derivative.
  std::uint64_t flows_into(int k) const { return flow_[k]; }

  /// One result for each output: freshly allocated, or the argument whose memory it takes over. Arguments that are not read may have no elements.
  void run(const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const {
    void* external[2 * max_inputs + 2 * max_outputs];
    int n = graph_.inputs.size();
    if (const Device device = device_of(argument, n); program_maker(device.type)) return run_on(device, argument, symbols, result);
    for (int k = 0; k < n; ++k) {
      const detail::TensorImpl& t = argument[k]->impl();
      if (reads(k) && (t.device.type != DeviceType::cpu || (!t.data && t.numel > 0)))
        TT_THROW(Unavailable(Text("tt: fused programs and backward run on the CPU, and a Tensor is on ") << name(t.device.type) << "."));
      external[k] = t.data;
    }
    for (int k = 0; k < outputs(); ++k) {
      if (const int into = graph_.donated[k]; into >= 0) {
        result[k] = *argument[into];
        continue;
      }
      result[k] = Tensor(graph_[graph_.outputs[k]].dtype, output_shape(k, symbols));
      external[n++] = result[k].data();
    }
    program().run(external, symbols);
  }
  /// Of a copy: writes the dense elements of `from` to where the copy reads `to`, on their device.
  void write(const Tensor& to, const Tensor& from, const SymbolValues& symbols) const {
    void* external[] = {to.impl().data, from.impl().data};
    device_program(to.device().type, true).run(to.device().index, {external}, symbols);
  }
  Shape output_shape(int k, const SymbolValues& symbols) const {
    Shape s;
    const Shape& symbolic = graph_[graph_.outputs[k]].shape;
    for (int d = 0; d < symbolic.rank; ++d) s.push_back(symbolic[d].value(symbols));
    return s;
  }
  const backend::TileProgram& program() const { return *share_program(); }
  const std::shared_ptr<backend::TileProgram>& share_program() const {
    std::shared_ptr<backend::TileProgram>* p = program_.load(std::memory_order_acquire);
    if (p) return *p;
    auto* fresh = new std::shared_ptr<backend::TileProgram>(new backend::TileProgram(compile_plan(graph_)));
    if (program_.compare_exchange_strong(p, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *p;
  }

  /// What its programs on devices say of their runs, and those of its derivatives: a line each, behind `indent`.
  void report(Text& t, const char* indent) const;

  /// From the inputs and one adjoint for each output to the adjoints of the inputs in `wanted` (bits)
  /// through which something flows: those are the bits of `given`, one output each.
  struct Derivative {
    std::uint64_t wanted = 0, given = 0;
    const GraphFunction* function = nullptr;
    Derivative* next = nullptr;
  };
  const Derivative& derivative(std::uint64_t wanted) const {
    Derivative* first = derivatives_.load(std::memory_order_acquire);
    for (Derivative* d = first; d; d = d->next)
      if (d->wanted == wanted) return *d;
    auto* fresh = make_derivative(wanted);
    fresh->next = first;
    while (!derivatives_.compare_exchange_weak(fresh->next, fresh, std::memory_order_acq_rel)) {
    }
    return *fresh;
  }

  /// The function with its backward, which is given saved values and does not begin with the inputs: see
  /// graph/partition.hpp. Saved values are further results of `forward`.
  struct Joint {
    /// What a backward takes, in this order: inputs, results of `forward`, adjoints of those.
    struct Backward {
      std::unique_ptr<GraphFunction> function;
      std::uint64_t given = 0;  ///< as of Derivative
      Vec<int> inputs, saved, adjoints;
    };
    std::uint64_t wanted = 0;
    std::unique_ptr<GraphFunction> forward;
    /// `second` also takes adjoints of saved values: they have some where backward itself is differentiated.
    Backward first, second;
    bool is_wide = false;  ///< those take more than 64 Tensors: to be differentiated, backward begins with the inputs
    Vec<int> kept;   ///< inputs that one of them takes
    Vec<int> saved;  ///< results of `forward` that one of them takes
    int operations = 0, recomputed = 0;  ///< of `forward`; of those in `first`
    std::int64_t saved_bytes = 0;        ///< of what `first` is given besides inputs, with those sizes
    Joint* next = nullptr;
  };
  /// Made once for each `wanted`, with the sizes of that call as an estimate. Null: nothing flows, or there would be
  /// too many results.
  const Joint* joint(std::uint64_t wanted, const SymbolValues& sizes) const {
    Joint* first = joints_.load(std::memory_order_acquire);
    Joint* j = first;
    while (j && j->wanted != wanted) j = j->next;
    if (!j) {
      j = make_partition(wanted, sizes);
      j->next = first;
      while (!joints_.compare_exchange_weak(j->next, j, std::memory_order_acq_rel)) {
      }
    }
    return j->forward ? j : nullptr;
  }

 private:
  Graph graph_;
  ProgramOptions options_;
  bool results_change_;
  Vec<char> read_;
  Vec<std::uint64_t> flow_;
  mutable std::atomic<std::shared_ptr<backend::TileProgram>*> program_ = nullptr;
  mutable std::atomic<Derivative*> derivatives_ = nullptr;
  mutable std::atomic<Joint*> joints_ = nullptr;

  mutable std::atomic<DeviceProgram*> device_program_[detail::device_types] = {}, device_writer_[detail::device_types] = {};

  Derivative* make_derivative(std::uint64_t wanted) const;
  Joint* make_partition(std::uint64_t wanted, const SymbolValues& sizes) const;

  /// Where a call runs: where its first argument with axes is that is read; else where a single element
  /// is that no CPU can read, or where one is that only lends its shape.
  Device device_of(const Tensor* const* argument, int count) const {
    Device best;
    int rank = -1;
    for (int k = 0; k < count; ++k) {
      const detail::TensorImpl& t = argument[k]->impl();
      const int r = reads(k) ? (t.shape.rank > 0 ? 3 : t.device.type != DeviceType::cpu ? 2 : 1) : 0;
      if (r <= rank) continue;
      rank = r;
      best = t.device;
    }
    return best;
  }
  void run_on(Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const;
  DeviceProgram& device_program(DeviceType type, bool writes) const;
};

namespace detail {

/// Records a call; what is wrong stays in the graph.
inline Graph record_call(const Operator& op, const Attributes& attributes, const Signature& s) {
  Graph g;
  int id[max_arguments] = {}, result[max_results] = {};
  for (int k = 0; k < s.arguments; ++k) id[k] = g.input(s.dtype[k], s.shape[k], s.strides[k]);
  op.record(g, op, id, attributes, result);
  for (int k = 0; k < op.results; ++k) g.output(result[k]);
  return g;
}

/// Every GraphFunction of an operator, found by signature. Grows only; reading takes no lock.
class FunctionCache {
 public:
  static FunctionCache& get() {
    static FunctionCache* const cache = new FunctionCache;
    return *cache;
  }
  /// Is the signature known, and which function is it? Null: only constant sizes will do.
  bool find(const Operator& op, const Signature& s, std::uint64_t hash, const GraphFunction*& f) const {
    for (const Entry* e = bucket_[index(op, hash)].load(std::memory_order_acquire); e; e = e->next)
      if (e->hash == hash && e->op == &op && e->words == s.words &&
          std::memcmp(e->word, s.word, sizeof(std::int64_t) * static_cast<std::size_t>(s.words)) == 0) {
        f = e->function;
        return true;
      }
    return false;
  }
  const GraphFunction* insert(const Operator& op, const Signature& s, std::uint64_t hash, const GraphFunction* f) {
    auto* e = new Entry;
    e->hash = hash;
    e->op = &op;
    e->words = s.words;
    e->word = new std::int64_t[static_cast<std::size_t>(s.words)];
    std::memcpy(e->word, s.word, sizeof(std::int64_t) * static_cast<std::size_t>(s.words));
    e->function = f;
    std::atomic<Entry*>& head = bucket_[index(op, hash)];
    e->next = head.load(std::memory_order_relaxed);
    while (!head.compare_exchange_weak(e->next, e, std::memory_order_acq_rel)) {
    }
    size_.fetch_add(1, std::memory_order_relaxed);
    return f;
  }
  std::int64_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    const Operator* op = nullptr;
    int words = 0;
    std::int64_t* word = nullptr;
    const GraphFunction* function = nullptr;
    Entry* next = nullptr;
  };
  static constexpr unsigned buckets = 1024;
  std::atomic<Entry*> bucket_[buckets] = {};
  std::atomic<std::int64_t> size_ = 0;
  static unsigned index(const Operator& op, std::uint64_t hash) {
    return static_cast<unsigned>((hash ^ reinterpret_cast<std::uintptr_t>(&op) >> 6) % buckets);
  }
};

}  // namespace detail

/// The function of a call, and the sizes its symbols have. Throws the call's mistake, if there is one.
struct BoundFunction {
  const GraphFunction* function = nullptr;
  SymbolValues symbols;
};
TT_INLINE BoundFunction bind_function(const Call& c);

#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE GraphFunction::Derivative* GraphFunction::make_derivative(std::uint64_t wanted) const {
  JointGraph joint = make_joint(graph_, wanted);
  if (joint.graph.failure) TT_THROW(Error(tt::describe(joint.graph.failure)));
  const std::uint64_t given = joint.given;
  return new Derivative{wanted, given, new GraphFunction(derivative_of(static_cast<JointGraph&&>(joint)), options_)};
}

TT_INLINE GraphFunction::Joint* GraphFunction::make_partition(std::uint64_t wanted, const SymbolValues& sizes) const {
  const JointGraph joint = make_joint(graph_, wanted, results_change_);
  if (joint.graph.failure) TT_THROW(Error(tt::describe(joint.graph.failure)));
  auto made = std::make_unique<Joint>();
  made->wanted = wanted;
  if (!joint.given) return made.release();
  const auto take = [this](Partition&& p, std::uint64_t given) {
    return Joint::Backward{std::make_unique<GraphFunction>(static_cast<Graph&&>(p.backward), options_), given, static_cast<Vec<int>&&>(p.inputs),
                           static_cast<Vec<int>&&>(p.saved), static_cast<Vec<int>&&>(p.adjoints)};
  };
  Partition once = partition(joint, sizes);
  made->operations = once.operations;
  made->recomputed = once.recomputed;
  if (once.forward.outputs.size() > max_outputs) return made.release();
  for (int k : once.saved) {
    const Node& n = once.forward[once.forward.outputs[k]];
    made->saved_bytes += n.shape.size().value(sizes) * size_of(n.dtype);
  }
  auto forward = std::make_unique<GraphFunction>(static_cast<Graph&&>(once.forward), options_);
  made->first = take(static_cast<Partition&&>(once), joint.given);

  // Saved values as results that have adjoints too. The same values are at hand; what else it needs is seldom much.
  const JointGraph again = make_joint(forward->graph(), wanted);
  if (again.graph.failure) TT_THROW(Error(tt::describe(again.graph.failure)));
  Vec<char> saved(again.graph.size(), 0);
  for (int k : made->first.saved) saved[again.graph.outputs[k]] = 1;
  made->second = take(split(again, saved), again.given);
  const auto merge = [](const Vec<int>& a, const Vec<int>& b, int most) {
    Vec<int> both;
    for (int k = 0; k < most; ++k) {
      bool found = false;
      for (int x : a) found = found || x == k;
      for (int x : b) found = found || x == k;
      if (found) both.push_back(k);
    }
    return both;
  };
  made->kept = merge(made->first.inputs, made->second.inputs, graph_.inputs.size());
  made->saved = merge(made->first.saved, made->second.saved, forward->outputs());
  for (const Joint::Backward* b : {&made->first, &made->second}) made->is_wide = made->is_wide || b->function->graph().inputs.size() > 64;
  made->forward = std::move(forward);
  return made.release();
}

TT_INLINE void GraphFunction::report(Text& t, const char* indent) const {
  for (const std::atomic<DeviceProgram*>& p : device_program_)
    if (const DeviceProgram* program = p.load(std::memory_order_acquire))
      if (const Text said = program->report(); !said.empty()) t << indent << said << '\n';
  Text backward;
  backward << indent << "backward: ";
  for (const Derivative* d = derivatives_.load(std::memory_order_acquire); d; d = d->next) d->function->report(t, backward.c_str());
  for (const Joint* j = joints_.load(std::memory_order_acquire); j; j = j->next) {
    if (!j->forward) continue;
    j->forward->report(t, indent);
    j->first.function->report(t, backward.c_str());
  }
}

TT_INLINE DeviceProgram& GraphFunction::device_program(DeviceType type, bool writes) const {
  std::atomic<DeviceProgram*>& slot = (writes ? device_writer_ : device_program_)[static_cast<int>(type)];
  if (DeviceProgram* known = slot.load(std::memory_order_acquire)) return *known;
  Plan plan = compile_plan(graph_);
  if (writes) {  // load and store of the copy exchange their places
    Instruction *load = nullptr, *store = nullptr;
    for (Instruction& x : plan.instructions) (x.op == Op::load ? load : x.op == Op::store ? store : load) = &x;
    const int from = store->access;
    store->access = load->access;
    load->access = from;
  }
  const Node& last = graph_[graph_.outputs[0]];
  DeviceProgram* fresh = program_maker(type)(static_cast<Plan&&>(plan), last.op == Op::call ? last.def->info.name : name(last.op), options_);
  DeviceProgram* expected = nullptr;
  if (slot.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *expected;
}

TT_INLINE void GraphFunction::run_on(Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const {
  void* external[2 * max_inputs + 2 * max_outputs];
  std::vector<Tensor> moved;
  DeviceProgram& program = device_program(device.type, false);
  const std::uint64_t may_be_on_host = program.may_be_on_host();
  std::uint64_t on_host = 0;
  int n = graph_.inputs.size();
  for (int k = 0; k < n; ++k) {
    const detail::TensorImpl& t = argument[k]->impl();
    external[k] = t.data;
    if (t.device == device || !reads(k)) continue;
    bool updated = false;
    for (const int into : graph_.donated) updated = updated || into == k;
    if (t.numel != 1 || t.device.type == DeviceType::meta || updated)
      TT_THROW(Error(Text("tt: Tensors on different devices: ") << to_text(device) << " and " << to_text(t.device) << '.'));
    if (k < 64 && (may_be_on_host >> k & 1) && is_host(t.device)) {
      on_host |= std::uint64_t{1} << k;
      continue;
    }
    moved.emplace_back(t.dtype, t.shape, device);  // a single element goes where the others are
    external[k] = moved.back().impl().data;
    device_api(device.type)->copy(external[k], device, t.data, t.device, static_cast<std::size_t>(size_of(t.dtype)), t.is_number);
  }
  for (int k = 0; k < outputs(); ++k) {
    if (const int into = graph_.donated[k]; into >= 0) {
      result[k] = *argument[into];
      continue;
    }
    result[k] = Tensor(graph_[graph_.outputs[k]].dtype, output_shape(k, symbols), device);
    external[n++] = result[k].impl().data;
  }
  program.run(device.index, {external, on_host}, symbols);
}

TT_INLINE BoundFunction bind_function(const Call& c) {
  if (!c.op->record)
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": has no graph: give it a kernel, or a derivative of its own." << c.at));
  for (bool constant : {false, true}) {
    const Signature s(c.argument, c.arguments, c.attrs(), constant);
    const std::uint64_t hash = s.hash();
    detail::FunctionCache& cache = detail::FunctionCache::get();
    const GraphFunction* f = nullptr;
    if (cache.find(*c.op, s, hash, f)) {
      if (f) return {f, s.values};
      continue;
    }
    Graph g = detail::record_call(*c.op, c.attrs(), s);
    if (!g.failure && g.assumed.empty() && g.needed.empty())
      return {cache.insert(*c.op, s, hash, new GraphFunction(static_cast<Graph&&>(g))), s.values};
    if (!s.constant) {  // with all sizes known it may be right, or else the message shows them
      cache.insert(*c.op, s, hash, nullptr);
      continue;
    }
    g.failure.where = c.at;
    TT_THROW(Error(describe(g.failure)));
  }
  return {};
}
#endif

}  // namespace tt
