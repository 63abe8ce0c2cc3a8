// What Tensors run through: a graph with symbolic sizes, its program, and its derivatives, made once
// for a signature (dtypes, ranks, which extents are 1, which are equal, how the operands lie) and
// kept. Every eager op, every backward step of the tape and every captured function is one of these,
// so no formula, shape rule or derivative is written for Tensors a second time.
//   GraphFunction& f = intern(op, attributes, signature);   f.run(arguments, symbols, results);
#pragma once
#include <memory>

#include "tt/backends/runtime.hpp"
#include "tt/dispatch/dispatcher.hpp"
#include "tt/graph/transform.hpp"

namespace tt {

struct Partition;

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

/// For `as_numbers`.
inline constexpr unsigned all_sizes = ~0u;

/// How the operands of a call look to a graph: sizes that are not 0 or 1 are symbols, equal ones the
/// same; so are the strides of what does not lie dense. Where that is not legal, those that must be are
/// numbers; where eight symbols do not suffice, or it is not known which, all are.
template <int Most>
struct BasicSignature {
  static constexpr int capacity = Most * (2 * max_rank + 3) + Attributes::capacity + 2;
  int words = 0;
  std::int64_t word[capacity];
  int arguments = 0, symbols = 0;
  unsigned as_numbers = 0;  ///< symbols, as bits, whose sizes are numbers
  DType dtype[Most];
  Blank<Shape, Most> shape, strides;  // kilobytes, of which a call writes a few words
  SymbolValues values;

