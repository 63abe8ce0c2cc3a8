// The IR: Node and Graph, one type at compile time and at run time. A Graph is a hash-consed array of nodes (equal nodes exist once) with inputs and outputs;
// its members record nodes, infer shapes and dtypes, and apply the exact simplifications of graph/infer.hpp.
//   Graph g;  int x = g.input(DType::f32, {64, 10});  g.output(g.elementwise(Op::add, {x, x}));
// A mistake is kept in `failure`; recording goes on with a harmless value.
#pragma once
#include "tt/core/size_set.hpp"
#include "tt/graph/node.hpp"

namespace tt {

struct Graph {
  Vec<Node> nodes;
  Vec<int> inputs;   ///< node of each input, in order
  Vec<Shape> input_strides;  ///< of each input, in elements; rank 0: contiguous, row-major
  Vec<char> input_padded;    ///< of each input: a SIMD step beyond its last element may be touched
  Vec<int> outputs;  ///< node of each output, in order
  Vec<int> donated;  ///< for each output: the input whose memory it takes over, or -1
  Vec<char> output_padded;   ///< as input_padded, of each output
  Failure failure;
  SourceLine where;  ///< given to the nodes recorded next
  bool where_is_caller = false;  ///< in an op's body: the caller's line counts, not the lines of the body
  /// Nodes recorded now are steps of a program: even equal ones stay separate nodes, so that gradients are summed step by step. Such a node has a negative
  /// identity, which is lost where a graph is recorded anew without this flag.
  bool records_steps = false;
  int room = 0;     ///< most nodes to keep, 0 for any number; a further node is a mistake
  int refused = 0;  ///< number of nodes that found no room
  struct Assumed {
    Extent a, b;
    Failure otherwise;
  };
  Vec<Assumed> assumed;  ///< symbolic extents that must be equal
  struct Needed {
    Extent extent;
    std::int64_t least = 0;
    Failure otherwise;
  };
  Vec<Needed> needed;  ///< symbolic extents that must not be smaller than `least`
  SizeSet as_numbers;  ///< symbols to specialise: with constants in their place the failed op is legal

  constexpr const Node& operator[](int id) const { return nodes.items[id]; }
  constexpr int size() const { return nodes.size(); }
  /// The operands of a node of this graph; valid until the next node is recorded.
  constexpr Ids operands(const Node& n) const {
    return n.more < 0 ? Ids(n.operand, n.operand_count) : Ids(more_operands_.items + n.more, n.operand_count);
  }
  constexpr Ids operands(int id) const { return operands(nodes.items[id]); }
  /// A node's attribute struct.
  template <AttributeStruct A>
  constexpr A attributes(const Node& n) const {
    A a;
    A::each(a, detail::WordReader{attribute_words_.items + n.attributes + 1});
    return a;
  }
  template <AttributeStruct A>
  constexpr A attributes(int id) const { return attributes<A>(nodes.items[id]); }
  /// The attribute struct as words.
  constexpr Vec<std::int64_t> attribute_words(const Node& n) const {
    Vec<std::int64_t> words;
    if (n.attributes >= 0) words.append(attribute_words_.items + n.attributes + 1, static_cast<int>(attribute_words_[n.attributes]));
    return words;
  }
  /// The axis of the operand of a permutation that is axis k of its result.
  constexpr int permuted_axis(const Node& n, int k) const { return static_cast<int>(attribute_words_.items[n.attributes + 2 + k]); }

  /// An empty graph with the failure of `from` and room for as many nodes.
  static constexpr Graph like(const Graph& from) {
    Graph g;
    g.failure = from.failure;
    g.nodes.reserve(from.size());
    g.chain_.reserve(from.size());
    return g;
  }

