// What Tensors run through: a graph with symbolic sizes, its program, and its derivatives, made once
// for a signature (dtypes, ranks, which extents are 1, which are equal, how the operands lie) and
// kept. Every eager op, every backward step of the tape and every captured function is one of these,
// so no formula, shape rule or derivative is written for Tensors a second time.
//   GraphFunction& f = intern(op, attributes, signature);   f.run(arguments, symbols, results);
#pragma once
#include <memory>

#include "tt/backends/runtime.hpp"
#include "tt/dispatch/capture_events.hpp"
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
  TT_INLINE explicit GraphFunction(Graph graph, const ProgramOptions& options = {}, bool results_change = false);
  GraphFunction(const GraphFunction&) = delete;
  TT_INLINE ~GraphFunction();

  const Graph& graph() const { return graph_; }
  int outputs() const { return graph_.outputs.size(); }
  /// Does a result depend on what input k holds (and not only on its shape)?
  bool reads(int k) const { return read_[k]; }
  /// The inputs, as bits, that result k is a function of with a derivative.
  std::uint64_t flows_into(int k) const { return flow_[k]; }

  /// One result for each output: freshly allocated, or the argument whose memory it takes over. Arguments that are not read may have no elements.
  /// `otherwise`: where it runs if no argument says so.
  TT_INLINE void run(const Tensor* const* argument, const SymbolValues& symbols, Tensor* result, Device otherwise = {}) const;
  /// Of a copy: writes the dense elements of `from` to where the copy reads `to`, on their device.
  TT_INLINE void write(const Tensor& to, const Tensor& from, const SymbolValues& symbols) const;
  TT_INLINE Shape output_shape(int k, const SymbolValues& symbols) const;
  const backend::TileProgram& program() const { return *share_program(); }
  TT_INLINE const std::shared_ptr<backend::TileProgram>& share_program() const;
  TT_INLINE int kernels() const;
  /// Of its program on the CPU.
  TT_INLINE backend::TileProgram::Calls calls() const;

  /// What its programs on devices say of their runs, and those of its derivatives: a line each, behind `indent`.
  void report(Text& t, const char* indent) const;

  /// From the inputs and one adjoint for each output to the adjoints of the inputs in `wanted` (bits)
  /// through which something flows: those are the bits of `given`, one output each.
  struct Derivative {
    std::uint64_t wanted = 0, given = 0;
    const GraphFunction* function = nullptr;
    Derivative* next = nullptr;
  };
  TT_INLINE const Derivative& derivative(std::uint64_t wanted) const;

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
    TT_INLINE ~Joint();
  };
  /// Made once for each `wanted`, with the sizes of that call as an estimate. Null: nothing flows, or there would be
  /// too many results.
  TT_INLINE const Joint* joint(std::uint64_t wanted, const SymbolValues& sizes) const;

  /// The backward of `j` that also takes adjoints of saved values, which have some where backward itself is differentiated.
  /// Made when it is first asked for.
  TT_INLINE const Joint::Backward& second_backward(const Joint& j) const;

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
  TT_INLINE Device device_of(const Tensor* const* argument, int count, Device otherwise) const;
  void run_on(Device device, const Tensor* const* argument, const SymbolValues& symbols, Tensor* result) const;
  DeviceProgram& device_program(DeviceType type, bool writes) const;
};

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
