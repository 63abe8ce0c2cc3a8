// Random graphs, as a user could record them, with the numbers to run them on. Everything follows
// from the seed. What is drawn depends on shapes and dtypes only, never on node numbers, so one
// seed gives the same program with constants in the graph or hidden from it in inputs.
// One class of many short steps, one for each kind of node: they share the dice and the values.
//   Program p = random_program(seed, {});   // p.graph, p.symbols, p.input
// The graph alone can be drawn in a constant expression, the same for the same seed.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tt/graph/differentiate.hpp"
#include "tt/functional/tensor_ops.hpp"

namespace fuzz {

using tt::DType;
using tt::Extent;
using tt::Graph;
using tt::Op;
using tt::Shape;
using tt::Sym;

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators").
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 .. n-1
  constexpr int below(int n) { return static_cast<int>((*this)() >> 33) % n; }
  constexpr bool chance(double p) { return unit() < p; }
  constexpr double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
  template <class T>
  constexpr T any(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int>(list.size()))];
  }

 private:
  std::uint64_t state_;
};

/// Elements of an input, each encoded as a constant's bits.
using Values = std::vector<std::uint64_t>;

template <class Inputs>
struct BasicProgram {
  std::uint64_t seed = 0;   ///< asked for
  std::uint64_t drawn = 0;  ///< what the generator got, see random_program
  Graph graph;
  tt::SymbolValues symbols;
  Inputs input;
  bool differentiated = false;
  /// Ops of several nodes, by the operator that is all of them.
  struct Composite {
    const char* name;
    int operand, result;
    unsigned axes;
    bool keepdim;
  };
  tt::Vec<Composite> composites;
};
using Program = BasicProgram<std::vector<Values>>;
/// Without numbers.
struct NoInputs {};
using GraphProgram = BasicProgram<NoInputs>;

struct Options {
  int steps = 40;               ///< recording steps at most
  std::int64_t work = 250000;   ///< elements computed by all nodes together, at most
  int outputs = 3;              ///< at most, beside updates and gradients
  bool hide_constants = false;  ///< constants are inputs of rank 0
  bool drop_detach = false;     ///< a planted bug: detach records nothing
  bool smooth = false;          ///< f64, finite, and nothing without a derivative
  bool like_tensors = false;    ///< no symbol is 1, and what is sliced has numbers, as in graphs of Tensors
  bool narrow = false;          ///< dtypes that are stored in less than they are computed in, mostly
  bool takes = false;           ///< elements at places, and so no gradients: takes are made when those are there
  bool specials = true;         ///< NaN, infinities, -0 and denormals now and then
};

enum class Numbers { ordinary, ties, special };

inline std::uint64_t random_bits(Random& r, DType d, Numbers kind) {
  if (d == DType::boolean) return static_cast<std::uint64_t>(r.below(2));
  if (tt::is_integral(d)) {
    if (kind == Numbers::special && r.chance(0.2)) {
      const std::int64_t low = d == DType::i32 ? std::numeric_limits<std::int32_t>::min()
                                               : std::numeric_limits<std::int64_t>::min();
      return tt::encode_integer(d, r.any<std::int64_t>({low, -(low + 1), -1, 0}));
    }
    return tt::encode_integer(d, std::int64_t{r.below(19)} - 6);
  }
  if (kind == Numbers::ties) return tt::encode(d, r.any({-1.0, -0.5, 0.0, 1.0, 2.0}));
  if (kind == Numbers::special && r.chance(0.15)) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const double tiny = d == DType::f64 ? 0x1p-1074 : d == DType::f16 ? 0x1p-24 : d == DType::bf16 ? 0x1p-133 : 0x1p-149;
    const double large = d == DType::f64 ? 0x1.fffffffffffffp1023 : d == DType::f16 ? 65504 : d == DType::bf16 ? 0x1.fep127 : 0x1.fffffep127;
    return tt::encode(
        d, r.any({0.0, -0.0, inf, -inf, std::nan(""), tiny, -3 * tiny, large, -large, 1.0, -1.0}));
  }
  return tt::encode(d, r.unit() * 4 - 2);
}

inline Values random_values(Random& r, DType d, std::int64_t n, Numbers kind) {
  Values v(static_cast<std::size_t>(n));
  for (std::uint64_t& x : v) x = random_bits(r, d, kind);
  return v;
}

template <class Program>
class BasicGenerator {
 public:
  constexpr BasicGenerator(std::uint64_t seed, const Options& options) : r_(seed), number_dice_(~seed), o_(options) {
    p_.seed = p_.drawn = seed;
    numbers_ = o_.smooth                       ? Numbers::ordinary
               : o_.specials && r_.chance(0.3) ? Numbers::special
               : r_.chance(0.2)                ? Numbers::ties
                                               : Numbers::ordinary;
    base_ = o_.smooth ? DType::f64
                      : r_.any({DType::f32, DType::f32, DType::f32, DType::f64, DType::f64,
                                DType::i32, DType::i64});
    mixed_ = !o_.smooth && r_.chance(0.4);
    if (o_.narrow) base_ = narrow_dtype();
    choose_extents();
  }

