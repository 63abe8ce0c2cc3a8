// The IR: Node and Graph, one type at compile time and at run time. A Graph is a hash-consed array
// of nodes (equal nodes exist once) with inputs and outputs; its members record nodes, infer
// shapes and dtypes, and apply the exact simplifications of graph/infer.hpp.
//   Graph g;  int x = g.input(DType::f32, {64, 10});  g.output(g.elementwise(Op::add, {x, x}));
// A mistake is kept in `failure`; recording goes on with a harmless value.
#pragma once
#include "tt/core/error.hpp"
#include "tt/core/size_set.hpp"
#include "tt/graph/attributes.hpp"
#include "tt/ops/define.hpp"

namespace tt {

struct Graph;
struct OpDef;

inline constexpr int max_operands = 4;

struct OperandIds {
  int id[max_operands] = {-1, -1, -1, -1};
  constexpr int operator[](int k) const { return id[k]; }
};

struct Node {
  Op op = Op::input;
  DType dtype = DType::f32;
  int operand[max_operands] = {-1, -1, -1, -1};
  int identity = 0;            ///< nodes of different ones are never one node, however equal they are; 0: of none
  std::int64_t attribute = 0;  ///< input number, axes as bits, shift, packed axes or slice
  std::uint64_t bits = 0;      ///< a constant's value, see encode()
  const OpDef* def = nullptr;  ///< of Op::call
  std::uint64_t def_id = 0;    ///< its id: g++ 12's UBSan compares no addresses in constants
  Shape shape{};
  SourceLine where{};

  /// The same computation; where it was written does not count.
  friend constexpr bool operator==(const Node& a, const Node& b) {
    return a.op == b.op && a.operand[0] == b.operand[0] && a.operand[1] == b.operand[1] &&
           a.operand[2] == b.operand[2] && a.operand[3] == b.operand[3] && a.dtype == b.dtype &&
           a.identity == b.identity && a.attribute == b.attribute && a.bits == b.bits && a.def_id == b.def_id && a.shape == b.shape &&
           (std::is_constant_evaluated() || a.def == b.def);
  }
};

/// An op with a body, as the graph knows it: made once per op by op_def<F> in graph/sym.hpp.
struct OpDef {
  OpInfo info{};
  std::uint64_t id = 0;                ///< from the name of its type
  int code = -1;                       ///< place in OpaqueOps, or -1: inlined before scheduling
  bool has_rule = false;               ///< `differentiate` is set (g++ 12's UBSan rejects asking it)
  bool has_integer_form = false;       ///< `of_integers` is set
  int (*record)(const OpDef&, Graph&, const int*) = nullptr;  ///< the body on these operands
  void (*differentiate)(Graph&, const int* operands, int result, int grad,
                        int* contributions) = nullptr;
  void (*enlist)() = nullptr;  ///< of an opaque op: see enlist()
  const OpDef& (*of_integers)() = nullptr;  ///< the op that integers are given to instead
  const Graph* region = nullptr;            ///< the body, of an op that was read from text
};

/// What runs at run time is compiled where a program uses it: a file that records an opaque op, a product or a reduction outside of
/// a constant expression brings in its functions. Weak: a file that has no backend, or gets them from tt::compiled,
/// needs no definition. Their definitions are in backends/cpu.
template <class F>
[[gnu::weak]] void enlist_op();
template <class = void>
[[gnu::weak]] void enlist_products();
template <Op K>
[[gnu::weak]] void enlist_reduction();

namespace detail {

inline constexpr int max_opaque_ops = 64;
inline const OpDef* enlisted_ops[max_opaque_ops] = {};

inline void call_if_defined(void (*f)()) {
  void (*const volatile given)() = f;  // volatile: compilers take no function's address for null
  if (auto* const defined = given) defined();
}
/// Notes that a graph of this program has the op.
inline void enlist(const OpDef& def) {
  if (def.code < 0) return;
  __atomic_store_n(&enlisted_ops[def.code], &def, __ATOMIC_RELEASE);
  call_if_defined(def.enlist);
}
inline void enlist(Op reduction) {
  call_if_defined(reduction == Op::sum ? &enlist_reduction<Op::sum> : reduction == Op::amax ? &enlist_reduction<Op::amax>
                                                                                            : &enlist_reduction<Op::amin>);
}
[[noreturn]] inline void not_enlisted(const char* op) {
  TT_THROW(Error(Text("tt: this program has no code for ") << op << ": no file that includes tt/tt.hpp records it at run time. "
                 "Link tt::compiled, or record the graph in such a file?"));
}
inline void check_isa(const char* given, const char* own) {
  const char *a = given, *b = own;
  while (*a && *a == *b) ++a, ++b;
  if (*a != *b)
    TT_THROW(Error(Text("tt: files with Tensors are built for different CPUs, ") << given << " and " << own
                   << ". Build them with the same flags, or link tt::compiled?"));
}

}  // namespace detail

/// The bits of a number in a dtype: floats as their pattern, integers and bool as themselves.
constexpr std::uint64_t encode(DType dtype, double value) {
  switch (dtype) {
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f64: return std::bit_cast<std::uint64_t>(value);
    case DType::i32: return static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
    case DType::i64: return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    case DType::boolean: break;
  }
  return value != 0;
}
/// The same for a whole number, which a double may not hold: rounded once, as in C++.
constexpr std::uint64_t encode_integer(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f64: return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    case DType::i32: return static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
    case DType::i64: return static_cast<std::uint64_t>(value);
    case DType::boolean: break;
  }
  return value != 0;
}
template <class T>
constexpr T decode(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(bits);
  else if constexpr (std::is_same_v<T, bool>) return bits != 0;
  else return static_cast<T>(bits);
}
constexpr double decode(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::f32: return static_cast<double>(decode<float>(bits));
    case DType::f64: return decode<double>(bits);
    case DType::i32: return static_cast<double>(decode<std::int32_t>(bits));
    case DType::i64: return static_cast<double>(decode<std::int64_t>(bits));
    case DType::boolean: break;
  }
  return bits ? 1.0 : 0.0;
}

