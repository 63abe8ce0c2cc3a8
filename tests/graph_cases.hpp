// What the graph compiler must do, as constexpr functions: the same checks are static_asserts and
// run-time tests. Each returns the line of its first failing check, or 0. One flat list of cases,
// so it is long.
#pragma once
#include "tt/functional/image_ops.hpp"
#include "tt/functional/tensor_ops.hpp"
#include "tt/graph/differentiate.hpp"
#include "tt/plan/memory.hpp"
#include "tt/plan/print.hpp"

namespace graph_cases {

using tt::DType;
using tt::Extent;
using tt::Graph;
using tt::KernelKind;
using tt::Mistake;
using tt::Op;
using tt::Shape;
using tt::Sym;

struct Check {
  int failed = 0;
  constexpr void operator()(bool holds, int line = __builtin_LINE()) {
    if (!holds && !failed) failed = line;
  }
};

/// A graph under construction, with short names for its inputs.
struct Recording {
  Graph g;
  constexpr Sym input(const Shape& s, DType d = DType::f32) { return {&g, g.input(d, s)}; }
  constexpr const Shape& shape(int id) const { return g[id].shape; }
  constexpr Sym sum(const Sym& x, int axis, bool keepdim) { return tt::sum(x, axis, keepdim); }
};

// ---- shapes and dtypes

constexpr int broadcasting() {
  Check check;
  Recording r;
  const Sym a = r.input({3, 1}), b = r.input({4}), c = r.input({}), d = r.input({2, 3, 4});
  check((a + b).shape() == Shape{3, 4});
  check((b + a).shape() == Shape{3, 4});
  check((a + c).shape() == Shape{3, 1});
  check((a * d).shape() == Shape{2, 3, 4});
  check(tt::where(d > 0, a, b).shape() == Shape{2, 3, 4});
  check(r.shape(r.g.broadcast_to(a.id, {2, 3, 4})) == Shape{2, 3, 4});
  check(r.g.broadcast_to(a.id, {3, 1}) == a.id);
  const Sym empty = r.input({0, 4});
  check((empty + b).shape() == Shape{0, 4});
  const Sym symbolic = r.input({Extent::symbol(0), 4});
  check((symbolic + b).shape() == Shape{Extent::symbol(0), 4});
  check(!r.g.failure && r.g.assumed.empty());
  check((symbolic * r.input({3, 4})).shape().rank == 2);
  check(r.g.assumed.size() == 1);
  return check.failed;
}

constexpr int reduced_shapes() {
  Check check;
  Recording r;
  const Sym x = r.input({2, 3, 4});
  check(tt::sum(x).shape() == Shape{});
  check(tt::sum(x, 0).shape() == Shape{3, 4});
  check(tt::sum(x, 1).shape() == Shape{2, 4});
  check(tt::sum(x, -1).shape() == Shape{2, 3});
  check(tt::sum(x, -1, true).shape() == Shape{2, 3, 1});
  check(tt::amax<0, 2>(x).shape() == Shape{3});
  check(tt::sum_keepdim<0, 2>(x).shape() == Shape{1, 3, 1});
  check(tt::mean(x, 1).shape() == Shape{2, 4});
  check(tt::softmax(x, -2).shape() == Shape{2, 3, 4});
  check(tt::argmax(x, 2).dtype() == DType::i64);
  check(tt::sum(r.input({2, 3}, DType::i32)).dtype() == DType::i64);
  check(tt::sum(r.input({2, 3}, DType::boolean)).dtype() == DType::i64);
  check(tt::amax(r.input({2, 3}, DType::i32)).dtype() == DType::i32);
  const Sym one = r.input({1, 1});
  check(r.g.reduce(Op::sum, one.id, 3) == one.id);
  check(!r.g.failure);
  return check.failed;
}

constexpr int product_shapes() {
  Check check;
  Recording r;
  const Sym a = r.input({3, 4}), b = r.input({4, 5}), v = r.input({4}), batch = r.input({7, 3, 4});
  check(tt::matmul(a, b).shape() == Shape{3, 5});
  check(tt::matmul(a, v).shape() == Shape{3});
  check(tt::matmul(v, b).shape() == Shape{5});
  check(tt::matmul(v, v).shape() == Shape{});
  check(tt::matmul(batch, b).shape() == Shape{7, 3, 5});
  check(tt::matmul(batch, r.input({7, 4, 2})).shape() == Shape{7, 3, 2});
  check(tt::matmul(batch, r.input({1, 4, 2})).shape() == Shape{7, 3, 2});
  check(tt::matmul(a, r.input({7, 4, 2})).shape() == Shape{7, 3, 2});
  check(tt::matmul(r.input({2, 1, 3, 4}), r.input({6, 4, 5})).shape() == Shape{2, 6, 3, 5});
  check(tt::matmul(batch, v).shape() == Shape{7, 3});
  check(!r.g.failure);
  return check.failed;
}

constexpr int view_shapes() {
  Check check;
  Recording r;
  const Sym x = r.input({2, 3, 4});
  check(tt::transpose(x).shape() == Shape{2, 4, 3});
  check(tt::transpose<0, -1>(x).shape() == Shape{4, 3, 2});
  check(tt::transpose(tt::transpose(x)).id == x.id);
  check((tt::permute<2, 0, 1>(x).shape() == Shape{4, 2, 3}));
  check((tt::permute<1, 2, 0>(tt::permute<2, 0, 1>(x)).id == x.id));
  const Sym twice = tt::permute<1, 0, 2>(tt::permute<2, 0, 1>(x));
  check(twice.shape() == Shape{2, 4, 3} && twice.node().operand[0] == x.id);
  check((tt::permute<0, 2, 1>(x).id == twice.id));
  check((tt::permute<0, 1, 2>(x).id == x.id));
  check((tt::permute<-1, 0, -2>(x).shape() == Shape{4, 2, 3}));
  check((tt::reshape<6, 4>(x).shape() == Shape{6, 4}));
  check((tt::reshape<2, 3, 4>(tt::reshape<24>(x)).id == x.id));
  check((tt::slice<2, 1, 3>(x).shape() == Shape{2, 3, 2}));
  check((tt::slice<-1, 3, INT64_MIN, -1>(x).shape() == Shape{2, 3, 4}));
  check((tt::slice<1, 0, 3>(x).id == x.id));
  check((tt::slice<0, 0, 0>(x).shape() == Shape{0, 3, 4}));
  const auto s = r.g.attributes<tt::SliceAttribute>(tt::slice<-1, 3, INT64_MIN, -2>(x).id);
  check(s.axis == 2 && s.start == 3 && s.step == -2);
  check(!r.g.failure);
  return check.failed;
}

constexpr int promotion() {
  Check check;
  Recording r;
  const Sym f = r.input({2}), d = r.input({2}, DType::f64), i = r.input({2}, DType::i32);
  const Sym l = r.input({2}, DType::i64), m = r.input({2}, DType::boolean);
  check((i + l).dtype() == DType::i64);
  check((l + f).dtype() == DType::f32);
  check((f * d).dtype() == DType::f64);
  check((i / i).dtype() == DType::f32);
  check(tt::sqrt(l).dtype() == DType::f32);
  check(tt::exp(i).dtype() == DType::f32);
  check((f + 1.5).dtype() == DType::f32);
  check((i + 1).dtype() == DType::i32);
  check((i * 0.5).dtype() == DType::f32);
  check((f < d).dtype() == DType::boolean);
  check((m && (f > 0)).dtype() == DType::boolean);
  check(tt::where(m, i, f).dtype() == DType::f32);
  check(tt::relu(i).dtype() == DType::i32);
  check(!r.g.failure);
  return check.failed;
}

// ---- mistakes

/// Records one mistake of each kind.
constexpr tt::Failure failure_of(Mistake m) {
  Recording r;
  const Sym x = r.input({2, 3}), y = r.input({2, 4}), z = r.input({2, 3}, DType::boolean);
  switch (m) {
    case Mistake::shapes_do_not_broadcast: (void)(x + y); break;
    case Mistake::inner_extents_differ: tt::matmul(x, y); break;
    case Mistake::batch_extents_differ: tt::matmul(r.input({2, 3, 4}), r.input({5, 4, 3})); break;
    case Mistake::rank_too_low: tt::matmul(x, r.input({})); break;
    case Mistake::rank_too_high: tt::reshape<1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3>(x); break;
    case Mistake::axis_out_of_range: tt::sum(x, 2); break;
    case Mistake::sizes_differ: tt::reshape<5>(x); break;
    case Mistake::dtype_not_accepted: (void)(z - z); break;
    case Mistake::dtypes_differ: tt::matmul(x, r.input({3, 2}, DType::f64)); break;
    case Mistake::padding_out_of_range: tt::pad<-2, -2>(x); break;
    case Mistake::negative_power: tt::pow(r.input({2}, DType::i32), -1); break;
    case Mistake::condition_is_not_bool: tt::where(x, y, y); break;
    case Mistake::slice_out_of_range: x.graph->slice(x.id, 1, 2, 2, 1); break;
    case Mistake::not_a_permutation: tt::permute<0, 0>(x); break;
    case Mistake::not_differentiable: {
      const Sym bits = tt::bitcast<std::int32_t>(x);
      (void)tt::gradients(r.g, tt::sum(tt::bitcast<float>(bits)).id, {x.id});
      break;
    }
    case Mistake::number_out_of_range: (void)(r.input({2}, DType::i32) + 3000000000); break;
    case Mistake::too_many_elements: r.g.broadcast_to(x.id, {1 << 30, 1 << 30, 2, 3}); break;
    case Mistake::gradient_of_non_scalar: (void)tt::gradients(r.g, x.id, {x.id}); break;
    default: break;
  }
  return r.g.failure;
}

constexpr int mistakes() {
  Check check;
  for (Mistake m : {Mistake::shapes_do_not_broadcast, Mistake::inner_extents_differ,
                    Mistake::batch_extents_differ, Mistake::rank_too_low, Mistake::rank_too_high,
                    Mistake::axis_out_of_range, Mistake::sizes_differ, Mistake::dtype_not_accepted, Mistake::dtypes_differ,
                    Mistake::padding_out_of_range, Mistake::negative_power,
                    Mistake::condition_is_not_bool, Mistake::slice_out_of_range,
                    Mistake::not_a_permutation, Mistake::number_out_of_range,
                    Mistake::too_many_elements, Mistake::gradient_of_non_scalar})
    check(failure_of(m).mistake == m, 10000 + static_cast<int>(m));
  Recording r;  // the first mistake is kept, recording goes on
  const Sym x = r.input({2, 3}), y = r.input({2, 4});
  const Sym wrong = x + y;
  tt::matmul(wrong, wrong);
  check(r.g.failure.mistake == Mistake::shapes_do_not_broadcast);
  return check.failed;
}

constexpr int sizes_that_overflow() {
  Check check;
  Recording r;
  const std::int64_t big = std::int64_t{1} << 30;
  const Sym column = r.input({big, 1}), row = r.input({1, big});
  (void)(column * row);
  check(r.g.failure.mistake == Mistake::too_many_elements);
  Recording reshaped;
  const Sym y = reshaped.input({2, 3});
  reshaped.g.reshape(y.id, {big, big, big, 6});
  check(reshaped.g.failure.mistake == Mistake::sizes_differ);
  Recording sliced;
  const Sym z = sliced.input({std::int64_t{1} << 40});
  check(sliced.g[sliced.g.slice(z.id, 0, std::int64_t{1} << 35, 3, -(1 << 20))].shape == Shape{3});
  check(sliced.g[sliced.g.slice(z.id, 0, std::int64_t{1} << 39, 3, 1)].shape == Shape{3});
  check(!sliced.g.failure);
  return check.failed;
}

constexpr int a_full_graph_stops() {
  Check check;
  Recording r;
  r.g.room = 20;
  const Sym x = r.input({4, 6});
  Sym y = tt::softmax(tt::matmul(x, tt::transpose(x)), 1);
  for (int k = 0; k < 100; ++k) y = tt::mean(y * y + tt::sum(y, 0), 1, true) + tt::silu(y * k);
  (void)tt::gradients(r.g, tt::sum(tt::slice<0, 1, 3>(y)).id, {x.id});
  check(r.g.size() == 20 && r.g.refused > 100);
  check(r.g.failure.mistake == Mistake::too_many_nodes);
  return check.failed;
}

constexpr int integer_literals() {
  Check check;
  Recording r;
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;  // no double
  const Sym l = r.input({2}, DType::i64), i = r.input({2}, DType::i32), f = r.input({2});
  const Sym m = r.input({2}, DType::boolean);
  check(r.g[(l + odd).node().operand[1]].bits == static_cast<std::uint64_t>(odd));
  check(r.g[tt::where(m, odd, -odd).node().operand[1]].bits == static_cast<std::uint64_t>(odd));
  check(r.g[r.g.extent(DType::i64, odd)].bits == static_cast<std::uint64_t>(odd));
  check(r.g[(i + -2147483648LL).node().operand[1]].bits == static_cast<std::uint64_t>(-2147483648LL));
  const std::int64_t between = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  const std::uint64_t once = std::bit_cast<std::uint32_t>(static_cast<float>(between));
  check(r.g[(f + between).node().operand[1]].bits == once);  // not rounded to double before
  check(r.g[r.g.extent(DType::f32, between)].bits == once);
  check(!r.g.failure);
  (void)(l + 18446744073709551615u);
  check(r.g.failure.mistake == Mistake::number_out_of_range);
  return check.failed;
}

constexpr int random_bits_are_integers() {
  Check check;
  Recording r;
  const Sym x = r.input({2, 3}), i = r.input({}, DType::i32);
  check(tt::philox(i, i).dtype() == DType::i64);
  check(r.g[tt::philox(i, 7).node().operand[0]].dtype == DType::i64);
  check(tt::rand_like(x, i).dtype() == DType::f32 && !r.g.failure);
  (void)tt::randn_like(x, r.input({}));
  check(r.g.failure.mistake == Mistake::dtype_not_accepted);
  Recording direct;
  (void)tt::philox(direct.input({}), 7);
  check(direct.g.failure.mistake == Mistake::dtype_not_accepted);
  return check.failed;
}

// ---- exact simplification

constexpr int exact_rewrites() {
  Check check;
  Recording r;
  const Sym x = r.input({4}), y = r.input({4}), i = r.input({4}, DType::i32);
  const Sym m = r.input({4}, DType::boolean);
  check((x * 1).id == x.id && (1 * x).id == x.id);
  check((x / 1).id == x.id);
  check((x - 0).id == x.id);
  check((-(-x)).id == x.id && (-(-i)).id == i.id);
  check((x + (-y)).id == (x - y).id);
  check((x - (-y)).id == (x + y).id);
  check((x * -1).id == (-x).id);
  check((!(!m)).id == m.id);
  check(tt::where(m, x, x).id == x.id);
  check((i * 1).id == i.id);
  check(tt::cast<float>(x).id == x.id);
  check((x * 1.5).node().op == Op::mul);
  check(!r.g.failure);
  return check.failed;
}

constexpr int inexact_rewrites_are_left() {
  Check check;
  Recording r;
  const Sym x = r.input({4});
  check((x + 0).node().op == Op::add);
  check((0 + x).node().op == Op::add);
  check((x * 0).node().op == Op::mul);
  check((0 * x).node().op == Op::mul);
  check((x - x).node().op == Op::sub);
  check((x / x).node().op == Op::div);
  check((0 - x).node().op == Op::sub);
  check((x - (-0.0)).node().op == Op::sub);
  check(((x + 1) - 1).node().op == Op::sub);
  check((x == x).node().op == Op::eq);
  const Sym repeated{&r.g, r.g.broadcast_to(x.id, {3, 4})};
  check(tt::sum(repeated, 0, true).node().op == Op::sum);
  check((x * 3.0 * 2.0).node().operand[0] == (x * 3.0).id);
  return check.failed;
}

constexpr int constant_folding() {
  Check check;
  Graph g;
  const Sym two{&g, g.constant(DType::f32, 2)}, three{&g, g.constant(DType::f32, 3)};
  const Sym seven{&g, g.constant(DType::i32, 7)};
  check(g.is_constant((two + three).id, 5) && g.is_constant((two - three).id, -1));
  check(g.is_constant((two * three).id, 6) && g.is_constant((-two).id, -2));
  check(g.is_constant((two / three).id) &&
        g[(two / three).id].bits == std::bit_cast<std::uint32_t>(2.0f / 3.0f));
  check(g.is_constant((seven * seven).id, 49));
  check(g.is_constant(tt::cast<double>(three).id, 3) &&
        tt::cast<double>(three).dtype() == DType::f64);
  check(g.is_constant(tt::cast<std::int32_t>(two).id, 2));
  check((two / 0.0).node().op == Op::div);
  const Sym row{&g, g.constant(DType::f32, 2, {8})};
  check((row * row).shape() == Shape{8} && g.is_constant((row * row).node().operand[0], 4));
  const Sym overflow = Sym{&g, g.constant(DType::f32, 1e30)} * 1e30;
  check(overflow.node().op == Op::mul);
  return check.failed;
}

// ---- common subexpressions, dead code, canonical numbering

constexpr int common_subexpressions() {
  Check check;
  Recording r;
  const Sym a = r.input({4}), b = r.input({4});
  check((a + b).id == (a + b).id);
  check((a + b).id == (b + a).id && (a * b).id == (b * a).id);
  check((a == b).id == (b == a).id && (a != b).id == (b != a).id);
  check((a - b).id != (b - a).id && (a / b).id != (b / a).id && (a < b).id != (b < a).id);
  check(tt::maximum(a, b).id != tt::maximum(b, a).id);  // of -0 and 0 the second is taken
  check(tt::exp(a).id == tt::exp(a).id && tt::exp(a).id != tt::exp(b).id);
  check((a > b).id == (b < a).id);
  check((a + 1).id == (a + 1.0).id && (a + 1).id != (a + 2).id);
  check((a + 0.0).id != (a + -0.0).id);
  check(tt::sum(a).id == tt::sum(a).id && tt::sum(a).id != tt::amax(a).id);
  const Sym i = r.input({4}, DType::i32);
  check((i << 1).id != (i << 2).id && (i << 1).id == (i << 1).id);
  check(r.input({4}).id != r.input({4}).id);
  return check.failed;
}

constexpr int dead_code() {
  Check check;
  Recording r;
  const Sym a = r.input({4}), unused = r.input({4});
  (void)(unused * 3 + tt::exp(unused));
  (void)tt::sum(a * 2);
  r.g.output((a + 1).id);
  const Graph c = tt::canonical(r.g);
  check(c.size() == 4 && c.inputs.size() == 2 && c.outputs.size() == 1);
  check(tt::to_string(tt::canonical(c)) == tt::to_string(c));
  return check.failed;
}

constexpr Graph in_order(bool left_first) {
  Recording r;
  const Sym x = r.input({4}), y = r.input({4});
  Sym p, q;
  if (left_first) {
    p = tt::exp(x) * 2;
    q = tt::log(y) - x;
  } else {
    q = tt::log(y) - x;
    p = tt::exp(x) * 2;
  }
  r.g.output((p / q).id);
  return static_cast<Graph&&>(r.g);
}

constexpr int canonical_numbering() {
  Check check;
  const Graph a = in_order(true), b = in_order(false), c = tt::canonical(a);
  check(!(tt::to_string(a) == tt::to_string(b)));
  check(tt::to_string(c) == tt::to_string(tt::canonical(b)));
  check(tt::to_string(tt::make_plan(a)) == tt::to_string(tt::make_plan(b)));
  for (int i = 0; i < c.size(); ++i)
    for (int o : c.operands(i)) check(o < i);
  return check.failed;
}

constexpr int bodies_are_inlined() {
  Check check;
  Recording r;
  const Sym x = r.input({4});
  r.g.output(tt::mish(tt::detach(tt::gelu(x))).id);
  const Graph g = tt::inline_bodies(r.g);
  for (const tt::Node& n : g.nodes)
    check(n.op != Op::detach && (n.op != Op::call || n.def->code >= 0));
  check(tt::to_string(tt::inline_bodies(g)) == tt::to_string(g));
  return check.failed;
}

// ---- gradients

constexpr int gradient_structure() {
  Check check;
  Recording r;
  const Sym x = r.input({3}), y = r.input({3}), i = r.input({3}, DType::i32);
  const Sym loss = tt::sum(x * x * 3 + tt::detach(y));
  const tt::Vec<int> d = tt::gradients(r.g, loss.id, {x.id, y.id, i.id});
  check(r.shape(d[0]) == Shape{3} && r.g[d[0]].dtype == DType::f32);
  check(r.g.is_constant(r.g.repeated_constant(d[1]), 0) && r.shape(d[1]) == Shape{3});
  check(r.g.is_constant(r.g.repeated_constant(d[2]), 0) && r.g[d[2]].dtype == DType::i32);
  const Sym bias = r.input({4}), rows = r.input({5, 4});
  const tt::Vec<int> b = tt::gradients(r.g, tt::sum(rows + bias).id, {bias.id, rows.id});
  check(r.shape(b[0]) == Shape{4} && r.shape(b[1]) == Shape{5, 4});
  check(!r.g.failure);
  return check.failed;
}

constexpr int gradient_of_slices() {
  Check check;
  Recording r;
  const Sym x = r.input({7, 5}), s = r.input({Extent::symbol(0), 5});
  const Sym loss = tt::sum(tt::slice<0, 1, 6, 2>(x) * tt::slice<0, 0, 3>(x)) +
                   tt::sum(tt::slice<0, 6, INT64_MIN, -2>(x)) + tt::sum(tt::slice<0, 3, 1, -1>(s));
  const tt::Vec<int> d = tt::gradients(r.g, loss.id, {x.id, s.id});
  check(!r.g.failure && r.shape(d[0]) == Shape{7, 5});
  check(r.shape(d[1]) == Shape{Extent::symbol(0), 5});
  return check.failed;
}

// ---- scheduling

constexpr int kernels_of(Recording& r, const Sym& result) {
  r.g.output(result.id);
  const tt::Plan p = tt::make_plan(r.g);
  return r.g.failure || p.failure ? -1 : p.kernels.size();
}

constexpr int chain_is_one_kernel() {
  Recording r;
  const Sym x = r.input({64, 100}), y = r.input({100}), s = r.input({});
  return kernels_of(r, tt::silu(x * y + 1) * tt::exp(-x) / (s - x)) == 1 ? 0 : __LINE__;
}
constexpr int work_on_a_smaller_operand_is_not_repeated() {
  Recording r;
  const Sym x = r.input({64, 100}), y = r.input({100});
  return kernels_of(r, x * tt::exp(y)) == 2 ? 0 : __LINE__;
}
constexpr int softmax_is_one_kernel() {
  Recording r;
  return kernels_of(r, tt::softmax(r.input({64, 100}), 1)) == 1 ? 0 : __LINE__;
}
constexpr int layer_norm_is_one_kernel() {
  Recording r;
  const Sym x = r.input({64, 100}), gain = r.input({100}), bias = r.input({100});
  const Sym c = x - tt::mean(x, 1, true);
  const Sym n = c * tt::rsqrt(tt::mean(c * c, 1, true) + 1e-5);
  return kernels_of(r, n * gain + bias) == 1 ? 0 : __LINE__;
}
constexpr int matmul_with_epilogue_is_one_kernel() {
  Recording r;
  const Sym a = r.input({64, 128}), b = r.input({128, 10}), bias = r.input({10});
  return kernels_of(r, tt::relu(tt::matmul(a, b) + bias)) == 1 ? 0 : __LINE__;
}
constexpr int sum_with_producer_is_one_kernel() {
  Recording r;
  const Sym a = r.input({64, 10}), b = r.input({64, 10}), c = r.input({64, 10});
  return kernels_of(r, tt::sum(a * b + c)) == 1 ? 0 : __LINE__;
}
constexpr int a_sum_broadcasts_its_producers() {
  Check check;
  Recording r;
  const Sym a = r.input({64, 20}), row = r.input({20}), column = r.input({64, 1});
  check(kernels_of(r, tt::sum(a * row + column)) == 1);
  Recording both;
  const Sym b = both.input({4, 64, 20}), middle = both.input({64, 1}), first = both.input({4, 1, 20});
  both.g.output(tt::exp(b * middle).id);
  check(kernels_of(both, tt::sum<1, 2>(b * middle - first)) == 1);
  const Extent n = Extent::symbol(0), m = Extent::symbol(1);
  for (const Shape& shape : {Shape{64, 10}, Shape{64, n}, Shape{n, m}}) {
    Recording other;  // short rows and rows of unknown length would be slow to read in place
    check(kernels_of(other, tt::sum(other.input(shape) * other.input({shape[1]}))) == 2);
  }
  Recording symbolic;
  check(kernels_of(symbolic, tt::sum(symbolic.input({n, 20}) * symbolic.input({20}))) == 1);
  return check.failed;
}
constexpr int a_value_beside_a_sum_is_one_kernel() {
  Check check;
  Recording r;
  const Sym x = r.input({64, 10});
  r.g.output(tt::exp(x).id);
  check(kernels_of(r, tt::sum(x)) == 1);
  Recording twice;
  const Sym e = tt::exp(twice.input({64, 10}));
  twice.g.output(e.id);
  twice.g.output(tt::mean(e).id);
  check(kernels_of(twice, tt::amax(e * 2)) == 1);
  Recording rows;  // what is reduced along rows stays with them
  const Sym y = rows.input({64, 10});
  rows.g.output(tt::softmax(y, 1).id);
  rows.g.output((y + 1).id);
  check(kernels_of(rows, tt::sum(y)) == 2);
  return check.failed;
}
/// Was 2^n steps: what a cheap value is made of was asked for every path to it.
constexpr int a_chain_of_squares_is_scheduled() {
  Check check;
  Recording r;
  const Sym x = r.input({8, 16});
  Sym y = x, mask = x > 0;
  for (int k = 0; k < 40; ++k) {
    y = y * y + 1;
    mask = (mask && y > 2) || (mask && y < 1);
  }
  r.g.output(tt::sum(tt::where(mask, y, 0), 0).id);
  check(kernels_of(r, tt::sum(tt::where(mask, y, 1), 1)) == 2);
  return check.failed;
}
constexpr int column_sum_with_producer_is_one_kernel() {
  Recording r;
  const Sym a = r.input({64, 10}), b = r.input({64, 10});
  return kernels_of(r, tt::sum(a * b, 0) * 2) == 1 ? 0 : __LINE__;
}

/// 64-32-10 perceptron, cross-entropy, all gradients, momentum, every parameter in place.
constexpr Graph training_step() {
  Recording r;
  const Sym x = r.input({100, 64}), label = r.input({100}, DType::i64);
  Sym parameter[4], velocity[4];
  const Shape shapes[] = {{64, 32}, {32}, {32, 10}, {10}};
  for (int k = 0; k < 4; ++k) parameter[k] = r.input(shapes[k]);
  for (int k = 0; k < 4; ++k) velocity[k] = r.input(shapes[k]);
  const Sym hidden = tt::relu(tt::matmul(x, parameter[0]) + parameter[1]);
  const Sym loss = tt::detail::ClassLoss(tt::matmul(hidden, parameter[2]) + parameter[3], label, "cross_entropy").mean();  // the same graph at both times
  const tt::Vec<int> d = tt::gradients(
      r.g, loss.id, {parameter[0].id, parameter[1].id, parameter[2].id, parameter[3].id});
  for (int k = 0; k < 4; ++k) {
    const Sym v = velocity[k] * 0.9 + Sym{&r.g, d[k]};
    r.g.output(v.id, 6 + k);
    r.g.output((parameter[k] - v * 0.1).id, 2 + k);
  }
  r.g.output(loss.id);
  return static_cast<Graph&&>(r.g);
}

constexpr int training_step_is_few_kernels() {
  Check check;
  const Graph g = training_step();
  check(!g.failure);
  const tt::Plan p = tt::make_plan(g);
  check(!p.failure);
  check(p.kernels.size() <= 10);
  check(p.arena > 0 && p.arena < 100000);
  check(p.externals == 11);
  for (const tt::Buffer& b : p.buffers)
    if (b.external < 0 && b.first >= 0) check(b.offset >= 0 && b.offset % 64 == 0);
  return check.failed;
}

/// Buffers that live at the same time do not overlap.
constexpr int arena_does_not_overlap() {
  Check check;
  const tt::Plan p = tt::make_plan(training_step());
  const auto end = [](const tt::Buffer& b) {
    return b.offset + b.size.code * tt::size_of(b.dtype);
  };
  for (const tt::Buffer& a : p.buffers)
    for (const tt::Buffer& b : p.buffers) {
      if (&a == &b || a.external >= 0 || b.external >= 0 || a.first < 0 || b.first < 0) continue;
      if (a.last < b.first || b.last < a.first) continue;
      check(end(a) <= b.offset || end(b) <= a.offset);
      check(end(a) <= p.arena);
    }
  return check.failed;
}

constexpr int stores_into(const tt::Plan& p, int external) {
  int n = 0;
  for (const tt::Kernel& k : p.kernels)
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i)
      if (const tt::Instruction& x = p.instructions[i]; x.op == Op::store)
        n += p.buffers[p.bindings[k.first_binding + p.accesses[x.access].buffer]].external ==
             external;
  return n;
}

