// GraphFunction: one graph with symbolic sizes, its compiled program and its derivatives, made once for
// a signature (dtypes, ranks, which extents are 1, which are equal, memory order of the operands) and
// cached. Every eager op, every backward step of the tape and every captured function is one of these,
// so no formula, shape rule or derivative is written for Tensors a second time.
//   const BoundFunction f = bind_function(call);   f.function->run(arguments, f.symbols, results);
#pragma once
#include <memory>
#include <vector>

#include "tt/backends/runtime.hpp"
#include "tt/dispatch/callable.hpp"
#include "tt/dispatch/capture_events.hpp"
#include "tt/dispatch/dispatcher.hpp"
#include "tt/dispatch/memory_order.hpp"
#include "tt/dispatch/recent_table.hpp"
#include "tt/dispatch/size_marks.hpp"
#include "tt/graph/transform.hpp"

namespace tt {

struct Partition;

/// Called while argument `k` is read: prefetches the argument that is six places further.
inline void prefetch_argument(const Tensor* const* argument, int k, int count) {
  constexpr int ahead = 6;
  if (k + ahead >= count) return;
  const auto* const p = reinterpret_cast<const std::byte*>(&argument[k + ahead]->impl());
  __builtin_prefetch(p);
  __builtin_prefetch(p + 64);
}

/// The operands of a call as a graph sees them: sizes other than 0 and 1 are symbols, equal sizes the same symbol. A Tensor
/// that is not contiguous but has no gaps is described by the order of its axes in memory, so that its strides are products
/// of sizes; the strides of a Tensor with gaps are symbols as sizes are. Where symbols are not legal, the sizes that must be
/// constant are specialised; all of them, if it is not known which. For calls of operators and of captured functions.
class Signature {
 public:
  SmallVec<std::int64_t, 96> word;  ///< compared by ==: the arguments, then the values that were pushed
  int arguments = 0, symbols = 0;
  SizeFacts as_numbers;  ///< symbols whose sizes are specialised, or have a known divisor
  SymbolValues values;

  Signature(const Tensor* const* argument, int count, const Attributes& attributes, const SizeFacts& numbers = {}, const BitSet* fixed = nullptr)
      : arguments(count), as_numbers(numbers) {
    describe(argument, fixed);
    for (int s = 0; !as_numbers.empty() && s < symbols; ++s) values.set(s, as_numbers.symbol_value(s, values[s]));
    word.append(attributes.value.data(), attributes.size());
  }
  bool is_constant() const { return as_numbers.all; }
  /// A further value that must be equal.
  void push(std::int64_t v) { word.push_back(v); }
  friend bool operator==(const Signature& a, const Signature& b) { return same_words(a.word, b.word.data(), b.word.size()); }
  static bool same_words(const SmallVec<std::int64_t, 96>& a, const std::int64_t* b, int count) {
    return a.size() == count && std::memcmp(a.data(), b, sizeof(std::int64_t) * static_cast<std::size_t>(count)) == 0;
  }
  std::uint64_t hash() const { return hash_words(word.data(), word.size()); }
  static std::uint64_t hash_words(const std::int64_t* word, int count, std::uint64_t h = 14695981039346656037u) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
    int k = 0;
    if (count >= 32) {  // four chains of products at once: a single one waits seven cycles for each word
      std::uint64_t lane[4] = {h, h + 1, h + 2, h + 3};
      for (; k + 4 <= count; k += 4)
        for (int l = 0; l < 4; ++l) {
          lane[l] = (lane[l] ^ static_cast<std::uint64_t>(word[k + l])) * odd;
          lane[l] ^= lane[l] >> 29;
        }
      for (const std::uint64_t l : lane) h = (h ^ l) * odd;
    }
    for (; k < count; ++k) {
      h = (h ^ static_cast<std::uint64_t>(word[k])) * odd;
      h ^= h >> 29;
    }
    return h;
  }