/// Bits of amax and amin: their gradient goes to the first of equals, in row-major order, and not to all of them evenly.
inline constexpr std::uint64_t gradient_to_first = 1;
/// Attributes of `copy`, besides 0: what is differentiated by, which goes before a graph is scheduled; and a kernel of its own that lays
/// out what lies across its reader's rows.
inline constexpr std::int64_t differentiated_by = 1, laying_out = 2;
/// A broadcast that is read where its operand lies, through a reshape: made by normalize.
inline constexpr std::int64_t repeated_in_place = 1;
/// Attribute of a reshape of windows whose axes do not lie so that they could be made one: a product reads them all the same.
inline constexpr std::int64_t read_as_windows = 1;
constexpr bool is_view(const Node& n) {
  return is_view(n.op) || (n.op == Op::broadcast && n.attribute == repeated_in_place);
}
/// Axis k of the result is axis `at(packed, k)` of the operand.
constexpr int permutation_at(std::int64_t packed, int k) {
  return static_cast<int>(packed >> (4 * k) & 15);
}

struct Graph {
  Vec<Node> nodes;
  Vec<int> inputs;   ///< node of each input, in order
  Vec<Shape> input_strides;  ///< of each input, in elements; rank 0: dense and row-major
  Vec<char> input_padded;    ///< of each input: a step beyond its last element may be touched
  Vec<int> outputs;  ///< node of each output, in order
  Vec<int> donated;  ///< for each output: the input whose memory it takes over, or -1
  Vec<char> output_padded;   ///< as of inputs
  Failure failure;
  SourceLine where;  ///< given to the nodes recorded next
  bool where_is_caller = false;  ///< inside a composite function: its lines do not count
  int room = 0;     ///< nodes that are kept, 0 for any number; beyond is a mistake
  int refused = 0;  ///< nodes that found no room
  struct Assumed {
    Extent a, b;
    Failure otherwise;
  };
  Vec<Assumed> assumed;  ///< symbolic extents that must turn out equal
  struct Needed {
    Extent extent;
    std::int64_t least = 0;
    Failure otherwise;
  };
  Vec<Needed> needed;  ///< symbolic extents, and how long they must be at least
  SizeSet as_numbers;  ///< symbols without which what failed is legal

