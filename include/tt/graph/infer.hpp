// Recording with inference: the dtype and shape of every kind of node, and the exact simplifications applied while recording. Exact: equal bits for every
// input, NaN and -0 included; so x*1, x/1, --x, a+(-b) and constant folding, but never x+0, x*0 or x-x.
#pragma once
#include "tt/graph/graph.hpp"

namespace tt {
namespace detail {

/// Folds two constants in their dtype, where that cannot overflow in a constant expression.
template <class T>
constexpr bool fold(Op op, T a, T b, T& result) {
  if constexpr (std::is_same_v<T, bool>) return false;
  else {
    const auto tame = [](T x) { return x == T(0) || (x > T(1e-9) && x < T(1e9)) ||
                                       (x < T(-1e-9) && x > T(-1e9)); };
    if (!tame(a) || !tame(b)) return false;
    switch (op) {
      case Op::add: result = Carrier<T>::template apply<Op::add>(a, b); return true;
      case Op::sub: result = Carrier<T>::template apply<Op::sub>(a, b); return true;
      case Op::mul: result = Carrier<T>::template apply<Op::mul>(a, b); return true;
      case Op::neg: result = Carrier<T>::template apply<Op::neg>(a); return true;
      case Op::div:
        if (b == T(0)) return false;
        result = a / b;
        return true;
      default: return false;
    }
  }
}

constexpr bool fold_bits(Op op, DType dtype, std::uint64_t a, std::uint64_t b,
                         std::uint64_t& bits) {
  const auto run = [&]<class T>(T) {
    T r{};
    if (!fold<T>(op, decode<T>(a), decode<T>(b), r)) return false;
    if constexpr (std::is_same_v<T, float>) bits = std::bit_cast<std::uint32_t>(r);
    else if constexpr (std::is_same_v<T, double>) bits = std::bit_cast<std::uint64_t>(r);
    else bits = static_cast<std::uint64_t>(r);
    return true;
  };
  switch (dtype) {
    case DType::f32: return run(0.0f);
    case DType::f64: return run(0.0);
    case DType::i32: return run(std::int32_t{});
    case DType::i64: return run(std::int64_t{});
    default: return false;
  }
}

/// The node that equals op(a, b) exactly, or -1.
constexpr int simplify(const Graph& g, Op op, int a, int b, int c) {
  switch (op) {
    case Op::mul:
      if (g.is_constant(a, 1)) return b;
      if (g.is_constant(b, 1)) return a;
      break;
    case Op::div:
      if (g.is_constant(b, 1)) return a;
      break;
    case Op::sub:
      if (g.is_constant(b, 0)) return a;
      break;
    case Op::neg:
      if (g[a].op == Op::neg) return g[a].operand[0];
      break;
    case Op::logical_not:
      if (g[a].op == Op::logical_not) return g[a].operand[0];
      break;
    case Op::where:
      if (b == c) return b;
      break;
    default: break;
  }
  return -1;
}

}  // namespace detail

namespace detail {

/// The logical op of two booleans, as in PyTorch: sum and maximum are "or", product and minimum "and".
constexpr Op of_booleans(Op op) {
  switch (op) {
    case Op::add: case Op::max: case Op::bit_or: return Op::logical_or;
    case Op::mul: case Op::min: case Op::bit_and: return Op::logical_and;
    case Op::bit_xor: return Op::ne;
    default: return op;
  }
}

}  // namespace detail

// Values of narrow dtypes are stored in that dtype but computed with in its compute dtype, and the result of each op is rounded once. So the nodes of narrow
// dtypes are inputs, constants, casts, selections (where) and ops that only move elements.

/// A value as an operand of an op that computes in the compute dtype of narrow operands. A literal is not rounded to the narrow dtype.
constexpr int Graph::widened(int a) {
  const DType d = nodes[a].dtype;
  if (!is_narrow(d)) return a;
  if (const int c = repeated_constant(a); is_constant(c)) {
    const Shape shape = nodes[a].shape;  // nodes may move
    return broadcast_to(constant_bits(compute_dtype(d), nodes[c].bits), shape);
  }
  if (nodes[a].op == Op::cast && nodes[a].attribute == unrounded) return nodes[a].operand[0];
  return cast(a, compute_dtype(d));
}
/// A value as an operand of an op that computes in this dtype.
constexpr int Graph::computed_in(int a, DType dtype) { return nodes[a].dtype == dtype ? a : cast(widened(a), dtype); }
/// Scalars of the compute dtype beside narrow values that have axes: marked as numbers, which are not rounded.
constexpr void Graph::take_numbers(int* id, int count) {
  DType d = DType::boolean;
  for (int k = 0; k < count; ++k)
    if (nodes[id[k]].shape.rank > 0) d = promote(d, nodes[id[k]].dtype);
  if (!is_narrow(d)) return;
  for (int k = 0; k < count; ++k)
    if (const Node& n = nodes[id[k]]; n.shape.rank == 0 && n.dtype == compute_dtype(d)) id[k] = number_beside(id[k], d);
}
/// A scalar in a dtype's compute dtype, as a number beside values of that dtype.
constexpr int Graph::number_beside(int a, DType narrow) {
  if (is_constant(a)) return constant_bits(narrow, nodes[a].bits);
  return intern({.op = Op::cast, .dtype = narrow, .operand = {a, -1, -1, -1}, .attribute = unrounded, .shape = nodes[a].shape});
}
/// A cast from or to a narrow dtype: two casts, unless the other dtype is the compute dtype.
constexpr int Graph::cast_narrow(int a, DType to, std::int64_t attribute) {  // attribute: 0, or unrounded
  const DType from = nodes[a].dtype;
  if (const int c = repeated_constant(a); is_constant(c)) {
    const std::uint64_t bits = is_narrow(from) ? encode(from, decode(from, nodes[c].bits)) : nodes[c].bits;
    const double v = decode(from, bits);
    const Shape shape = nodes[a].shape;  // nodes may move
    if (is_floating(from) ? is_floating(to) || (v > -2e9 && v < 2e9) : v > -0x1p53 && v < 0x1p53) return broadcast_to(constant(to, v), shape);
  }
  if (is_narrow(from) && compute_dtype(from) != to) return cast(cast(a, compute_dtype(from)), to);
  if (is_narrow(to) && compute_dtype(to) != from) return cast(cast(a, compute_dtype(to)), to);
  if (nodes[a].op == Op::cast && nodes[nodes[a].operand[0]].dtype == to && is_narrow(to)) return nodes[a].operand[0];  // already stored in that dtype
  return intern({.op = Op::cast, .dtype = to, .operand = {a, -1, -1, -1}, .attribute = attribute, .shape = nodes[a].shape});
}
constexpr int Graph::elementwise_narrow(Op op, const int* id, std::int64_t attribute, DType dtype) {
  const int n = arity(op);
  int of[3] = {-1, -1, -1};
  for (int k = 0; k < n; ++k) of[k] = widened(id[k]);
  if (op == Op::shift_right_logical && is_signed(dtype))
    of[0] = elementwise(Op::bit_and, {of[0], constant_integer(DType::i32, (1 << 8 * size_of(dtype)) - 1)});
  const int r = elementwise(op, {of, n}, attribute);
  return nodes[r].dtype == compute_dtype(dtype) ? cast(r, dtype) : r;
}
/// A literal among elements of a narrow dtype, rounded to it.
constexpr int Graph::rounded_constant(int a, Op op) {
  const int c = repeated_constant(a);
  const DType d = nodes[a].dtype;
  if (!is_constant(c)) return a;
  const int r = constant(d, decode(d, nodes[c].bits));
  if (is_integral(d) && !holds(d, static_cast<std::int64_t>(nodes[c].bits)))
    return fail({.mistake = Mistake::number_out_of_range, .op = name(op), .dtype = d, .number = static_cast<std::int64_t>(nodes[c].bits)}, a);
  return broadcast_to(r, nodes[a].shape);
}

/// torch.result_type: dtypes of values with axes decide within their category, then those of values without axes, then those of numbers (see number_input).
constexpr DType Graph::result_dtype(const int* id, int count) const {
  bool same = true;
  for (int k = 1; k < count; ++k) same = same && nodes[id[k]].dtype == nodes[id[0]].dtype;
  if (same) return nodes[id[0]].dtype;
  DType with_axes = DType::boolean, single = DType::boolean, number = DType::boolean;
  bool any = false;
  for (int k = 0; k < count; ++k) {
    const Node& n = nodes[id[k]];
    const bool is_number = n.op == Op::input && n.bits == is_number_input;
    DType& d = is_number ? number : n.shape.rank > 0 ? with_axes : single;
    d = promote(d, n.dtype);
    any = any || !is_number;
  }
  return any ? promote_literal(combined_dtype(with_axes, single), number) : number;
}
constexpr int Graph::elementwise(Op op, Ids operands, std::int64_t attribute, DType to) {
  const int n = arity(op);
  if (refused > 0) return skip(operands[n - 1]);
  int id[3] = {operands[0], n > 1 ? operands[1] : -1, n > 2 ? operands[2] : -1};
  // dtypes: promote, and check
  const int first = op == Op::where ? 1 : 0;
  DType dtype = result_dtype(id + first, n - first);
  if (op == Op::where && nodes[id[0]].dtype != DType::boolean)
    return fail({.mistake = Mistake::condition_is_not_bool, .op = "where",
                 .dtype = nodes[id[0]].dtype}, id[1]);
  bool any_bool = false;
  for (int k = first; k < n; ++k) any_bool = any_bool || nodes[id[k]].dtype == DType::boolean;
  if (dtype == DType::boolean) op = detail::of_booleans(op);
  if (is_logical(op)) dtype = DType::boolean;  // of numbers: nonzero is true
  if (op == Op::sub && any_bool) dtype = DType::boolean;  // PyTorch refuses it
  if (op == Op::cast && dtype == to) return id[0];
  if (op == Op::cast && (is_narrow(dtype) || is_narrow(to))) return cast_narrow(id[0], to, attribute);
  if (op == Op::bitcast && dtype == to) return id[0];
  if (is_real(op) && !is_floating(dtype)) dtype = DType::f32;
  const bool accepted = is_bitwise(op)   ? is_integral(dtype)
                        : op == Op::bitcast ? size_of(dtype) == size_of(to) && !is_narrow(dtype) && !is_narrow(to)
                        : is_arithmetic(op) && op != Op::copy ? dtype != DType::boolean
                                                              : true;
  if (!accepted)
    return fail({.mistake = Mistake::dtype_not_accepted, .op = name(op), .dtype = dtype}, id[0]);
  if (op != Op::cast && op != Op::bitcast)
    for (int k = first; k < n; ++k)
      if (nodes[id[k]].dtype != dtype) id[k] = op == Op::where || op == Op::copy ? cast(id[k], dtype) : computed_in(id[k], dtype);
  if (dtype != DType::f32 && is_narrow(dtype)) {  // tested in this order, most ops cost constant evaluation no call
    if (op != Op::where && op != Op::copy) return elementwise_narrow(op, id, attribute, dtype);
    for (int k = first; k < n; ++k) id[k] = rounded_constant(id[k], op);
  }
  // shape
  Shape shape = nodes[id[0]].shape;
  for (int k = 1; k < n; ++k) {
    if (nodes[id[k]].shape == shape) continue;
    const Shape& other = nodes[id[k]].shape;
    const auto otherwise = [&] { return Failure{.mistake = Mistake::shapes_do_not_broadcast, .op = name(op), .a = shape, .b = other}; };
    const BroadcastResult r = broadcast(shape, other, otherwise);
    if (!r.ok) return fail(otherwise(), id[0]);
    shape = r.shape;
  }
  // an explicit broadcast is dropped where the other operands imply it
  if (n > 1)
    for (int k = 0; k < n; ++k) {
      if (nodes[id[k]].op != Op::broadcast) continue;
      const int source = nodes[id[k]].operand[0];
      Shape s = nodes[source].shape;
      for (int j = 0; j < n; ++j)
        if (j != k) s = try_broadcast(s, nodes[id[j]].shape).shape;
      if (s == shape) id[k] = source;
    }
  // fold and simplify
  int a = id[0], b = n > 1 ? id[1] : -1, c = n > 2 ? id[2] : -1;
  if (n == 2) {
    if (repeated_constant(b) != b && nodes[a].shape == shape) b = repeated_constant(b);
    if (repeated_constant(a) != a && nodes[b].shape == shape) a = repeated_constant(a);
  }
  if (const int x = repeated_constant(a), y = b < 0 ? x : repeated_constant(b);
      is_constant(x) && is_constant(y) && c < 0) {
    std::uint64_t bits = 0;
    if (detail::fold_bits(op, dtype, nodes[x].bits, nodes[y].bits, bits))
      return broadcast_to(constant_bits(dtype, bits), shape);
    if (op == Op::cast && to != DType::boolean && dtype != DType::boolean) {
      const double v = decode(dtype, nodes[x].bits);
      if (v > -2e9 && v < 2e9) return constant(to, v, shape);
    }
  }
  if (const int same = detail::simplify(*this, op, a, b, c); same >= 0)
    return broadcast_to(same, shape);
  if (op == Op::mul && is_constant(a, -1)) return neg(broadcast_to(b, shape));
  if (op == Op::mul && is_constant(b, -1)) return neg(broadcast_to(a, shape));
  if (op == Op::add && nodes[b].op == Op::neg) return sub(a, nodes[b].operand[0]);
  if (op == Op::sub && nodes[b].op == Op::neg) return add(a, nodes[b].operand[0]);

  Node node{.op = op, .dtype = is_comparison(op) || is_logical(op) ? DType::boolean : dtype,
            .operand = {a, b, c, -1}, .attribute = attribute, .shape = shape};
  if (op == Op::cast || op == Op::bitcast) node.dtype = to;
  if (is_commutative(op)) {  // found in either order, kept as first written
    Node swapped = node;
    swapped.operand[0] = b;
    swapped.operand[1] = a;
    if (const int i = find(swapped); i >= 0) return i;
  }
  return intern(node);
}

constexpr int Graph::call(const OpDef& def, Ids given) {
  if (refused > 0) return skip(given[0]);
  Vec<int> operands(def.info.arity, 0);
  for (int k = 0; k < def.info.arity; ++k) operands[k] = given[k];
  if (!std::is_constant_evaluated()) detail::enlist(def);
  DType dtype = result_dtype(operands.begin(), def.info.arity);
  Shape shape;
  if (def.has_integer_form && is_integral(dtype)) return cast(call(def.of_integers(), operands), dtype);
  if (def.info.domain == Domain::real && !is_floating(dtype)) dtype = DType::f32;
  const DType first = nodes[operands[0]].dtype;
  if ((def.info.domain == Domain::integer && is_floating(dtype)) || (def.info.domain == Domain::floating && !is_floating(first)))
    return fail({.mistake = Mistake::dtype_not_accepted, .op = def.info.name, .dtype = def.info.domain == Domain::integer ? dtype : first}, operands[0]);
  if (def.info.domain == Domain::integer) dtype = DType::i64;
  if (dtype == DType::boolean && def.info.domain == Domain::number && def.info.of_bool != OfBool::body) {
    for (int k = 0; k < def.info.arity; ++k) operands[k] = computed_in(operands[k], DType::i64);
    const int r = call(def, operands);
    return def.info.of_bool == OfBool::bools ? cast(r, DType::boolean) : r;
  }
  if (is_narrow(dtype)) {
    for (int k = 0; k < def.info.arity; ++k) operands[k] = widened(computed_in(operands[k], dtype));
    const int r = call(def, operands);
    return nodes[r].dtype == compute_dtype(dtype) ? cast(r, dtype) : r;
  }
  Node node{.op = Op::call, .dtype = dtype, .def = &def, .def_id = def.id};
  for (int k = 0; k < def.info.arity; ++k) {
    operands[k] = computed_in(operands[k], dtype);
    const Shape& other = nodes[operands[k]].shape;
    const auto otherwise = [&] { return Failure{.mistake = Mistake::shapes_do_not_broadcast, .op = def.info.name, .a = shape, .b = other}; };
    const BroadcastResult r = broadcast(shape, other, otherwise);
    if (!r.ok) return fail(otherwise(), operands[0]);
    shape = r.shape;
  }
  node.shape = shape;
  if (def.code < 0) {  // a body may change the dtype: ask it, on scalars
    Graph scratch;
    Vec<int> in;
    for (int k = 0; k < def.info.arity; ++k) in.push_back(scratch.input(dtype, {}));
    const int r = def.record(def, scratch, in.begin());
    if (scratch.failure) {
      scratch.failure.where = where;
      return fail(scratch.failure, operands[0]);
    }
    node.dtype = scratch[r].dtype;
  }
  return intern(node, *this, operands);
}

constexpr int Graph::broadcast_to(int a, const Shape& shape) {
  if (nodes[a].shape == shape) return a;
  if (nodes[a].op == Op::broadcast) return broadcast_to(nodes[a].operand[0], shape);
  const Shape from = nodes[a].shape;
  bool ok = from.rank <= shape.rank;
  const auto otherwise = [&] { return Failure{.mistake = Mistake::shapes_do_not_broadcast, .op = "broadcast_to", .a = from, .b = shape}; };
  for (int k = 0; k < from.rank && ok; ++k)
    ok = from.from_right(k) == Extent(1) || equal(from.from_right(k), shape.from_right(k), otherwise);
  if (!ok) return fail(otherwise(), a);
  return intern({.op = Op::broadcast, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1},
                 .shape = shape});
}