constexpr int updates_in_place() {
  Check check;
  Recording plain;  // nobody else reads x: written where it lies
  const Sym x = plain.input({4, 8}), y = plain.input({4, 8});
  plain.g.output((x + y).id, 0);
  const tt::Plan p = tt::make_plan(plain.g);
  check(p.kernels.size() == 1 && p.externals == 2 && p.arena == 0 && stores_into(p, 0) == 1);
  Recording late;  // the old x is needed by a later kernel: written aside, copied at the end
  const Sym u = late.input({4, 8}), v = late.input({4, 8});
  late.g.output((u + v).id, 0);
  late.g.output(tt::sum(u * tt::sum(u + v, 0), 0).id);
  const tt::Plan q = tt::make_plan(late.g);
  const tt::Kernel& last = q.kernels[q.kernels.size() - 1];
  bool reads_later = false;
  for (int j = 0; j + 1 < q.kernels.size(); ++j) {
    const tt::Kernel& k = q.kernels[j];
    for (int i = k.segment[0]; i < k.segment[2 * k.sweeps + 1]; ++i)
      if (const tt::Instruction& n = q.instructions[i]; n.op == Op::store)
        reads_later =
            reads_later ||
            q.buffers[q.bindings[k.first_binding + q.accesses[n.access].buffer]].external == 0;
  }
  check(!reads_later && stores_into(q, 0) == 1 && last.kind == KernelKind::rows);
  return check.failed;
}