  constexpr const Node& operator[](int id) const { return nodes.items[id]; }
  constexpr int size() const { return nodes.size(); }

  // ---- leaves
  constexpr int input(DType dtype, const Shape& shape, const Shape& strides = {}, bool padded = false) {
    Node n{.op = Op::input, .dtype = dtype, .attribute = inputs.size(), .shape = shape};
    const int id = intern(n);
    inputs.push_back(id);
    input_strides.push_back(strides);
    input_padded.push_back(padded);
    return id;
  }
  /// The input of another graph, with its strides.
  constexpr int input_like(const Graph& o, int id) {
    const int k = static_cast<int>(o[id].attribute);
    return input(o[id].dtype, o[id].shape, o.input_strides[k], o.input_padded[k]);
  }
  /// Is this an input whose elements do not lie dense?
  constexpr bool is_strided(int id) const {
    return nodes[id].op == Op::input && input_strides[static_cast<int>(nodes[id].attribute)].rank > 0;
  }
  constexpr int constant_bits(DType dtype, std::uint64_t bits) {
    return intern({.op = Op::constant, .dtype = dtype, .bits = bits});
  }
  constexpr int constant(DType dtype, double value) {
    return constant_bits(dtype, encode(dtype, value));
  }
  constexpr int constant_integer(DType dtype, std::int64_t value) {
    return constant_bits(dtype, encode_integer(dtype, value));
  }
  constexpr int constant(DType dtype, double value, Shape shape) {  // a copy: nodes may move
    return broadcast_to(constant(dtype, value), shape);
  }
  /// An extent as a number: a constant when it is known.
  constexpr int extent(DType dtype, Extent e) {
    if (e.is_constant()) return constant_integer(dtype, e.code);
    return intern({.op = Op::extent, .dtype = dtype, .attribute = e.code});
  }
  /// The index along one axis of a shape.
  constexpr int iota(DType dtype, const Shape& shape, int axis) {
    return intern({.op = Op::iota, .dtype = dtype, .attribute = axis, .shape = shape});
  }
  constexpr void clear_outputs() {
    outputs.clear();
    donated.clear();
    output_padded.clear();
  }
  constexpr void output(int id, int donated_input = -1, bool padded = false) {
    outputs.push_back(id);
    donated.push_back(donated_input);
    output_padded.push_back(donated_input >= 0 ? input_padded[donated_input] : padded);
  }

  // ---- elementwise
  constexpr int elementwise(Op op, OperandIds operands, std::int64_t attribute = 0,
                            DType to = DType::f32);
  constexpr int add(int a, int b) { return elementwise(Op::add, {a, b}); }
  constexpr int sub(int a, int b) { return elementwise(Op::sub, {a, b}); }
  constexpr int mul(int a, int b) { return elementwise(Op::mul, {a, b}); }
  constexpr int div(int a, int b) { return elementwise(Op::div, {a, b}); }
  constexpr int neg(int a) { return elementwise(Op::neg, {a}); }
  constexpr int where_(int m, int a, int b) { return elementwise(Op::where, {m, a, b}); }
  constexpr int cast(int a, DType to) { return elementwise(Op::cast, {a}, 0, to); }
  constexpr int call(const OpDef& def, OperandIds operands);

  // ---- shape
  constexpr int broadcast_to(int a, const Shape& shape);
  constexpr int reshape(int a, const Shape& shape);
  /// Axis k of the result is axis axes[k] of `a`.
  constexpr int permute(int a, const int* axes);
  constexpr int transpose(int a, int axis0, int axis1);
  constexpr int slice(int a, int axis, Extent start, Extent length, std::int64_t step);