constexpr int Graph::reshape(int a, const Shape& shape) {
  if (nodes[a].op == Op::reshape) a = nodes[a].operand[0];
  if (nodes[a].shape == shape) return a;
  const auto otherwise = [&] { return Failure{.mistake = Mistake::sizes_differ, .op = "reshape", .a = nodes[a].shape, .b = shape}; };
  if (!is_countable(shape) || !equal(nodes[a].shape.size(), shape.size(), otherwise)) return fail(otherwise(), a);
  if (is_constant(repeated_constant(a))) return broadcast_to(repeated_constant(a), shape);
  if (nodes[a].op == Op::broadcast && (nodes[nodes[a].operand[0]].shape.rank == 0 || nodes[nodes[a].operand[0]].shape.size() == Extent(1))) {
    const Shape to = shape;  // it may be a node's, and nodes may move
    return broadcast_to(reshape(nodes[a].operand[0], {}), to);
  }
  if (nodes[a].op == Op::extent) return broadcast_to(a, shape);
  return intern({.op = Op::reshape, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1},
                 .shape = shape});
}

constexpr int Graph::permute(int a, const int* axes) {
  const Shape& s = nodes[a].shape;
  Node node{.op = Op::permute, .dtype = nodes[a].dtype};
  PermuteAttribute order{.rank = s.rank};
  unsigned seen = 0;
  bool identity = true;
  int source = a;
  for (int k = 0; k < s.rank; ++k) {
    const int axis = normalize_axis(axes[k], s.rank);
    if (axis < 0 || (seen >> axis & 1))
      return fail({.mistake = Mistake::not_a_permutation, .op = "permute", .a = s}, a);
    seen |= 1u << axis;
    node.shape.push_back(s[axis]);
    identity = identity && axis == k;
    order.axis[k] = nodes[a].op == Op::permute ? permuted_axis(nodes[a], axis) : axis;
  }
  if (identity) return a;
  if (nodes[a].op == Op::permute) {  // two permutations are one
    source = nodes[a].operand[0];
    identity = true;
    for (int k = 0; k < s.rank; ++k) identity = identity && order.axis[k] == k;
    if (identity) return source;
  }
  node.operand[0] = source;
  return intern(node, order);
}