  // ---- leaves
  constexpr int input(DType dtype, const Shape& shape, const Shape& strides = {}, bool padded = false) {
    Node n{.op = Op::input, .dtype = dtype, .attribute = inputs.size(), .shape = shape};
    const int id = intern(n);
    inputs.push_back(id);
    input_strides.push_back(strides);
    input_padded.push_back(padded);
    return id;
  }
  /// A scalar given to a static program: beside values its dtype widens nothing within their category, as in PyTorch. `elementwise` reads the mark in `bits`
  /// and records the casts.
  constexpr int number_input(DType dtype) {
    const int id = input(dtype, {});
    nodes[id].bits = is_number_input;
    return id;
  }
  /// The input of another graph, with its strides.
  constexpr int input_like(const Graph& o, int id) {
    const int k = static_cast<int>(o[id].attribute);
    return input(o[id].dtype, o[id].shape, o.input_strides[k], o.input_padded[k]);
  }
  /// Is this an input with strides of its own (not contiguous)?
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
  /// An extent as a scalar: a constant if it is known.
  constexpr int extent(DType dtype, Extent e) {
    if (e.is_constant()) return constant_integer(dtype, e.code);
    if (is_narrow(dtype)) return cast(extent(compute_dtype(dtype), e), dtype);
    return intern({.op = Op::extent, .dtype = dtype, .attribute = e.code});
  }
  /// Indices along one axis of a shape.
  constexpr int iota(DType dtype, const Shape& shape, int axis) {
    if (is_narrow(dtype)) return cast(iota(compute_dtype(dtype), shape, axis), dtype);
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

  /// The outputs of `g`, whose node i is node map[i] here.
  constexpr void take_outputs(const Graph& g, const Vec<int>& map) {
    for (int k = 0; k < g.outputs.size(); ++k) output(map[g.outputs[k]], g.donated[k], g.output_padded[k]);
  }

  // ---- elementwise
  constexpr DType result_dtype(const int* id, int count) const;
  constexpr int elementwise(Op op, Ids operands, std::int64_t attribute = 0,
                            DType to = DType::f32);
  constexpr int add(int a, int b) { return elementwise(Op::add, {a, b}); }
  constexpr int sub(int a, int b) { return elementwise(Op::sub, {a, b}); }
  constexpr int mul(int a, int b) { return elementwise(Op::mul, {a, b}); }
  constexpr int div(int a, int b) { return elementwise(Op::div, {a, b}); }
  constexpr int neg(int a) { return elementwise(Op::neg, {a}); }
  constexpr int where_(int m, int a, int b) { return elementwise(Op::where, {m, a, b}); }
  constexpr int cast(int a, DType to) { return elementwise(Op::cast, {a}, 0, to); }
  constexpr int call(const OpDef& def, Ids operands);
  constexpr int widened(int a);
  constexpr int computed_in(int a, DType dtype);
  constexpr void take_numbers(int* id, int count);
  constexpr int number_beside(int a, DType narrow);
  constexpr int cast_narrow(int a, DType to, std::int64_t attribute = 0);
  constexpr int elementwise_narrow(Op op, const int* id, std::int64_t attribute, DType dtype);
  constexpr int rounded_constant(int a, Op op);

  // ---- shape
  constexpr int broadcast_to(int a, const Shape& shape);
  constexpr int reshape(int a, const Shape& shape);
  /// Axis k of the result is axis axes[k] of `a`.
  constexpr int permute(int a, const int* axes);
  constexpr int transpose(int a, int axis0, int axis1);
  constexpr int slice(int a, int axis, Extent start, Extent length, std::int64_t step);

  /// Windows of `size` elements along one axis: windows begin `step` elements apart, elements of one window are `dilation` apart. The axis becomes the number
  /// of windows, and a new last axis the elements of each. A view of `a`.
  constexpr int window(int a, int axis, std::int64_t size, std::int64_t step, std::int64_t dilation = 1);
  /// `a` surrounded by elements with value `bits`, in its dtype; see PadAttribute.
  constexpr int pad(int a, const PadAttribute& before, const Shape& to, std::uint64_t bits = 0);
  /// `base` with `a` in place of some of its elements, from index `start` of one axis on.
  constexpr int slice_scatter(int base, int a, int axis, Extent start);
  /// Elements of `a` along an axis at i64 indices `places`; along the other axes, extents of 1 of either operand are broadcast. The caller has checked that
  /// the indices are within the axis, see plan/take_calls.hpp.
  constexpr int take(int a, int places, int axis);
  /// Concatenates values along an axis. (In constant expressions their extents along that axis are constants.)
  constexpr int cat(const int* a, int count, int axis);

  // ---- reductions and products
  /// `axes`: a bit mask; reduced axes keep extent 1. The order of summation is that of reference_sum.
  constexpr int reduce(Op op, int a, unsigned axes, std::uint64_t bits = 0);
  constexpr int matmul(int a, int b);
  /// Images (N, C, H, W) with weights (O, C / groups, KH, KW): windows of the images times the weights.
  constexpr int conv(int images, int weights, const ConvAttribute& c);
  constexpr int detach(int a, std::int64_t why = 0) {
    return intern({.op = Op::detach, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1}, .attribute = why,
                   .shape = nodes[a].shape});
  }