  /// An argument, as an input of the graph.
  struct Input {
    DType dtype;
    Shape shape, strides;  ///< strides: of rank 0 if the Tensor is contiguous
  };
  /// Where the words of the next argument begin.
  int behind_input(int at) const {
    const int rank = static_cast<int>(word[at] >> 8 & 255);
    return at + 1 + (word[at] & strided ? 2 * rank : rank);
  }
  std::vector<Input> inputs() const {
    std::vector<Input> list;
    const std::int64_t* w = word.data();
    for (int i = 0; i < arguments; ++i) {
      const std::int64_t head = *w++;
      const int rank = static_cast<int>(head >> 8 & 255);
      Input in{static_cast<DType>(head & 255), {}, {}};
      for (int k = 0; k < rank; ++k) in.shape.push_back(Extent::from_code(*w++));
      for (int k = 0; head & strided && k < rank; ++k) in.strides.push_back(head & ordered ? stride_behind(in.shape, w, k) : Extent::from_code(w[k]));
      if (head & strided) w += rank;
      list.push_back(in);
    }
    return list;
  }

 private:
  static constexpr std::int64_t strided = 1 << 16, constant = 1 << 17, ordered = 1 << 18;  ///< ordered: strided, but without gaps

  /// The position of each axis in memory, counted from the innermost one, if t has no gaps, else false. Axes of extent 1 have no position (0).
  static bool order_in_memory(const Tensor& t, std::int64_t* place) {
    const detail::MemoryOrder order(t);
    if (!order.has_no_gaps(t)) return false;
    std::int64_t next = 0;
    for (int d = order.shape.rank - 1; d >= 0; --d) place[order.axis[d]] = order.shape.code[order.axis[d]] == 1 ? 0 : next++;
    return true;
  }
  static Extent stride_behind(const Shape& s, const std::int64_t* place, int axis) {
    Extent stride = s[axis] == Extent(1) ? 0 : 1;
    for (int k = 0; k < s.rank; ++k)
      if (s[k] != Extent(1) && place[k] < place[axis]) stride = stride * s[k];
    return stride;
  }

  /// `fixed`: for a captured function, which heeds size marks, the arguments whose sizes are specialised.
  void describe(const Tensor* const* argument, const BitSet* fixed) {
    SmallVec<std::int64_t, 16> known;  // sizes of fixed arguments: an equal size of another argument mostly belongs to them
    if (fixed)
      for (int i : *fixed)
        for (int k = 0; k < argument[i]->dim(); ++k) note(known, argument[i]->impl().shape.code[k]);
    for (int i = 0; i < arguments; ++i) {
      prefetch_argument(argument, i, arguments);
      const bool numbers = is_constant() || (fixed && fixed->test(i));
      const detail::TensorImpl& t = argument[i]->impl();
      std::int64_t *to = word.room(1 + 2 * t.shape.rank), *const head = to++;
      *head = static_cast<int>(t.dtype) | t.shape.rank << 8 | (t.contiguous ? 0 : strided) | (is_constant() ? constant : 0) |
           static_cast<std::int64_t>(fixed ? t.marks : 0) << 32;
      for (int k = 0; k < t.shape.rank; ++k) {
        const std::int64_t n = t.shape.code[k];
        bool number = numbers;
        for (int j = 0; j < known.size() && !number; ++j) number = known[j] == n;
        *to++ = code_of(n, !fixed || t.marks == 0 || is_constant() ? number : is_number(t.marks, k, number));
      }
      if (!t.contiguous) {
        if (order_in_memory(*argument[i], to)) *head |= ordered;
        else
          for (int k = 0; k < t.shape.rank; ++k) to[k] = code_of(t.shape.code[k] == 1 ? 0 : t.stride[k], numbers);
        to += t.shape.rank;
      }
      word.set_end(to);
    }
  }
  static void note(SmallVec<std::int64_t, 16>& list, std::int64_t n) {
    for (std::int64_t known : list)
      if (known == n) return;
    list.push_back(n);
  }
  static bool is_number(std::int32_t marks, int axis, bool otherwise) {
    const detail::SizeMark m = detail::size_mark(marks, axis);
    return m.is_static || (otherwise && !m.is_dynamic);
  }
  std::int64_t code_of(std::int64_t n, bool number) {
    if (number || n == 0 || n == 1) return n;
    if (n != last_size_) {
      last_code_ = code_of_symbol(n);
      last_size_ = n;
    }
    return last_code_;
  }
  std::int64_t code_of_symbol(std::int64_t n) {
    const int s = symbol_of(n);
    if (as_numbers.symbol_value(s, n) == 0) return n;
    const std::int64_t times = as_numbers.multiple(s);
    return (times == 1 ? Extent::symbol(s) : Extent::symbol(s) * Extent(times)).code;
  }
  int symbol_of(std::int64_t n) {
    if (symbols < few) {
      int s = 0;
      while (s < symbols && values[s] != n) ++s;
      if (s == symbols) values.set(symbols++, n);
      return s;
    }
    if (4 * symbols > 2 * slot_.size()) {  // hashed by size, less than half full: symbol number plus one
      slot_.resize(8 * symbols);
      for (int& s : slot_) s = 0;
      for (int s = 0; s < symbols; ++s) slot_of(values[s]) = s + 1;
    }
    int& known = slot_of(n);
    if (!known) {
      values.set(symbols++, n);
      known = symbols;
    }
    return known - 1;
  }
  int& slot_of(std::int64_t n) {
    const auto count = static_cast<std::uint64_t>(slot_.size());
    std::uint64_t at = (static_cast<std::uint64_t>(n) * 0x9e3779b97f4a7c15u >> 32) % count;
    while (slot_[static_cast<int>(at)] && values[slot_[static_cast<int>(at)] - 1] != n) at = (at + 1) % count;
    return slot_[static_cast<int>(at)];
  }
  static constexpr int few = 16;
  SmallVec<int, 1> slot_;
  std::int64_t last_size_ = 0, last_code_ = 0;  ///< the last lookup: equal sizes often follow each other
};