constexpr int Graph::transpose(int a, int axis0, int axis1) {
  const Shape& s = nodes[a].shape;
  const int i = normalize_axis(axis0, s.rank), j = normalize_axis(axis1, s.rank);
  if (i < 0 || j < 0)
    return fail({.mistake = Mistake::axis_out_of_range, .op = "transpose", .a = s,
                 .number = i < 0 ? axis0 : axis1}, a);
  int axes[max_rank] = {};
  for (int k = 0; k < s.rank; ++k) axes[k] = k == i ? j : k == j ? i : k;
  return permute(a, axes);
}

constexpr int Graph::slice(int a, int axis, Extent start, Extent length, std::int64_t step) {
  const Shape s = nodes[a].shape;
  const int k = normalize_axis(axis, s.rank);
  if (k < 0)
    return fail({.mistake = Mistake::axis_out_of_range, .op = "slice", .a = s, .number = axis}, a);
  const bool known = start.is_constant() && length.is_constant();
  bool fits = step != 0;
  if (known && fits) fits = start.code >= 0 && length.code >= 0 && length.code < most_bytes / (step < 0 ? -step : step);
  const Extent last = fits ? start + (length - 1) * Extent(step) : start;
  const auto outside = [&](Extent at) { return Failure{.mistake = Mistake::slice_out_of_range, .op = "slice", .a = s, .number = at.code}; };
  if (fits && known && length.code > 0)
    fits = last.code >= 0 && (!s[k].is_constant() || (start.code < s[k].code && last.code < s[k].code));
  if (!fits) return fail(outside(start.code >= 0 && s[k].is_constant() && start.code < s[k].code ? last : start), a);
  if (start == Extent(0) && step == 1 && length == s[k]) return a;
  if (!known) {
    const Extent low = step > 0 ? start : last, high = step > 0 ? last : start;
    const auto wrong = [&] { return outside(start); };
    if (!at_least(length, 0, wrong) || !at_least(low, 0, wrong) || !at_least(s[k] - high - 1, 0, wrong)) return fail(wrong(), a);
  } else if (const Extent end = start.code > last.code ? start : last; length.code > 0 && !s[k].is_constant()) {
    at_least(s[k], end.code + 1, [&] { return outside(end); });
  }
  Node node{.op = Op::slice, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1}, .shape = s};
  node.shape.set(k, length);
  return intern(node, SliceAttribute{k, start, step});
}