  /// Inputs and values; no outputs yet.
  constexpr void record() {
    for (int n = 1 + r_.below(4); n > 0; --n) {
      const DType d = random_dtype();  // one after the other: arguments have no order
      new_input(d, random_shape());
    }
    for (int k = 1 + r_.below(o_.steps); k > 0; --k) step();
  }
  constexpr Program run() {
    record();
    if (!o_.takes && r_.chance(0.3)) {
      differentiate();
      for (int k = r_.below(4); k > 0; --k) step();
    }
    choose_outputs();
    return static_cast<Program&&>(p_);
  }
  /// A scalar to differentiate.
  constexpr int scalar() {
    const int v = pick();
    return total(g().mul(v, v));
  }
  constexpr Program& program() { return p_; }
  constexpr Graph& g() { return p_.graph; }
  constexpr Random& random() { return r_; }
  constexpr int total(int v) {
    const int s = g().reduce(Op::sum, v, (1u << g()[v].shape.rank) - 1);
    return g().reshape(s, Shape{});
  }

 private:
  Random r_, number_dice_;
  Options o_;
  Program p_;
  Numbers numbers_ = Numbers::ordinary;
  DType base_ = DType::f32;
  bool mixed_ = false;
  tt::Vec<Extent> extents_;
  tt::Vec<int> values_, inputs_;
  std::int64_t largest_ = 3000;  // elements of one node

  static constexpr bool has_numbers = requires(Program p) { p.input.push_back({}); };

  constexpr Sym sym(int id) { return {&p_.graph, id}; }
  constexpr DType dtype(int id) const { return p_.graph[id].dtype; }
  constexpr const Shape& shape(int id) const { return p_.graph[id].shape; }
  constexpr std::int64_t value(Extent e) const { return e.value(p_.symbols); }
  constexpr std::int64_t size(const Shape& s) const { return value(s.size()); }

  // ---- leaves
  constexpr void choose_extents() {
    const int tall = o_.smooth ? 1 : r_.below(24);  // 0: blocks of reductions are exceeded
    if (tall == 0) {
      extents_ = {Extent(r_.any({4096, 4097, 4103, 8192, 8200})), Extent(1),
                  Extent(r_.any({1, 2}))};
      largest_ = 17000;
      return;
    }
    if (tall == 2) {
      extents_ = {Extent(r_.any({256, 257, 300, 513, 600})), Extent(r_.any({1, 5, 17, 20})),
                  Extent(1)};
      largest_ = 12000;
      return;
    }
    for (int n = 2 + r_.below(3); n > 0; --n)
      extents_.push_back(o_.smooth
                             ? r_.any({1, 2, 3, 4, 5, 7})
                             : r_.any({1, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65, 130}));
    if (o_.smooth) return;
    if (r_.chance(0.03)) extents_[0] = Extent(0);
    if (r_.chance(0.25))
      for (int n = 1 + r_.below(2), k = 0; k < n; ++k) {
        p_.symbols.value[k] = r_.any({1, 2, 3, 7, 16, 17, 64, 65});
        if (o_.like_tensors && p_.symbols.value[k] == 1) p_.symbols.value[k] = 4;
        if (r_.chance(0.03)) p_.symbols.value[k] = 0;
        extents_[k] = Extent::symbol(k);
      }
  }
  constexpr Extent random_extent() {
    return extents_[r_.below(extents_.size())];
  }
  constexpr Shape random_shape() {
    for (;;) {
      Shape s;
      int symbols = 0;
      for (int n = r_.any({0, 1, 1, 2, 2, 2, 2, 3, 3, 4}); n > 0; --n) {
        const Extent e = r_.chance(0.12) ? Extent(1) : random_extent();
        symbols += !e.is_constant();
        s.push_back(symbols > 2 ? Extent(1) : e);
      }
      if (size(s) <= largest_) return s;
    }
  }
  constexpr DType narrow_dtype() {
    return r_.any({DType::f16, DType::f16, DType::bf16, DType::bf16, DType::u8, DType::i8, DType::i16});
  }
  constexpr DType random_dtype() {
    if (!mixed_ || r_.chance(0.5)) return base_;
    if (o_.narrow && r_.chance(0.5)) return narrow_dtype();
    return r_.any({DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64});
  }
  constexpr int new_input(DType d, const Shape& s) {
    const int id = g().input(d, s);
    if constexpr (has_numbers) p_.input.push_back(random_values(number_dice_, d, size(s), numbers_));
    inputs_.push_back(id);
    values_.push_back(id);
    return id;
  }
  /// The dtype decides the bits; a hidden one cannot be folded or simplified.
  constexpr int constant(DType d, double x) {
    if (!o_.hide_constants) return g().constant(d, x);
    if constexpr (has_numbers) p_.input.push_back({tt::encode(d, x)});
    return g().input(d, {});
  }
  constexpr double random_number() {
    return r_.any({0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, r_.unit() * 4 - 2, r_.unit() * 4 - 2});
  }