  /// Windows of `size` elements along one axis, the first ones `step` apart, the elements of one `dilation` apart: the axis
  /// becomes the number of windows, and a last axis has what they hold. The same elements as `a`.
  constexpr int window(int a, int axis, std::int64_t size, std::int64_t step, std::int64_t dilation = 1);
  /// `a` among elements that are `bits`, in its dtype; see PadAttribute.
  constexpr int pad(int a, const PadAttribute& before, const Shape& to, std::uint64_t bits = 0);
  /// `base` with `a` in place of some of its elements, `start` elements along one axis from its beginning.
  constexpr int slice_scatter(int base, int a, int axis, Extent start);
  /// Values one behind the other along an axis. (In constant expressions their extents along it are numbers.)
  constexpr int cat(const int* a, int count, int axis);

  // ---- reductions and products
  /// Axes as bits; keeps them with extent 1. The order of summation is that of reference_sum. One that is known where a
  /// program is compiled brings in no other.
  constexpr int reduce(Op op, int a, unsigned axes, std::uint64_t bits = 0);
  template <Op K>
  constexpr int reduce(int a, unsigned axes, std::uint64_t bits = 0) {
    if (!std::is_constant_evaluated()) detail::call_if_defined(&enlist_reduction<K>);
    return reduction(K, a, axes, bits);
  }
  constexpr int reduction(Op op, int a, unsigned axes, std::uint64_t bits = 0);  ///< reduce, where the program has it already
  constexpr int matmul(int a, int b);
  constexpr int product(int a, int b);  ///< matmul, where the program has one already
  /// Images (N, C, H, W) with weights (O, C / groups, KH, KW): windows of the images times the weights.
  constexpr int conv(int images, int weights, const ConvAttribute& c);
  constexpr int correlation(int images, int weights, const ConvAttribute& c);  ///< conv, where the program has one already
  constexpr int detach(int a) {
    return intern({.op = Op::detach, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1},
                   .shape = nodes[a].shape});
  }

  // ---- plumbing
  /// Equal extents; where one is a symbol that is taken for granted and noted, with what is wrong otherwise.
  template <class MakeFailure>
  constexpr bool equal(Extent a, Extent b, const MakeFailure& otherwise) {
    if (a == b) return true;
    if (a.is_constant() && b.is_constant()) return false;
    assumed.push_back({a, b, located(otherwise())});
    return true;
  }
  /// An extent that is no less than that; where it is an expression that may be, that is noted.
  template <class MakeFailure>
  constexpr bool at_least(Extent e, std::int64_t least, const MakeFailure& otherwise) {
    if (e.is_constant()) return e.code >= least;
    if (std::is_constant_evaluated() || e.least() < least) needed.push_back({e, least, located(otherwise())});
    return true;
  }
  template <class MakeFailure>
  constexpr BroadcastResult broadcast(const Shape& a, const Shape& b, const MakeFailure& otherwise) {
    if (b.rank == 0) return {a, true};
    BroadcastResult r = try_broadcast(a, b);
    if (r.ok) return r;
    r.ok = true;
    for (int k = 0; k < r.shape.rank; ++k) {
      const Extent x = a.from_right(k), y = b.from_right(k);
      if (x != Extent(1) && y != Extent(1) && !equal(x, y, otherwise)) r.ok = false;
    }
    return r;
  }
  /// A failure of what is recorded now.
  constexpr Failure located(Failure f) const {
    if (!f.where.line) f.where = where;
    return f;
  }
  constexpr int fail(const Failure& f, int harmless = 0) {
    if (!failure) failure = located(f);
    if (nodes.empty()) return constant(DType::f32, 0);
    return harmless;
  }
  /// What was recorded needs this extent as a number.
  constexpr void need_number(Extent e) { as_numbers |= symbols_of(e); }
  constexpr bool is_constant(int id) const { return nodes[id].op == Op::constant; }
  constexpr bool is_constant(int id, double value) const {
    return is_constant(id) && decode(nodes[id].dtype, nodes[id].bits) == value &&
           (value != 0 || nodes[id].bits == encode(nodes[id].dtype, value));
  }
  /// The constant that `id` repeats, or `id` itself.
  constexpr int repeated_constant(int id) const {
    return nodes[id].op == Op::broadcast && is_constant(nodes[id].operand[0]) ? nodes[id].operand[0]
                                                                             : id;
  }
  constexpr int find(const Node& node) const {
    return find(node, hash(node));
  }
  /// The node's id: an equal one that exists already, or a new one.
  constexpr int intern(const Node& node) {
    const std::uint64_t h = hash(node);
    if (const int i = find(node, h); i >= 0) return i;
    const bool countable = is_countable(node.shape);
    if (!countable)
      fail({.mistake = Mistake::too_many_elements, .op = name(node.op), .a = node.shape,
            .where = node.where.line ? node.where : where});
    if (room > 0 && nodes.size() >= room) return refuse(node, countable);
    nodes.push_back(node);
    Node& kept = nodes.back();
    if (!kept.where.line) kept.where = where;
    if (!countable) kept.shape = {};
    chain_.push_back(0);
    if (nodes.size() > 2 * buckets()) grow();
    else link(nodes.size() - 1, h);
    return nodes.size() - 1;
  }

 private:
  // A hash table: the newest node of each bucket, plus one; of each node the one before it there.
  static constexpr int few = 64;
  int few_heads_[few] = {};
  Vec<int> heads_;  ///< in their place, once there are many nodes
  Vec<int> chain_;

  constexpr int buckets() const { return heads_.empty() ? few : heads_.size(); }
  constexpr int head(std::uint64_t h) const {
    return heads_.empty() ? few_heads_[h % few] : heads_[static_cast<int>(h & static_cast<unsigned>(heads_.size() - 1))];
  }
  constexpr int find(const Node& node, std::uint64_t h) const {
    for (int i = head(h) - 1; i >= 0; i = chain_[i])
      if (nodes[i] == node) return i;
    return -1;
  }
  constexpr void link(int id, std::uint64_t h) {
    chain_[id] = head(h) - 1;
    (heads_.empty() ? few_heads_[h % few] : heads_[static_cast<int>(h & static_cast<unsigned>(heads_.size() - 1))]) = id + 1;
  }
  constexpr void grow() {
    heads_ = Vec<int>(4 * buckets(), 0);
    for (int i = 0; i < nodes.size(); ++i) link(i, hash(nodes[i]));
  }

  /// So that recording goes on in a full graph: the last place becomes a leaf of this shape.
  constexpr int refuse(const Node& node, bool countable) {
    ++refused;
    fail({.mistake = Mistake::too_many_nodes, .op = "fuse", .number = nodes.size() + 1,
          .where = node.where.line ? node.where : where});
    nodes.back() = {.op = Op::input, .dtype = node.dtype, .attribute = -1, .shape = countable ? node.shape : Shape{}};
    return nodes.size() - 1;
  }
  /// In a full graph: constant evaluation has a limit too.
  constexpr int skip(int operand) {
    ++refused;
    return operand;
  }
  static constexpr std::uint64_t hash(const Node& n) {
    std::uint64_t h = static_cast<std::uint64_t>(n.op) * 31 + static_cast<std::uint64_t>(n.dtype) + n.def_id;
    h = h * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(n.operand[0] + 1) + (static_cast<std::uint64_t>(n.operand[1] + 1) << 32);
    h = h * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(n.operand[2] + 1) + static_cast<std::uint64_t>(n.attribute) +
        static_cast<std::uint64_t>(n.identity) * 31;
    h = h * 0x9e3779b97f4a7c15u + n.bits + static_cast<std::uint64_t>(n.shape.rank);
    if (n.shape.rank > 0) h += static_cast<std::uint64_t>(n.shape.code[0]) + static_cast<std::uint64_t>(n.shape.code[n.shape.rank - 1]) * 29;
    return h ^ h >> 32;
  }
};

}  // namespace tt

#include "tt/graph/infer.hpp"
#include "tt/graph/windows.hpp"