// Canonical forms: over the last axis, or over axes without the last one. Reduced axes at the end of a shape are merged into one first; so the order of
// summation depends on shape and axes only.
constexpr int Graph::reduce(Op op, int a, unsigned axes, std::uint64_t bits) {
  if (const DType d = nodes[a].dtype; d != DType::f32 && d != DType::f64) {
    if (op == Op::sum && !is_floating(d)) a = cast(a, DType::i64);
    else if (is_narrow(d)) return cast(reduce(op, widened(a), axes, bits), d);
    else if (d == DType::boolean) return fail({.mistake = Mistake::dtype_not_accepted, .op = name(op), .dtype = d}, a);
  }
  const Shape s = nodes[a].shape;
  axes &= (1u << s.rank) - 1;
  for (int k = 0; k < s.rank; ++k)
    if (s[k] == Extent(1)) axes &= ~(1u << k);
  if (!axes) return a;
  Shape kept = s;
  for (int k = 0; k < s.rank; ++k)
    if (axes >> k & 1) kept.set(k, 1);
  int end = s.rank;  // trailing axes of extent 1 do not count
  while (s[end - 1] == Extent(1)) --end;
  int begin = end;
  while (begin > 0 && ((axes >> (begin - 1) & 1) || s[begin - 1] == Extent(1))) --begin;
  while (begin < end && s[begin] == Extent(1)) ++begin;
  const unsigned rest = axes & ((1u << begin) - 1);
  const std::uint64_t first_bits = rest && op != Op::sum ? bits | reduced_further : bits;
  if (begin < end && !(begin == s.rank - 1)) {
    Shape flat;
    for (int k = 0; k < begin; ++k) flat.push_back(s[k]);
    flat.push_back(s.count(begin, end));
    Shape keep_rest = s;
    for (int k = begin; k < s.rank; ++k) keep_rest.set(k, 1);
    return reduce(op, reshape(reduce(op, reshape(a, flat), 1u << begin, first_bits), keep_rest), rest, bits);
  }
  if (begin < end && axes != 1u << begin)
    return reduce(op, reduce(op, a, 1u << begin, first_bits), rest, bits);
  if (begin == end && end < s.rank) {  // drop trailing ones, put them back after
    Shape cut;
    for (int k = 0; k < end; ++k) cut.push_back(s[k]);
    return reshape(reduce(op, reshape(a, cut), axes, bits), kept);
  }
  return intern({.op = op, .dtype = nodes[a].dtype, .operand = {a, -1, -1, -1},
                 .attribute = axes, .bits = bits, .shape = kept});
}