  // ---- plumbing
  /// Are two extents equal? Symbols are assumed equal: noted in `assumed` with the failure to report otherwise.
  template <class MakeFailure>
  constexpr bool equal(Extent a, Extent b, const MakeFailure& otherwise) {
    if (a == b) return true;
    if (a.is_constant() && b.is_constant()) return false;
    assumed.push_back({a, b, located(otherwise())});
    return true;
  }
  /// Is an extent at least `least`? For a symbolic extent that may be less, noted in `needed`.
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
  /// `f` with the line of the node that is recorded now, if it has none.
  constexpr Failure located(Failure f) const {
    if (!f.where.line) f.where = where;
    return f;
  }
  constexpr int fail(const Failure& f, int harmless = 0) {
    if (!failure) failure = located(f);
    if (nodes.empty()) return constant(DType::f32, 0);
    return harmless;
  }
  /// The op recorded needs this extent specialised.
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
  /// The id of an equal node, or -1. Only for a node without attribute words and further operands.
  constexpr int find(const Node& node) const { return find(node, hash(node)); }
  /// The id of an equal node that exists already, or of a new one. The node's indices into lists refer to this graph.
  constexpr int intern(const Node& node) { return intern(node, attribute_words_.size()); }
  /// A node with the attribute struct of its op.
  template <AttributeStruct A>
  constexpr int intern(Node node, const A& attributes) {
    node.attributes = attribute_words_.size();
    attribute_words_.push_back(0);
    A::each(attributes, detail::WordWriter{attribute_words_});
    attribute_words_[node.attributes] = attribute_words_.size() - node.attributes - 1;
    return intern(node, node.attributes);
  }
  /// A copy of a node of another graph, on operands of this graph.
  constexpr int intern(Node node, const Graph& from, Ids operands) {
    const int words_before = attribute_words_.size();
    if (node.attributes >= 0) {
      const std::int64_t words = from.attribute_words_.items[node.attributes];
      for (int k = 0; k <= words; ++k) attribute_words_.push_back(from.attribute_words_.items[node.attributes + k]);
      node.attributes = words_before;
    }
    return intern(node, operands, words_before);
  }
  /// A node with any number of operands and with attributes as words (empty: its op has no attribute struct).
  constexpr int intern(Node node, const Vec<std::int64_t>& words, Ids operands) {
    const int words_before = attribute_words_.size();
    node.attributes = words.empty() ? -1 : words_before;
    if (!words.empty()) attribute_words_.push_back(words.size());
    attribute_words_.append(words.begin(), words.size());
    return intern(node, operands, words_before);
  }
  /// The identity of the next step that is recorded: see records_steps.
  constexpr int next_step() const { return -1 - nodes.size(); }
  /// Are two nodes the same computation? Source lines do not count.
  static constexpr bool are_equal(const Graph& g, const Node& a, const Graph& h, const Node& b) {
    if (!(a.op == b.op && a.operand[0] == b.operand[0] && a.operand[1] == b.operand[1] && a.operand[2] == b.operand[2] &&
          a.operand[3] == b.operand[3] && a.dtype == b.dtype && a.identity == b.identity && a.attribute == b.attribute &&
          a.bits == b.bits && a.def_id == b.def_id && a.shape == b.shape && (std::is_constant_evaluated() || a.def == b.def)))
      return false;
    if (a.attributes >= 0) {
      const std::int64_t *x = g.attribute_words_.items + a.attributes, *y = h.attribute_words_.items + b.attributes;
      for (std::int64_t k = 0; k <= x[0]; ++k)  // the count first
        if (x[k] != y[k]) return false;
    }
    if (a.more < 0 && b.more < 0) return true;
    const Ids x = g.operands(a), y = h.operands(b);
    bool same = x.count == y.count;
    for (int k = 0; k < x.count && same; ++k) same = x[k] == y[k];
    return same;
  }

 private:
  // A hash table with chains: heads hold the newest node of a bucket, plus 1. Hashes are kept: in a large graph, each node looked at is a cache miss.
  struct Link {
    int next = -1;  ///< the next older node of the bucket
    unsigned hash = 0;
  };
  static constexpr int few = 64;
  int few_heads_[few] = {};
  Vec<int> heads_;  ///< replaces few_heads_, once there are many nodes
  Vec<Link> chain_;  ///< of each node
  Vec<int> more_operands_;             ///< of nodes with more than inline_operands
  Vec<std::int64_t> attribute_words_;  ///< of each attribute struct: the number of words, then the words