class GraphFunction;
/// Runs a function whose graph contains ops with kernels of their own, or control flow: fused programs and calls, step by step.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual void run(const Tensor* const* argument, const SymbolValues& symbols, Tensor* result, Device device) const = 0;
  /// f(the function of a program, null) or f(null, the name of an op whose kernel is called), in order.
  virtual void each_step(CallableRef<void(const GraphFunction*, const char*)> f) const = 0;
};
namespace detail {
/// Called wherever such ops are recorded; programs without them are spared the code, a tenth of that of an addition without tt::compiled.
TT_INLINE void use_steps();
using StepRunnerMaker = std::unique_ptr<StepRunner> (*)(const Graph&, const ProgramOptions&);
inline std::atomic<StepRunnerMaker> step_runner_maker = nullptr;
}  // namespace detail

class GraphFunction : public std::enable_shared_from_this<GraphFunction> {
 public:
  /// `options` are passed to programs of devices, also those of its derivatives. `results_change`: callers may change
  /// results in place before their gradients come, see JointGraph.
  TT_INLINE explicit GraphFunction(Graph graph, const ProgramOptions& options = {}, bool results_change = false);
  GraphFunction(const GraphFunction&) = delete;
  TT_INLINE ~GraphFunction();

  const Graph& graph() const { return graph_; }
  int outputs() const { return graph_.outputs.size(); }
  /// With fast numerics: the number of values that are not rounded to 16-bit floats.
  int dropped_roundings() const { return dropped_roundings_; }
  /// The op that its programs are named after.
  const char* last_op() const {
    const Node& last = graph_[graph_.outputs[0]];
    return last.op == Op::call ? last.def->info.name : name(last.op);
  }
  /// Does a result depend on the elements of input k (not only on its shape)?
  bool reads(int k) const { return read_[k]; }
  /// The inputs that a gradient of result k flows into.
  const BitSet& flows_into(int k) const { return flow_[k]; }