  BasicSignature(const Tensor* const* argument, int count, const Attributes& attributes, unsigned numbers = 0)
      : arguments(count), as_numbers(numbers) {
    if (!describe(argument) && !is_constant()) {
      as_numbers = all_sizes;
      describe(argument);
    }
    for (int s = 0; s < symbols; ++s)
      if (as_numbers >> s & 1) values.value[s] = 0;  // no size is this symbol
    for (int k = 0; k < attributes.size; ++k) word[words++] = attributes.value[k];
  }
  bool is_constant() const { return as_numbers == all_sizes; }
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
      word[words++] = static_cast<int>(t.dtype) | t.shape.rank << 4 | (t.contiguous ? 0 : 256) | (is_constant() ? 512 : 0);
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
    if (is_constant() || n == 0 || n == 1) return true;
    int s = 0;
    while (s < symbols && values.value[s] != n) ++s;
    if (s == max_symbols) return false;
    if (s == symbols) values.value[symbols++] = n;
    if (!(as_numbers >> s & 1)) e = Extent::symbol(s);
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
  /// `otherwise`: where it runs if no argument says so.
  void run(const Tensor* const* argument, const SymbolValues& symbols, Tensor* result, Device otherwise = {}) const {
    void* external[2 * max_inputs + 2 * max_outputs];
    int n = graph_.inputs.size();
    if (const Device device = device_of(argument, n, otherwise); program_maker(device.type)) return run_on(device, argument, symbols, result);
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
    Backward first;
    bool is_wide = false;  ///< backward may take more than 64 Tensors: to be differentiated, it begins with the inputs
    Vec<int> kept;  ///< inputs that `first` takes or second_backward may take; both take the saved values of `first`
    int operations = 0, recomputed = 0;  ///< of `forward`; of those in `first`
    std::int64_t saved_bytes = 0;        ///< of what `first` is given besides inputs, with those sizes
    Joint* next = nullptr;
    mutable std::atomic<Backward*> second = nullptr;
    ~Joint() { delete second.load(); }
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

  /// The backward of `j` that also takes adjoints of saved values, which have some where backward itself is differentiated.
  /// Made when it is first asked for.
  const Joint::Backward& second_backward(const Joint& j) const {
    if (const Joint::Backward* known = j.second.load(std::memory_order_acquire)) return *known;
    auto fresh = std::make_unique<Joint::Backward>(make_second(j));
    Joint::Backward* expected = nullptr;
    return j.second.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel) ? *fresh.release() : *expected;
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
  Joint::Backward make_second(const Joint& j) const;
  Joint::Backward backward_of(Partition&& p, std::uint64_t given) const;

  /// Where a call runs: where its first argument with axes is that is read; else where a single element
  /// is that no CPU can read, or where one is that only lends its shape; else `otherwise`.
  Device device_of(const Tensor* const* argument, int count, Device otherwise) const {
    Device best = otherwise;
    int rank = -1;
    for (int k = 0; k < count; ++k) {
      const detail::TensorImpl& t = argument[k]->impl();
      const int r = reads(k) ? (t.shape.rank > 0 ? 3 : t.device.type != DeviceType::cpu ? 2 : 1) : 0;
      if (r <= rank || (r == 0 && t.device.type == DeviceType::meta)) continue;
      rank = r;
      best = t.device;
    }
    return best;
  }
  void run_on(Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const;
  DeviceProgram& device_program(DeviceType type, bool writes) const;
};

namespace detail {

/// Symbols of Tensors are 2 or more, as 0 and 1 are themselves: then x[0] and x[1] are there whatever the size. (More
/// than one element is not cut from a size that is no number: the adjoint of that is dear.)
inline void forget_certain_lengths(Graph& g) {
  int kept = 0;
  for (const Graph::Needed& n : g.needed) {
    std::int64_t least = n.extent.coefficient();
    for (int k = 0; k < max_symbols; ++k)
      for (int e = n.extent.exponent(k); e > 0 && least < n.least; --e) least *= 2;
    if (!n.single || least < n.least) g.needed[kept++] = n;
  }
  g.needed.resize(kept);
}
/// Records a call; what is wrong stays in the graph.
inline Graph record_call(const Operator& op, const Attributes& attributes, const Signature& s) {
  Graph g;
  int id[max_arguments] = {}, result[max_results] = {};
  for (int k = 0; k < s.arguments; ++k) id[k] = g.input(s.dtype[k], s.shape[k], s.strides[k]);
  op.record(g, op, {id, static_cast<std::size_t>(s.arguments)}, attributes, result);
  forget_certain_lengths(g);
  for (int k = 0; k < op.results; ++k) g.output(result[k]);
  return g;
}

/// Which sizes must be numbers besides those that are, so that what was recorded is legal; all_sizes: nobody knows.
inline unsigned sizes_needed(const Graph& g, unsigned as_numbers) {
  if (g.failure && g.failure.mistake != Mistake::extents_are_not_constant &&
      g.failure.mistake != Mistake::extent_along_axis_is_not_constant)
    return all_sizes;
  unsigned needed = g.as_numbers;
  for (const Graph::Assumed& x : g.assumed) {  // s0*s1 is 8*s0 where s1 is 8
    unsigned differing = 0;
    for (int k = 0; k < max_symbols; ++k) differing |= x.a.exponent(k) != x.b.exponent(k) ? 1u << k : 0;
    needed |= differing ? differing : x.a.symbols();
  }
  for (const Graph::Needed& n : g.needed) needed |= n.extent.symbols();
  return (needed & ~as_numbers) != 0 ? needed | as_numbers : all_sizes;
}

/// Every GraphFunction of an operator, found by signature. Grows only; reading takes no lock.
class FunctionCache {
 public:
  static FunctionCache& get() {
    static FunctionCache* const cache = new FunctionCache;
    return *cache;
  }
  /// Is the signature known, and which function is it? Null: these sizes must be numbers.
  bool find(const Operator& op, const Signature& s, std::uint64_t hash, const GraphFunction*& f, unsigned& as_numbers) const {
    for (const Entry* e = bucket_[index(op, hash)].load(std::memory_order_acquire); e; e = e->next)
      if (e->hash == hash && e->op == &op && e->words == s.words &&
          std::memcmp(e->word, s.word, sizeof(std::int64_t) * static_cast<std::size_t>(s.words)) == 0) {
        f = e->function;
        as_numbers = e->as_numbers;
        return true;
      }
    return false;
  }
  const GraphFunction* insert(const Operator& op, const Signature& s, std::uint64_t hash, const GraphFunction* f, unsigned as_numbers = 0) {
    auto* e = new Entry;
    e->hash = hash;
    e->op = &op;
    e->words = s.words;
    e->word = new std::int64_t[static_cast<std::size_t>(s.words)];
    std::memcpy(e->word, s.word, sizeof(std::int64_t) * static_cast<std::size_t>(s.words));
    e->function = f;
    e->as_numbers = as_numbers;
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
    unsigned as_numbers = 0;
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

}  // namespace tt

#if !defined(TT_COMPILED) || defined(TT_BUILD)
#include "tt/dispatch/graph_function_inl.hpp"
#endif