  constexpr int buckets() const { return heads_.empty() ? few : heads_.size(); }
  constexpr int head(std::uint64_t h) const {
    return heads_.empty() ? few_heads_[h % few] : heads_[static_cast<int>(h & static_cast<unsigned>(heads_.size() - 1))];
  }
  constexpr int find(const Node& node, std::uint64_t h) const {
    for (int i = head(h) - 1; i >= 0; i = chain_.items[i].next)
      if (chain_.items[i].hash == static_cast<unsigned>(h) && are_equal(*this, nodes.items[i], *this, node)) return i;
    return -1;
  }
  constexpr int intern(Node node, Ids operands, int words_before) {
    node.operand_count = operands.count;
    node.more = -1;
    for (int k = 0; k < inline_operands; ++k) node.operand[k] = k < operands.count ? operands[k] : -1;
    const int operands_before = more_operands_.size();
    if (operands.count > inline_operands) {
      Vec<int> kept;  // `operands` may point into more_operands_, which moves
      kept.append(operands.first, operands.count);
      node.more = operands_before;
      more_operands_.append(kept.begin(), kept.size());
    }
    const int known = nodes.size(), id = intern(node, words_before);
    if (nodes.size() == known) more_operands_.resize(operands_before);
    return id;
  }
  /// `words_before`: the size of attribute_words_ before the words of this node were written.
  constexpr int intern(const Node& node, int words_before) {
    if (!std::is_constant_evaluated() && node.identity <= 0 && records_steps != is_step(node) && !is_leaf(node.op)) {
      Node other = node;
      other.identity = records_steps ? next_step() : 0;
      return intern(other, words_before);
    }
    const std::uint64_t h = hash(node);
    if (const int i = find(node, h); i >= 0) {
      attribute_words_.resize(words_before);
      return i;
    }
    const bool countable = is_countable(node.shape);
    if (!countable)
      fail({.mistake = Mistake::too_many_elements, .op = name(node.op), .a = node.shape,
            .where = node.where.line ? node.where : where});
    if (room > 0 && nodes.size() >= room) return refuse(node, countable);
    nodes.push_back(node);
    Node& kept = nodes.back();
    static_assert(inline_operands == 4);
    if (kept.more < 0) {  // one expression: constant evaluation counts statements
      const int* const o = kept.operand;
      kept.operand_count = o[0] < 0 ? 0 : o[1] < 0 ? 1 : o[2] < 0 ? 2 : o[3] < 0 ? 3 : 4;
    }
    if (!kept.where.line) kept.where = where;
    if (!countable) kept.shape = {};
    chain_.push_back({-1, static_cast<unsigned>(h)});
    if (nodes.size() > 2 * buckets()) grow();
    else link(nodes.size() - 1, h);
    return nodes.size() - 1;
  }
  constexpr void link(int id, std::uint64_t h) {
    chain_.items[id].next = head(h) - 1;
    (heads_.empty() ? few_heads_[h % few] : heads_[static_cast<int>(h & static_cast<unsigned>(heads_.size() - 1))]) = id + 1;
  }
  constexpr void grow() {
    heads_ = Vec<int>(4 * buckets(), 0);
    for (int i = 0; i < nodes.size(); ++i) link(i, chain_.items[i].hash);
  }

  /// Lets recording go on in a full graph: the last node becomes a leaf of this shape.
  constexpr int refuse(const Node& node, bool countable) {
    ++refused;
    fail({.mistake = Mistake::too_many_nodes, .op = "fuse", .number = nodes.size() + 1,
          .where = node.where.line ? node.where : where});
    nodes.back() = {.op = Op::input, .dtype = node.dtype, .attribute = -1, .shape = countable ? node.shape : Shape{}};
    return nodes.size() - 1;
  }
  /// Records nothing in a full graph: constant evaluation has a limit too.
  constexpr int skip(int operand) {
    ++refused;
    return operand;
  }
  constexpr std::uint64_t hash(const Node& n) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;  // one expression, as constant evaluation counts statements
    std::uint64_t h = (((static_cast<std::uint64_t>(n.op) * 31 + static_cast<std::uint64_t>(n.dtype) + n.def_id) * odd + static_cast<std::uint64_t>(n.operand[0] + 1) +
                        (static_cast<std::uint64_t>(n.operand[1] + 1) << 32)) * odd + static_cast<std::uint64_t>(n.operand[2] + 1) + static_cast<std::uint64_t>(n.attribute) +
                       static_cast<std::uint64_t>(n.identity) * 31) * odd + n.bits + static_cast<std::uint64_t>(n.shape.rank) +
                      (n.shape.rank > 0 ? static_cast<std::uint64_t>(n.shape.code[0]) + static_cast<std::uint64_t>(n.shape.code[n.shape.rank - 1]) * 29 : 0);
    if (n.attributes >= 0) {
      const std::int64_t* const words = attribute_words_.items + n.attributes;
      for (std::int64_t k = words[0]; k > 0; --k) h = h * 31 + static_cast<std::uint64_t>(words[k]);
    }
    if (n.more >= 0)
      for (int o : operands(n)) h = h * 31 + static_cast<std::uint64_t>(o);
    return h ^ h >> 32;
  }
};

namespace detail {

/// A reduction; instantiates its kernels, which the program may not have yet.
template <Op K>
constexpr int reduce(Graph& g, int a, unsigned axes, std::uint64_t bits = 0) {
  enlist_kernels<K>();
  return g.reduce(K, a, axes, bits);
}

}  // namespace detail

}  // namespace tt

#include "tt/graph/infer.hpp"
#include "tt/graph/windows.hpp"