  /// One result for each output: freshly allocated, or the argument whose memory it takes over. Arguments that are not read may have no elements.
  /// `otherwise`: the device if no argument determines it.
  TT_INLINE void run(const Tensor* const* argument, const SymbolValues& symbols, Tensor* result, Device otherwise = {}) const;
  /// For a function that copies a strided Tensor: the reverse, contiguous elements of `from` are written into `to`, on their device.
  TT_INLINE void write(const Tensor& to, const Tensor& from, const SymbolValues& symbols) const;
  TT_INLINE Shape output_shape(int k, const SymbolValues& symbols) const;
  /// False: several programs, and calls of kernels between them, see parts().
  bool is_one_program() const { return !steps_; }
  /// The CPU program of a function that is one program.
  const backend::TileProgram& program() const { return *share_program(); }
  TT_INLINE const std::shared_ptr<backend::TileProgram>& share_program() const;
  /// The functions that are its programs, between calls of kernels; itself, if it is one program.
  TT_INLINE std::vector<const GraphFunction*> parts() const;
  /// f for its steps in order, see StepRunner; for itself, if it is one program.
  void each_step(CallableRef<void(const GraphFunction*, const char*)> f) const { steps_ ? steps_->each_step(f) : f(this, nullptr); }
  TT_INLINE int kernels() const;
  /// Of its program on the CPU; of several, the counts with the fewest calls in tier 1.
  TT_INLINE backend::TileProgram::Calls calls() const;

  /// f(function, whether it computes gradients) for its parts, if it is several programs, and for the functions made of it for the tape.
  TT_INLINE void each_derived(CallableRef<void(const GraphFunction&, bool)> f) const;
  /// Appends the reports of its programs on devices, and of those of its derivatives: a line each, after `indent`.
  void report(Text& t, const char* indent) const;

  /// Reverse mode: from the inputs and one adjoint for each output to adjoints of the inputs in `wanted` that a gradient flows
  /// into: these are in `given`, one output each. Where the outputs can replace all inputs that are read, as for exp, they do.
  struct Derivative {
    BitSet wanted, given;
    const GraphFunction* function = nullptr;
    Derivative* next = nullptr;
    bool forward = false;     ///< see tangents()
    bool by_results = false;  ///< it takes the outputs too, after the adjoints
  };
  TT_INLINE const Derivative& derivative(const BitSet& wanted) const;
  /// Forward mode: from the inputs and one tangent for each input in `by` to tangents of the results that a tangent flows into: these are in
  /// `given`, one output each. Defined in autograd/dual_inl.hpp.
  TT_INLINE const Derivative& tangents(const BitSet& by) const;

  /// The function as a forward and a backward one, which reads saved values instead of recomputing all from the inputs:
  /// see graph/partition.hpp. Saved values are further results of `forward`.
  struct Joint {
    /// A backward function. Its arguments, in this order: `inputs`, `saved` results of `forward`, `adjoints` of results.
    struct Backward {
      std::unique_ptr<GraphFunction> function;
      BitSet given;  ///< as of Derivative
      Vec<int> inputs, saved, adjoints;
      Vec<int> kept_at{}, saved_at{};  ///< the index of each input in `kept`, and of each saved value in `first.saved`
      BitSet seeded{};             ///< in one of `others`: the results of `forward` that have adjoints
      const Backward* next = nullptr;
    };
    BitSet wanted;
    std::unique_ptr<GraphFunction> forward;
    Backward first;
    Vec<int> kept;  ///< inputs that `first` or others may take; all take the saved values of `first`
    int operations = 0, recomputed = 0;  ///< ops of `forward`; those computed again in `first`
    std::int64_t saved_bytes = 0;        ///< of the saved values of `first`, for the sizes given to joint()
    Joint* next = nullptr;
    mutable std::atomic<const Backward*> others = nullptr;
    mutable Callable<void(const GraphFunction&)> on_new_backward;  ///< set before the first call, if at all
    TT_INLINE ~Joint();
  };
  /// Made once for each `wanted`, with the sizes of that call as an estimate. Null: no gradient flows into these inputs.
  TT_INLINE const Joint* joint(const BitSet& wanted, const SymbolValues& sizes) const;

  /// The backward of `j` for adjoints of the results `seeded` of its forward: fewer than `first` takes, so that results without one cost
  /// nothing; or of saved values too, if backward itself is differentiated. Made at the first request.
  TT_INLINE const Joint::Backward& backward(const Joint& j, const BitSet& seeded) const;