  // ---- choosing operands
  static constexpr bool is_anything(DType) { return true; }
  static constexpr bool is_number(DType d) { return d != DType::boolean; }
  static constexpr bool is_real_value(DType d) { return tt::is_floating(d); }
  static constexpr bool is_integer(DType d) { return tt::is_integral(d); }
  static constexpr bool is_mask(DType d) { return d == DType::boolean; }

  /// A value of the dtypes wanted, newer ones more often; -1 if there is none.
  constexpr int pick(bool (*wanted)(DType) = &is_anything) {
    const int n = values_.size();
    const double u = r_.unit();
    const int start = n - 1 - static_cast<int>(u * u * n);
    for (int k = 0; k < n; ++k)
      if (const int v = values_[(start + k) % n]; wanted(dtype(v)))
        return v;
    return -1;
  }
  /// A partner that broadcasts with `a` to a bearable size.
  constexpr int pick_beside(int a, bool (*wanted)(DType)) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      const int b = pick(wanted);
      if (b < 0) return -1;
      const tt::BroadcastResult s = tt::try_broadcast(shape(a), shape(b));
      if (s.ok && bearable(s.shape)) return b;
    }
    return r_.chance(0.3) && wanted(dtype(a)) ? a : -1;
  }
  constexpr bool bearable(const Shape& s) const {
    if (size(s) > largest_) return false;
    for (int k = 0; k < 2; ++k) {  // an extent holds a symbol three times at most
      std::int64_t n = 0;
      for (int axis = 0; axis < s.rank; ++axis) n += s[axis].exponents() >> (2 * k) & 3;
      if (n > 2) return false;
    }
    return true;
  }

  // ---- steps
  constexpr void step() {
    const int id = o_.smooth ? smooth_step() : any_step();
    if (id >= 0 && bearable(shape(id))) values_.push_back(id);
  }
  constexpr int any_step() {
    if (o_.takes && r_.chance(0.08)) return take_step();
    const int k = r_.below(100);
    if (k < 10) return unary();
    if (k < 32) return binary();
    if (k < 36) return with_constant();
    if (k < 38) return ternary();
    if (k < 41) return integer_op();
    if (k < 45) return comparison();
    if (k < 47) return logical();
    if (k < 50) return where_step();
    if (k < 54) return cast_step();
    if (k < 62) return call_op();
    if (k < 64) return broadcast_step();
    if (k < 74) return reduce_step();
    if (k < 80) return matmul_step();
    if (k < 84) return permute_step();
    if (k < 88) return reshape_step();
    if (k < 91) return slice_step();
    if (k < 92) return window_step();
    if (k < 93) return pad_step();
    if (k < 94) return replace_step();
    if (k < 95) return conv_step();
    if (k < 97) return composite();
    if (k < 98) return detach_step();
    if (k < 99) return random_step();
    return iota_step();
  }
  constexpr int smooth_step() {
    switch (r_.below(16)) {
      case 0: return g().neg(pick());
      case 1:
      case 2:
      case 3: return smooth_binary();
      case 4:
      case 5: return smooth_call();
      case 6: return reduce_step();
      case 7: return matmul_step();
      case 8: return permute_step();
      case 9: return reshape_step();
      case 10: return slice_step();
      case 11: return window_step();
      case 12: return pad_step();
      case 13: return conv_step();
      case 14: return replace_step();
      default: return composite();
    }
  }

  constexpr int unary() {
    const int a = pick(&is_number);
    if (a < 0) return -1;
    return g().elementwise(
        r_.any({Op::neg, Op::neg, Op::abs, Op::sqrt, Op::floor, Op::ceil, Op::round, Op::trunc}),
        {a});
  }
  constexpr int binary() {
    const int a = pick(&is_number), b = a < 0 ? -1 : pick_beside(a, &is_number);
    if (b < 0) return -1;
    return g().elementwise(
        r_.any({Op::add, Op::add, Op::sub, Op::sub, Op::mul, Op::mul, Op::div, Op::min, Op::max}),
        {a, b});
  }
  constexpr int smooth_binary() {
    const int a = pick(), b = pick_beside(a, &is_number);
    if (b < 0) return -1;
    if (r_.chance(0.2)) return g().div(a, g().add(g().mul(b, b), constant(DType::f64, 1)));
    return g().elementwise(r_.any({Op::add, Op::sub, Op::mul, Op::max}), {a, b});
  }
  constexpr int with_constant() {
    const int a = pick(&is_number);
    if (a < 0) return -1;
    const int c = constant(dtype(a), random_number());
    const Op op = r_.any({Op::add, Op::sub, Op::mul, Op::div, Op::max});
    return r_.chance(0.5) ? g().elementwise(op, {a, c}) : g().elementwise(op, {c, a});
  }
  constexpr int ternary() {
    const int a = pick(&is_number), b = a < 0 ? -1 : pick_beside(a, &is_number);
    const int c = b < 0 ? -1 : pick_beside(a, &is_number);
    if (c < 0) return -1;
    const Shape ab = tt::try_broadcast(shape(a), shape(b)).shape;
    if (!tt::try_broadcast(ab, shape(c)).ok) return -1;
    if (r_.chance(0.3)) return g().call(tt::op_def<tt::ClampBetween>, {a, b, c});
    return g().elementwise(Op::fma, {a, b, c});
  }
  constexpr int integer_op() {
    const int a = pick(&is_integer);
    if (a < 0) return -1;
    if (r_.chance(0.5)) {
      const int count = r_.below(8 * tt::size_of(dtype(a)));
      return g().elementwise(r_.any({Op::shift_left, Op::shift_right, Op::shift_right_logical}),
                             {a}, count);
    }
    const int b = pick_beside(a, &is_integer);
    return b < 0 ? -1 : g().elementwise(r_.any({Op::bit_and, Op::bit_or, Op::bit_xor}), {a, b});
  }
  constexpr int comparison() {
    const int a = pick(), b = pick_beside(a, &is_anything);
    return b < 0 ? -1 : g().elementwise(r_.any({Op::lt, Op::le, Op::eq, Op::ne}), {a, b});
  }
  constexpr int logical() {
    const int a = pick(&is_mask);
    if (a < 0) return comparison();
    const int b = pick_beside(a, &is_mask);
    if (b < 0 || r_.chance(0.3)) return g().elementwise(Op::logical_not, {a});
    return g().elementwise(r_.any({Op::logical_and, Op::logical_or}), {a, b});
  }
  constexpr int where_step() {
    int m = pick(&is_mask);
    if (m < 0) m = comparison();
    if (m < 0) return -1;
    const int a = pick_beside(m, &is_anything), b = a < 0 ? -1 : pick_beside(m, &is_anything);
    if (b < 0) return -1;
    const Shape ma = tt::try_broadcast(shape(m), shape(a)).shape;
    return tt::try_broadcast(ma, shape(b)).ok ? g().where_(m, a, b) : -1;
  }
  constexpr int cast_step() {
    const int a = pick();
    if (r_.chance(0.1) && dtype(a) == DType::i32)
      return g().elementwise(Op::bitcast, {a}, 0, DType::f32);
    if (r_.chance(0.1) && dtype(a) == DType::i64)
      return g().elementwise(Op::bitcast, {a}, 0, DType::f64);
    if (r_.chance(0.1) && is_real_value(dtype(a)) && !tt::is_narrow(dtype(a))) return bits_of(a);
    if (o_.narrow && r_.chance(0.5)) return g().cast(a, narrow_dtype());
    return g().cast(
        a, r_.any({base_, base_, DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64}));
  }

  /// Which NaN a NaN is, paths may differ in: its bits are taken as those of 0.
  constexpr int bits_of(int a) {
    const int number = g().where_(g().elementwise(Op::eq, {a, a}), a, constant(dtype(a), 0));
    return g().elementwise(Op::bitcast, {number}, 0,
                           dtype(a) == DType::f32 ? DType::i32 : DType::i64);
  }

  template <class... F>
  static constexpr const tt::OpDef& op_at(int k, tt::TypeList<F...>) {
    const tt::OpDef* const defs[] = {&tt::op_def<F>...};
    return *defs[k];
  }
  constexpr int call_op() {
    const tt::OpDef& def = op_at(r_.below(27), tt::ElementwiseOps{});
    const int a = pick(def.info.domain == tt::Domain::number ? &is_number : &is_anything);
    if (a < 0) return -1;
    tt::Vec<int> ids(def.info.arity, a);
    for (int k = 1; k < def.info.arity; ++k) {
      ids[k] = r_.chance(0.4) ? constant(dtype(a), random_number()) : pick_beside(a, &is_number);
      if (ids[k] < 0 ||
          (k == 2 &&
           !tt::try_broadcast(tt::try_broadcast(shape(a), shape(ids[1])).shape, shape(ids[2]))
                .ok))
        return -1;
    }
    if (def.info.domain == tt::Domain::floating && !tt::is_floating(dtype(a))) {
      DType d = DType::f32;
      for (int k = 0; k < def.info.arity; ++k)
        if (tt::is_floating(dtype(ids[k]))) d = tt::promote(d, dtype(ids[k]));
      ids[0] = g().cast(a, d);
    }
    return g().call(def, ids);
  }
  constexpr int smooth_call() {
    using Smooth =
        tt::TypeList<tt::Exp, tt::Expm1, tt::Sigmoid, tt::Tanh, tt::Sin, tt::Cos, tt::Erf, tt::Silu,
                     tt::Gelu, tt::GeluTanh, tt::Softplus, tt::Mish, tt::Square, tt::Relu>;
    const tt::OpDef& def = op_at(r_.below(Smooth::size), Smooth{});
    int a = pick();
    if (r_.chance(0.7)) a = g().call(tt::op_def<tt::Tanh>, {a});
    if (!tt::is_floating(dtype(a)) && def.info.domain == tt::Domain::floating) a = g().cast(a, DType::f32);
    return g().call(def, {a});
  }

  // ---- shapes
  constexpr int broadcast_step() {
    const int a = pick();
    Shape s = shape(a);
    for (int k = 0; k < s.rank; ++k)
      if (s[k] == Extent(1)) s.set(k, random_extent());
    if (s.rank < 4 && r_.chance(0.5)) {
      Shape longer{random_extent()};
      for (int k = 0; k < s.rank; ++k) longer.push_back(s[k]);
      s = longer;
    }
    return bearable(s) ? g().broadcast_to(a, s) : -1;
  }
  /// Of no elements none is the largest.
  constexpr bool has_none(int a, unsigned axes) const {
    for (int k = 0; k < shape(a).rank; ++k)
      if ((axes >> k & 1) && value(shape(a)[k]) == 0) return true;
    return false;
  }
  constexpr int reduce_step() {
    const Op op = o_.smooth ? Op::sum : r_.any({Op::sum, Op::sum, Op::amax, Op::amin});
    const int a = pick(op == Op::sum ? &is_anything : &is_number);
    if (a < 0 || shape(a).rank == 0) return -1;
    const unsigned all = (1u << shape(a).rank) - 1;
    unsigned axes = static_cast<unsigned>(r_.below(static_cast<int>(all) + 1));
    if (r_.chance(0.3)) axes = 1u << (shape(a).rank - 1);
    if (r_.chance(0.1)) axes = all;
    const bool keepdim = r_.chance(0.5);
    if (op != Op::sum && has_none(a, axes)) return -1;
    if (op == Op::sum) return tt::detail::reduce<Op::sum>(sym(a), axes, keepdim).id;
    if (op == Op::amax) return tt::detail::reduce<Op::amax>(sym(a), axes, keepdim).id;
    return tt::detail::reduce<Op::amin>(sym(a), axes, keepdim).id;
  }
  constexpr int matmul_step() {
    int a = pick(&is_number);
    if (a < 0 || shape(a).rank < 1) return -1;
    for (int attempt = 0; attempt < 8; ++attempt) {
      const int b = pick(&is_number);
      if (shape(b).rank < 1) continue;
      if (shape(b).rank >= 2 && r_.chance(0.3))
        if (const int m = try_matmul(a, g().transpose(b, -1, -2)); m >= 0) return m;
      if (const int m = try_matmul(a, b); m >= 0) return m;
      if (shape(b).rank >= 2)
        if (const int m = try_matmul(a, g().transpose(b, -1, -2)); m >= 0) return m;
    }
    const Extent inner = shape(a).last();
    if (r_.chance(0.15)) {
      if (!bearable({inner, inner})) return -1;
      return try_matmul(a, g().transpose(new_input(dtype(a), {inner, inner}), 0, 1));
    }
    const Shape s = r_.chance(0.2) ? Shape{inner}
                    : r_.chance(0.2) && shape(a).rank == 3
                        ? Shape{shape(a)[0], inner, random_extent()}
                        : Shape{inner, random_extent()};
    if (!bearable(s)) return -1;
    return try_matmul(a, new_input(dtype(a), s));
  }
  constexpr int try_matmul(int a, int b) {
    const Shape &x = shape(a), &y = shape(b);
    if (x.last() != (y.rank == 1 ? y[0] : y.from_right(1))) return -1;
    for (int k = 2; k < x.rank && k < y.rank; ++k)
      if (x.from_right(k) != y.from_right(k) && x.from_right(k) != Extent(1) &&
          y.from_right(k) != Extent(1))
        return -1;
    if (size(x) * (y.rank > 1 ? value(y.last()) : 1) * (y.rank > 2 ? value(y.rows()) : 1) > 60000)
      return -1;
    const DType d = tt::promote(dtype(a), dtype(b));
    return g().matmul(g().cast(a, d), g().cast(b, d));
  }
  constexpr int permute_step() {
    const int a = pick();
    const int rank = shape(a).rank;
    if (rank < 2) return -1;
    int axes[tt::max_rank];
    for (int k = 0; k < rank; ++k) axes[k] = k;
    for (int k = rank - 1; k > 0; --k) {
      const int j = r_.below(k + 1), t = axes[k];
      axes[k] = axes[j];
      axes[j] = t;
    }
    return g().permute(a, axes);
  }
  constexpr int reshape_step() {
    const int a = pick();
    const Shape s = shape(a);
    Shape to;
    const int kind = r_.below(4);
    if (kind == 0) {
      to.push_back(s.size());
    } else if (kind == 1 && s.rank > 1) {  // two axes become one
      const int at = r_.below(s.rank - 1);
      for (int k = 0; k < s.rank; ++k) {
        if (k == at) to.push_back(s[k] * s[k + 1]);
        else if (k != at + 1) to.push_back(s[k]);
      }
    } else if (kind == 2 && s.rank < 4) {  // one becomes two
      const int at = r_.below(s.rank + 1);
      for (int k = 0; k <= s.rank; ++k) {
        if (k == at) to.push_back(1);
        if (k < s.rank) split_into(to, s[k]);
      }
    } else {
      for (int k = 0; k < s.rank; ++k)
        if (s[k] != Extent(1)) to.push_back(s[k]);
    }
    return to.rank <= 5 ? g().reshape(a, to) : -1;
  }
  constexpr void split_into(Shape& to, Extent e) {
    const std::int64_t n = e.is_constant() ? e.code : 1;
    const std::int64_t by = r_.any({2, 4, 5, 16});
    if (n > by && n % by == 0 && to.rank < 3 && r_.chance(0.5)) {
      to.push_back(by);
      to.push_back(n / by);
    } else {
      to.push_back(e);
    }
  }
  constexpr int slice_step() {
    const int a = pick();
    if (shape(a).rank == 0) return -1;
    const int axis = r_.below(shape(a).rank);
    const int n = static_cast<int>(value(shape(a)[axis]));
    if (n == 0 || (o_.like_tensors && !shape(a)[axis].is_constant())) return -1;
    int step = r_.any({1, 1, 2, 3, -1, -2}), length = 1 + r_.below(n);
    if (r_.chance(0.03)) length = 0;
    while (length > 1 && (length - 1) * (step < 0 ? -step : step) >= n) length = (length + 1) / 2;
    const int spare = n - 1 - (length > 0 ? length - 1 : 0) * (step < 0 ? -step : step);
    int start = spare > 0 ? r_.below(spare + 1) : 0;
    if (step < 0) start = n - 1 - start;
    return g().slice(a, axis, start, length, step);
  }
  constexpr int window_step() {
    const int a = pick();
    if (shape(a).rank == 0 || shape(a).rank > 4) return -1;
    const int axis = r_.below(shape(a).rank);
    if (!shape(a)[axis].is_constant()) return -1;
    const int n = static_cast<int>(shape(a)[axis].code), dilation = r_.any({1, 1, 2});
    const int size = r_.any({1, 2, 3, 3, 4});
    if ((size - 1) * dilation >= n) return -1;
    return g().window(a, axis, size, r_.any({1, 1, 2, 3}), dilation);
  }
  constexpr int pad_step() {
    const int a = pick();
    if (shape(a).rank == 0) return -1;
    tt::PadAttribute p;
    Shape to = shape(a);
    for (int k = 0; k < 2; ++k) {
      p.axis[k] = k == 1 && r_.chance(0.5) ? p.axis[0] : r_.below(to.rank);
      p.before[k] = k == 1 && p.axis[1] == p.axis[0] ? 0 : r_.any({0, 1, 2, 5});
      if (!to[p.axis[k]].is_constant()) return -1;
      if (k == 0 || p.axis[1] != p.axis[0]) to.set(p.axis[k], to[p.axis[k]].code + p.before[k].code + r_.any({0, 1, 3}));
    }
    return g().pad(a, p, to, r_.chance(0.5) ? 0 : tt::encode(dtype(a), random_number()));
  }
  /// Values of one shape, or slices of them, behind each other along an axis, or one in place of a part of another.
  constexpr int replace_step() {
    const int a = pick();
    if (shape(a).rank == 0) return -1;
    const int axis = r_.below(shape(a).rank);
    if (!shape(a)[axis].is_constant()) return -1;
    const int whole = static_cast<int>(shape(a)[axis].code), parts = r_.any({1, 1, 2, 2, 3, 4});
    int part[5] = {a};
    for (int k = 1; k <= parts; ++k) {
      part[k] = pick();
      if (shape(part[k]) != shape(a)) part[k] = g().elementwise(Op::copy, {a});
      const int n = r_.below(whole + 1);
      if (r_.chance(0.5) && n > 0) part[k] = g().slice(part[k], axis, r_.below(whole - n + 1), n, 1);
    }
    if (parts > 1) return g().cat(part, parts + 1, axis);
    const int n = static_cast<int>(shape(part[1])[axis].code);
    return g().slice_scatter(a, part[1], axis, r_.below(whole - n + 1));
  }
  constexpr int conv_step() {
    int a = pick(&is_number);
    if (a < 0 || shape(a).rank < 2) return -1;
    const Shape s = shape(a);
    const int r = s.rank;
    const Extent first = s.count(0, r > 3 ? r - 3 : 0);
    const Shape images{first, r > 2 ? s[r - 3] : Extent(1), s[r - 2], s[r - 1]};
    for (int k = 1; k < 4; ++k)
      if (!images[k].is_constant()) return -1;
    a = g().reshape(a, images);
    const int channels = static_cast<int>(images.code[1]);
    const int groups = channels % 2 == 0 && r_.chance(0.3) ? 2 : r_.chance(0.1) && channels > 0 ? channels : 1;
    if (channels % groups != 0 || channels / groups > 8) return -1;
    const Shape weights{groups * r_.any({1, 2, 3, 17}), channels / groups, r_.any({1, 2, 3}), r_.any({1, 3, 3, 4})};
    tt::ConvAttribute c;
    for (int k = 0; k < 2; ++k) {
      c.stride[k] = r_.any({1, 1, 2, 3});
      c.dilation[k] = r_.any({1, 1, 2});
      c.padding[k] = r_.any({0, 0, 1, 2, 4});
      if (images.code[1] < 1 || images.code[2 + k] < 1 || (weights.code[2 + k] - 1) * c.dilation[k] >= images.code[2 + k] + 2 * c.padding[k]) return -1;
    }
    return g().conv(a, new_input(dtype(a), weights), c);
  }
  /// Along an axis, at places that are numbers of the program, kept within it.
  constexpr int take_step() {
    const int a = pick();
    const Shape from = shape(a);
    if (from.rank == 0) return -1;
    const int axis = r_.below(from.rank);
    if (value(from[axis]) == 0) return -1;
    Shape at;
    for (int k = 0; k < from.rank; ++k) at.push_back(k == axis || (from[k] == Extent(1) && r_.chance(0.5)) ? random_extent() : r_.chance(0.4) ? Extent(1) : from[k]);
    int places = pick(&is_number);
    if (const tt::BroadcastResult both = places < 0 ? tt::BroadcastResult{} : tt::try_broadcast(shape(places), at); places < 0 || !both.ok || both.shape != at) {
      places = g().iota(DType::i64, at, r_.below(at.rank));
      places = g().mul(places, g().constant_integer(DType::i64, r_.any({1, 3, -2})));
    }
    places = g().broadcast_to(g().cast(places, DType::i64), at);
    const int last = g().extent(DType::i64, from[axis] - 1), zero = g().constant_integer(DType::i64, 0);
    places = g().elementwise(Op::max, {g().elementwise(Op::min, {places, last}), zero});
    Shape to = at;
    for (int k = 0; k < from.rank; ++k)
      if (k != axis && from[k] != Extent(1)) to.set(k, from[k]);
    return bearable(to) && bearable(at) ? g().take(a, places, axis) : -1;
  }
  constexpr int iota_step() {
    const Shape s = random_shape();
    if (s.rank == 0) return -1;
    const int axis = r_.below(s.rank);
    Shape line;
    for (int k = 0; k < s.rank; ++k) line.push_back(k == axis ? s[k] : Extent(1));
    return g().iota(r_.any({DType::i64, base_ == DType::boolean ? DType::i32 : base_}), line, axis);
  }
  /// Random numbers of the shape of a value, which holds symbols once at most: a place is counted by all axes.
  constexpr int random_step() {
    const int a = pick();
    const Sym seed = sym(constant(DType::i64, r_.below(5)));
    return r_.chance(0.5) ? tt::RandLike::body(sym(a), seed).id
                          : tt::RandnLike::body(sym(a), seed).id;
  }
  constexpr int detach_step() {
    const int a = pick(&is_real_value);
    return a < 0 ? -1 : o_.drop_detach ? g().intern(copy_of(a)) : g().detach(a);
  }
  constexpr tt::Node copy_of(int a) {
    return {.op = Op::copy,
            .dtype = dtype(a),
            .operand = {a, -1, -1, -1},
            .attribute = -1,
            .shape = shape(a)};
  }

  // ---- several nodes at once
  constexpr int composite() {
    const int a = pick(&is_number);
    if (a < 0 || shape(a).rank == 0) return -1;
    const Sym x = sym(a);
    const unsigned axis = 1u << (r_.chance(0.7) ? shape(a).rank - 1 : r_.below(shape(a).rank));
    const bool keep = r_.chance(0.5);
    using tt::detail::to_real;
    switch (r_.below(o_.smooth ? 6 : 9)) {
      case 0: return reduction<tt::Softmax>(to_real(x), axis, true);
      case 1: return reduction<tt::LogSoftmax>(to_real(x), axis, true);
      case 2: return reduction<tt::Logsumexp>(x, axis, keep);
      case 3: return reduction<tt::Mean>(to_real(x), axis, keep);
      case 4: return reduction<tt::Var>(to_real(x), axis, keep);
      case 5: return layer_norm(x, axis);
      case 6: return has_none(a, axis) ? -1 : reduction<tt::Argmax>(x, axis, keep);
      case 7: {
        const int b = pick_beside(a, &is_number);
        return b < 0 ? -1 : tt::MseLoss::body(x, sym(b), {}, {}).id;
      }
      default: return cross_entropy(x);
    }
  }
  template <class F>
  constexpr int reduction(const Sym& x, unsigned axes, bool keep) {
    int axis = 0;
    while (!(axes >> axis & 1)) ++axis;
    tt::options_t<F> options;
    options.dim = axis;
    if constexpr (requires { options.keepdim; }) options.keepdim = keep;
    const int id = F::body(x, options).id;
    p_.composites.push_back({F::info.name, x.id, id, axes, keep});
    return id;
  }
  constexpr int layer_norm(const Sym& x, unsigned axis) {
    const Sym r = tt::detail::to_real(x);
    const Sym c = r - tt::detail::mean(r, axis, true);
    return (c * tt::rsqrt(tt::detail::mean(c * c, axis, true) + 1e-5)).id;
  }
  constexpr int cross_entropy(const Sym& x) {
    Shape rows;
    for (int k = 0; k < x.shape().rank; ++k)
      if (k != tt::detail::Labels::class_axis(x.shape().rank)) rows.push_back(x.shape()[k]);
    return tt::CrossEntropy::body(tt::detail::to_real(x), sym(new_input(DType::i64, rows)), Sym{}, tt::CrossEntropy::Options{.ignore_index = -1}).id;  // with the defaults, static graphs have no mask
  }

  // ---- gradients and outputs
  constexpr void differentiate() {
    const int v = pick(&is_real_value);
    if (v < 0) return;
    tt::Vec<int> wrt;
    for (int i : inputs_)
      if (tt::is_floating(dtype(i)) && r_.chance(0.7)) wrt.push_back(i);
    if (wrt.empty()) return;
    p_.differentiated = true;
    tt::Vec<int> d = tt::gradients(g(), total(v), wrt);
    if (r_.chance(0.3)) {
      const int k = r_.below(d.size());
      d = tt::gradients(g(), total(g().mul(d[k], d[k])), wrt);
    }
    for (int x : d)
      if (bearable(shape(x))) values_.push_back(x);
    for (int k = 0; k < d.size(); ++k)  // an optimiser's step
      if (r_.chance(0.6)) {
        const int w = wrt[k];
        const int rate = constant(dtype(w), 0.125);
        output(g().sub(w, g().mul(rate, d[k])), static_cast<int>(g()[w].attribute));
      } else {
        output(d[k], -1);
      }
  }
  constexpr void output(int id, int donated) {
    for (int d : g().donated)
      if (d == donated) donated = -1;
    g().output(id, donated);
  }
  constexpr void choose_outputs() {
    if (r_.chance(0.25)) update_input();
    for (int n = 1 + r_.below(o_.outputs); n > 0 || g().outputs.empty(); --n) {
      const int v = r_.chance(0.05) ? values_[0] : pick();
      int donated = -1;
      if (r_.chance(0.25))
        for (int i : inputs_)
          if (dtype(i) == dtype(v) && shape(i) == shape(v) && r_.chance(0.5))
            donated = static_cast<int>(g()[i].attribute);
      output(v, donated);
    }
  }
  /// x = x * c + v in place; the old x may be needed elsewhere.
  constexpr void update_input() {
    const int x = inputs_[r_.below(inputs_.size())];
    if (!is_number(dtype(x))) return;
    const int v = pick_beside(x, &is_number);
    if (v < 0 || tt::promote(dtype(x), dtype(v)) != dtype(x) ||
        !(tt::try_broadcast(shape(x), shape(v)).shape == shape(x)))
      return;
    const int scaled = g().mul(x, constant(dtype(x), 3));
    output(g().add(scaled, v), static_cast<int>(g()[x].attribute));
  }
};

using Generator = BasicGenerator<Program>;

/// Elements that all nodes of a graph compute together.
constexpr std::int64_t work_of(const Graph& g, const tt::SymbolValues& s) {
  std::int64_t work = 0;
  for (const tt::Node& n : g.nodes) {
    std::int64_t per_element = 1;
    if (n.op == Op::matmul) per_element = g[n.operand[0]].shape.last().value(s);
    work += n.shape.size().value(s) * per_element;
    if (tt::is_reduction(n.op)) work += g[n.operand[0]].shape.size().value(s);
  }
  return work;
}

inline Program random_program(std::uint64_t seed, const Options& options) {
  for (std::uint64_t s = seed;; s += 0x10000000000u) {  // too much work: the next one
    Program p = Generator(s, options).run();
    p.seed = seed;
    if (work_of(tt::inline_bodies(p.graph), p.symbols) <= options.work) return p;
  }
}

}  // namespace fuzz