// (..., M, K) x (..., K, N); batch axes broadcast.
constexpr int Graph::matmul(int a, int b) {
  const DType dtype = nodes[a].dtype;
  if (dtype != nodes[b].dtype) return fail({.mistake = Mistake::dtypes_differ, .op = "matmul", .dtype = dtype, .other_dtype = nodes[b].dtype}, a);
  if (dtype == DType::boolean)
    return fail({.mistake = Mistake::dtype_not_accepted, .op = "matmul", .dtype = dtype}, a);
  if (dtype != DType::f32 && is_narrow(dtype)) return cast(matmul(widened(a), widened(b)), dtype);
  const Shape x = nodes[a].shape, y = nodes[b].shape;
  if (x.rank < 1 || y.rank < 1)
    return fail({.mistake = Mistake::rank_too_low, .op = "matmul", .a = x.rank < 1 ? x : y,
                 .number = 1}, a);
  const auto differ = [&](Mistake m) { return Failure{.mistake = m, .op = "matmul", .a = x, .b = y}; };
  const auto inner = [&] { return differ(Mistake::inner_extents_differ); };
  const auto batches = [&] { return differ(Mistake::batch_extents_differ); };
  if (!equal(x.last(), y.rank == 1 ? y[0] : y.from_right(1), inner)) return fail(inner(), a);
  if (y.rank == 1) {  // row sums, which read contiguous memory; no matrix product does
    const int terms = mul(a, b), axis = x.rank - 1;
    Shape cut = x;
    --cut.rank;
    return cast(reshape(reduce(Op::sum, terms, 1u << axis), cut), dtype);
  }
  if (x.rank == 1) {  // a matrix of one row; its row axis is removed after
    const int p = matmul(reshape(a, {1, x[0]}), b);
    Shape cut = nodes[p].shape;
    cut.set(cut.rank - 2, cut.last());
    --cut.rank;
    return reshape(p, cut);
  }
  if (x.rank > 2 && y.rank == 2) {  // one big product instead of many small ones
    const int r = matmul(reshape(a, {x.rows(), x.last()}), b);
    Shape out = x;
    out.set(x.rank - 1, y[1]);
    return reshape(r, out);
  }
  Shape batch;
  for (int k = 0; k < (x.rank > y.rank ? x.rank : y.rank) - 2; ++k) batch.push_back(1);
  for (int k = 0; k < batch.rank; ++k) {
    const Extent p = x.from_right(k + 2), q = y.from_right(k + 2);
    if (p != Extent(1) && q != Extent(1) && !equal(p, q, batches)) return fail(batches(), a);
    batch.set(batch.rank - 1 - k, p == Extent(1) ? q : p);
  }
  Node node{.op = Op::matmul, .dtype = dtype, .operand = {a, b, -1, -1}, .shape = batch};
  node.shape.push_back(x.from_right(1));
  node.shape.push_back(y.last());
  return intern(node);
}

}  // namespace tt