 private:
  Graph graph_;
  std::unique_ptr<const Graph> named_;  ///< before it was decomposed and equal steps were merged, if that differs: gradients are summed step by step
  const Graph& differentiated() const { return named_ ? *named_ : graph_; }
  ProgramOptions options_;
  bool results_change_;
  int dropped_roundings_ = 0;
  Vec<char> read_;
  Vec<BitSet> flow_;
  std::unique_ptr<StepRunner> steps_;
  mutable std::atomic<std::shared_ptr<backend::TileProgram>*> program_ = nullptr;
  mutable std::atomic<Derivative*> derivatives_ = nullptr;
  mutable std::atomic<Joint*> joints_ = nullptr;

  /// Its program for a type of device, or for write() there; null: the device's maker makes none.
  struct OnDevice {
    DeviceType type;
    bool writes;
    std::unique_ptr<DeviceProgram> program;
    OnDevice* next = nullptr;
  };
  mutable std::atomic<OnDevice*> on_devices_ = nullptr;

  Derivative* make_derivative(const BitSet& wanted) const;
  template <class Make>
  const Derivative& find_derivative(const BitSet& wanted, bool forward, const Make& make) const {
    Derivative* const first = derivatives_.load(std::memory_order_acquire);
    for (Derivative* d = first; d; d = d->next)
      if (d->forward == forward && d->wanted == wanted) return *d;
    Derivative* const fresh = make();
    fresh->next = first;
    while (!derivatives_.compare_exchange_weak(fresh->next, fresh, std::memory_order_acq_rel)) {
    }
    return *fresh;
  }
  Joint* make_partition(const BitSet& wanted, const SymbolValues& sizes) const;
  Joint::Backward make_backward(const Joint& j, const BitSet& seeded) const;
  Joint::Backward backward_of(Partition&& p, const BitSet& given) const;

  /// The device of a call: of its first argument with axes that is read; else of a single element that is read and that no CPU can read, or
  /// on device `otherwise`; else of an argument that lends only its shape; else `otherwise`. Of steps, each of which runs where its operands
  /// are, the first on a device counts.
  TT_INLINE Device device_of(const Tensor* const* argument, int count, Device otherwise) const;
  void run_on(Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const;
  DeviceProgram* device_program(DeviceType type, bool writes) const;
  std::unique_ptr<DeviceProgram> make_device_program(DeviceType type, bool writes) const;
};

namespace detail {

/// The table's entry for a signature: its function, or the sizes that must be specialised.
struct KeptFunction {
  const Operator* op = nullptr;
  SmallVec<std::int64_t, 24> word;
  std::shared_ptr<const GraphFunction> function;
  SizeSet as_numbers;
};
using FunctionTable = RecentTable<KeptFunction, 2048>;
/// The functions of every eager op that ran.
TT_INLINE FunctionTable& function_table();

}  // namespace detail

/// The function of a call, and the values of its symbols. The function lives as long as this object; to keep it longer, take
/// shared_from_this(). bind_function throws Error if the call is wrong.
struct BoundFunction {
  const GraphFunction* function = nullptr;
  SymbolValues symbols;
  detail::FunctionTable::Reading reading = {};             ///< of the table that keeps the function
  std::shared_ptr<const GraphFunction> own = nullptr;      ///< the owner, if the table did not keep it
};
TT_INLINE BoundFunction bind_function(const Call& c);

/// The functions of eager ops: one for each signature (dtypes, ranks, attributes), as many as there is room for.
struct FunctionStats {
  int kept = 0, most = 0;
  std::int64_t evicted = 0;  ///< removed for others, as the least recently used
  std::int64_t refused = 0;  ///< used once and not kept, as all others were used recently
};
TT_INLINE FunctionStats function_stats();
namespace detail {
/// Throws the errors of the kernel of an op that becomes a node: runs it on Tensors without elements.
TT_INLINE void check_external(const Call& c);
/// The sizes that must be specialised, `as_numbers` among them, so that the recorded graph is legal; all, if that cannot be told.
TT_INLINE SizeSet sizes_needed(const Graph& g, const SizeSet& as_numbers);
}  // namespace detail

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/graph_function_inl.hpp"
#include "tt/dispatch/steps_inl.hpp"
#endif