constexpr int equal_code_is_shared() {
  Check check;
  Recording r;
  for (int k = 0; k < 3; ++k) {
    const Sym a = r.input({64, 32}), b = r.input({32, 64});
    r.g.output((tt::matmul(a, b) + 1).id);
  }
  const tt::Plan p = tt::make_plan(r.g);
  check(p.kernels.size() == 3);
  for (const tt::Kernel& k : p.kernels) check(k.code == 0);
  return check.failed;
}

constexpr int symbolic_sizes() {
  Check check;
  Recording r;
  const Extent n = Extent::symbol(0);
  const Sym x = r.input({n, 64}), w = r.input({64, 10});
  r.g.output(tt::softmax(tt::matmul(x, w), 1).id);
  r.g.output(tt::mean(x, 0).id);
  const tt::Plan p = tt::make_plan(r.g);
  check(!p.failure && p.arena == -1);
  check(p.buffers.size() < 64);
  std::int64_t offsets[64] = {};
  const auto bytes = [&](std::int64_t rows) {
    return tt::plan_memory(p.buffers.begin(), p.buffers.size(), p.kernels.size(), {{rows}},
                           offsets);
  };
  check(bytes(3) < bytes(300));
  check((Extent::symbol(0) * 10 * Extent::symbol(1)).value({{7, 3}}) == 210);
  return check.failed;
}

struct GraphCase {
  const char* name;
  int (*run)();
};

inline constexpr GraphCase all[] = {
    {"broadcasting", &broadcasting},
    {"reduced shapes", &reduced_shapes},
    {"product shapes", &product_shapes},
    {"view shapes", &view_shapes},
    {"promotion", &promotion},
    {"mistakes", &mistakes},
    {"sizes that overflow", &sizes_that_overflow},
    {"a full graph stops", &a_full_graph_stops},
    {"integer literals", &integer_literals},
    {"random bits are integers", &random_bits_are_integers},
    {"exact rewrites", &exact_rewrites},
    {"inexact rewrites are left", &inexact_rewrites_are_left},
    {"constant folding", &constant_folding},
    {"common subexpressions", &common_subexpressions},
    {"dead code", &dead_code},
    {"canonical numbering", &canonical_numbering},
    {"bodies are inlined", &bodies_are_inlined},
    {"gradient structure", &gradient_structure},
    {"gradient of slices", &gradient_of_slices},
    {"an elementwise chain is one kernel", &chain_is_one_kernel},
    {"work on a smaller operand is not repeated", &work_on_a_smaller_operand_is_not_repeated},
    {"softmax is one kernel", &softmax_is_one_kernel},
    {"layer norm is one kernel", &layer_norm_is_one_kernel},
    {"a product with its epilogue is one kernel", &matmul_with_epilogue_is_one_kernel},
    {"a sum with its producer is one kernel", &sum_with_producer_is_one_kernel},
    {"a sum broadcasts its producers", &a_sum_broadcasts_its_producers},
    {"a value beside a sum is one kernel", &a_value_beside_a_sum_is_one_kernel},
    {"a chain of squares is scheduled", &a_chain_of_squares_is_scheduled},
    {"a column sum with its producer is one kernel", &column_sum_with_producer_is_one_kernel},
    {"a training step is few kernels", &training_step_is_few_kernels},
    {"the arena does not overlap", &arena_does_not_overlap},
    {"updates in place", &updates_in_place},
    {"equal code is shared", &equal_code_is_shared},
    {"symbolic sizes", &symbolic_sizes},
};
inline constexpr int count = sizeof(all) / sizeof(all[0]);

}  // namespace graph_cases
