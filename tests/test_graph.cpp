// The graph compiler: every case of graph_cases.hpp at compile time and again at run time; texts of
// listings and mistakes; gradients by value; plans that are equal at both times.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "evaluate.hpp"
#include "graph_cases.hpp"
#include "tt/plan/fixed.hpp"

namespace {

using namespace graph_cases;

template <std::size_t I>
constexpr int failing_line = all[I].run();
template <std::size_t I>
constexpr bool holds() {
  static_assert(failing_line<I> == 0);
  return true;
}
template <std::size_t... I>
constexpr bool all_hold(std::index_sequence<I...>) {
  return (holds<I>() && ...);
}
static_assert(all_hold(std::make_index_sequence<count>{}));

}  // namespace

TEST_CASE("the cases that hold in static_assert hold at run time") {
  for (const GraphCase& c : all) {
    INFO(c.name);
    CHECK(c.run() == 0);
  }
}

namespace {

/// What describe says, without the place in the source.
std::string message(Mistake m) {
  tt::Failure f = failure_of(m);
  f.where = {};
  return tt::describe(f);
}

}  // namespace

TEST_CASE("a mistake names the op, what is wrong, both facts and what to do") {
  CHECK(
      message(Mistake::shapes_do_not_broadcast) ==
      "tt::add: shapes do not broadcast: (2, 3) and (2, 4). Reshape one side, or insert an axis of "
      "extent 1?");
  CHECK(message(Mistake::inner_extents_differ) ==
        "tt::matmul: inner extents differ: 3 in (2, 3), 2 in (2, 4). Transpose one side?");
  CHECK(message(Mistake::batch_extents_differ) ==
        "tt::matmul: batch extents differ: (2, 3, 4) and (5, 4, 3).");
  CHECK(message(Mistake::rank_too_low) ==
        "tt::matmul: rank is too low: () has rank 0, needed is 1.");
  CHECK(message(Mistake::rank_too_high) ==
        "tt::reshape: rank is too high: (2, 3) would have rank 17, at most is 16.");
  CHECK(message(Mistake::axis_out_of_range) ==
        "tt::sum: axis is out of range: 2 for shape (2, 3) of rank 2.");
  CHECK(message(Mistake::sizes_differ) ==
        "tt::reshape: numbers of elements differ: (2, 3) and (5,).");
  CHECK(message(Mistake::dtype_not_accepted) ==
        "tt::sub: dtype is not accepted: bool. Cast it first?");
  CHECK(message(Mistake::padding_out_of_range) ==
        "tt::pad: padding is out of range: -2 for (2, 3). A negative size cuts off at most what is there?");
  CHECK(message(Mistake::negative_power) == "tt::pow: integers have no negative powers: -1. Cast the base to f32?");
  CHECK(message(Mistake::condition_is_not_bool) ==
        "tt::where: condition is not bool: f32. Compare it with something?");
  CHECK(message(Mistake::slice_out_of_range) ==
        "tt::slice: slice is out of range: 3 in shape (2, 3).");
  CHECK(std::string(tt::describe({.mistake = Mistake::slice_cannot_be_checked, .op = "slice",
                                  .a = {Extent::symbol(0) * Extent::symbol(1)}, .number = 14})) ==
        "tt::slice: slice cannot be checked: s0*s1 must be at least 14, and is a product of run-time "
        "extents. Slice before reshaping?");
  CHECK(message(Mistake::not_a_permutation) ==
        "tt::permute: axes are not a permutation: of shape (2, 3).");
  CHECK(message(Mistake::number_out_of_range) ==
        "tt::constant: number is out of range: 3000000000 beside i32. Cast the operand to i64?");
  CHECK(message(Mistake::too_many_elements) ==
        "tt::broadcast: too many elements: (1073741824, 1073741824, 2, 3) is more than memory can "
        "hold. Broadcast less at once?");
  CHECK(std::string(tt::describe({.mistake = Mistake::too_many_symbols, .op = "fuse", .number = 9})) ==
        "tt::fuse: too many run-time extents: 9, at most are 8. Give some of them constants, or "
        "split the function.");
  CHECK(std::string(tt::describe({.mistake = Mistake::too_many_outputs, .op = "fuse", .number = 129})) ==
        "tt::fuse: too many results: 129, at most are 128. Split the function.");
  CHECK(message(Mistake::gradient_of_non_scalar) ==
        "tt::grad: gradient of something that is not a scalar: shape (2, 3). Take its sum or mean "
        "first.");
}

TEST_CASE("the gradient of a bitcast is refused") {
  Recording r;
  const Sym x = r.input({2});
  (void)tt::gradients(r.g, tt::sum(tt::bitcast<float>(tt::bitcast<std::int32_t>(x)) * x).id,
                      {x.id});
  CHECK(!r.g.failure);  // nothing flows through the integers
  CHECK(std::string(tt::describe({.mistake = Mistake::not_differentiable, .op = "bitcast"})) ==
        "tt::bitcast: has no derivative: detach it, or ask for other gradients.");
}

TEST_CASE("a mistake knows the line it was made on") {
  Recording r;
  const Sym x = r.input({2, 3}), y = r.input({2, 4});
  const int line = __LINE__ + 1;
  (void)(x * y);
  CHECK(r.g.failure.where.line == line);
  CHECK(tt::describe(r.g.failure).contains("test_graph.cpp:"));
}

TEST_CASE("a graph as text") {
  Recording r;
  const Sym x = r.input({64, 10}), b = r.input({10}), i = r.input({4, 6}, DType::i32);
  r.g.output(tt::sum(tt::exp(x * b - 0.5), 1).id);
  r.g.output((b + 1).id, 1);
  r.g.output((tt::slice<0, 5, INT64_MIN, -2>(tt::transpose(i)) << 3).id);
  CHECK(std::string(tt::to_string(tt::canonical(r.g))) ==
        "graph 3\n"
        "%0 = input 0 : f32 (64, 10)\n"
        "%1 = input 1 : f32 (10,)\n"
        "%2 = input 2 : i32 (4, 6)\n"
        "%3 = mul(%0, %1) : f32 (64, 10)\n"
        "%4 = constant 0.5 : f32 ()\n"
        "%5 = sub(%3, %4) : f32 (64, 10)\n"
        "%6 = exp(%5) : f32 (64, 10)\n"
        "%7 = prims.sum(%6) axes 1 : f32 (64, 1)\n"
        "%8 = prims.reshape(%7) : f32 (64,) -> output 0\n"
        "%9 = constant 1 : f32 ()\n"
        "%10 = add(%1, %9) : f32 (10,) -> output 1 in place of input 1\n"
        "%11 = prims.permute(%2) axes 1, 0 : i32 (6, 4)\n"
        "%12 = prims.slice(%11) axis 0 from 5 step -2 : i32 (3, 4)\n"
        "%13 = shift_left(%12) by 3 : i32 (3, 4) -> output 2\n");
}

TEST_CASE("a graph as DOT") {
  Recording r;
  const Sym x = r.input({2});
  r.g.output((x * 2).id);
  CHECK(std::string(tt::to_dot(r.g)) ==
        "digraph tt {\n  rankdir=TB;\n"
        "  node [shape=box, style=rounded, fontname=\"monospace\"];\n"
        "  n0 [label=\"input 0\\nf32 (2,)\", style=filled, fillcolor=\"#dce9f7\"];\n"
        "  n1 [label=\"constant 2\\nf32 ()\", style=filled, fillcolor=\"#dce9f7\"];\n"
        "  n2 [label=\"mul\\nf32 (2,)\"];\n"
        "  n0 -> n2;\n  n1 -> n2;\n"
        "  out0 [label=\"output 0\", style=filled, fillcolor=\"#f7e3dc\"];\n  n2 -> out0;\n}\n");
}

TEST_CASE("a plan as text") {
  Recording r;
  const Sym x = r.input({64, 100});
  r.g.output((x / tt::sum(x, 1, true)).id);
  CHECK(std::string(tt::to_string(tt::make_plan(r.g))) ==
        "kernel 0 rows 64 x 100\n"
        "  1: f32 r0 = load b0[row*100 + col]\n"
        "  1: f32 r1 = sum r0\n"
        "  3: f32 r2 = load b0[row*100 + col]\n"
        "  3: f32 r3 = div r2 r1\n"
        "  3: store r3 b1[row*100 + col]\n"
        "b0 f32 x 6400 argument 0\n"
        "b1 f32 x 6400 argument 1\n"
        "arena 0 bytes\n");
}

TEST_CASE("numbers as text") {
  const auto text = [](double v) {
    return std::string(tt::number_text(DType::f64, tt::encode(DType::f64, v)));
  };
  CHECK(text(0) == "0");
  CHECK(text(-0.0) == "-0");
  CHECK(text(1) == "1");
  CHECK(text(-2.5) == "-2.5");
  CHECK(text(1234567) == "1234567");
  CHECK(text(0.001) == "0.001");
  CHECK(text(1e-9) == "1e-9");
  CHECK(text(6.02214076e23) == "6.02214076e23");
  CHECK(text(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(text(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(text(std::nan("")) == "nan");
  CHECK(std::string(tt::number_text(DType::i32, tt::encode(DType::i32, -7))) == "-7");
}

namespace {

/// Outputs on one f64 input.
std::vector<double> run(const Graph& g, const std::vector<double>& x) {
  fuzz::Values in;
  for (double v : x) in.push_back(tt::encode(DType::f64, v));
  std::vector<double> out;
  for (const fuzz::Values& v : fuzz::evaluate(tt::inline_bodies(g), {}, {in}))
    for (std::uint64_t bits : v) out.push_back(tt::decode<double>(bits));
  return out;
}

}  // namespace

TEST_CASE("a polynomial's first, second and third derivative") {
  Recording r;
  const Sym x = r.input({3}, DType::f64);
  Sym y = tt::sum(x * x * x * x - x * x * 2 + 7);
  for (int order = 0; order < 3; ++order) {
    const Sym d{&r.g, tt::gradients(r.g, y.id, {x.id})[0]};
    r.g.output(d.id);
    y = tt::sum(d);
  }
  const std::vector<double> x0 = {0.5, -1, 3};
  const std::vector<double> d = run(r.g, x0);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(d[i] == 4 * x0[i] * x0[i] * x0[i] - 4 * x0[i]);
    CHECK(d[3 + i] == 12 * x0[i] * x0[i] - 4);
    CHECK(d[6 + i] == 24 * x0[i]);
  }
}

TEST_CASE("gradients are shared evenly among equals, and stop at detach and integers") {
  Recording r;
  const Sym x = r.input({4}, DType::f64);
  const auto gradient = [&](const Sym& y) {
    r.g.output(tt::gradients(r.g, tt::sum(y).id, {x.id})[0]);
  };
  gradient(tt::amax(x));
  gradient(tt::maximum(x, 2));
  gradient(tt::relu(x));
  gradient(tt::abs(x));
  gradient(x * tt::detach(x));
  gradient(tt::floor(x) + tt::cast<double>(tt::cast<std::int32_t>(x)));
  gradient(tt::where(x > 0, x * 3, x));
  gradient(tt::slice<0, 3, INT64_MIN, -2>(x) * 5);
  const std::vector<double> d = run(r.g, {2, -1, 0, 2});
  const std::vector<double> want = {0.5, 0,  0, 0.5, 0.5, 0, 0, 0.5, 1, 0, 0, 1, 1, -1, 0, 1,
                                    2,   -1, 0, 2,   0,   0, 0, 0,   3, 1, 1, 3, 0, 5,  0, 5};
  CHECK(d == want);
}

TEST_CASE("the gradient of a slice lies where the slice was cut, of any start, length, step and rank") {
  for (const Shape& shape : {Shape{13}, Shape{2, 13, 3}, Shape{1, 2, 1, 13, 2, 1}})
    for (const int axis : {shape.rank == 1 ? 0 : shape.rank == 3 ? 1 : 3})
      for (std::int64_t step : {1, 2, 3, 5, 12, -1, -2, -4})
        for (std::int64_t start = 0; start < 13; ++start)
          for (std::int64_t length = 0; length <= 13; ++length) {
            const std::int64_t last = start + (length - 1) * step;
            if (length > 0 && (last < 0 || last > 12)) continue;
            Recording r;
            const Sym x = r.input(shape, DType::f64);
            const Sym cut{&r.g, r.g.slice(x.id, axis, start, length, step)};
            r.g.output(tt::gradients(r.g, tt::sum(cut * cut).id, {x.id})[0]);
            REQUIRE(!r.g.failure);
            std::vector<double> x0, want;
            const std::int64_t inner = shape.count(axis + 1, shape.rank).code;
            for (std::int64_t i = 0; i < shape.size().code; ++i) {
              const std::int64_t at = i / inner % 13 - start;
              x0.push_back(static_cast<double>(i + 1));
              want.push_back(at % step == 0 && at / step >= 0 && at / step < length ? 2 * x0.back() : 0);
            }
            CHECK(run(r.g, x0) == want);
          }
}

TEST_CASE("the work of a slice's gradient is that of its operand, not its square") {
  Recording r;
  const Sym x = r.input({4096}), w = r.input({4095});
  r.g.output(tt::gradients(r.g, tt::sum(tt::slice<0, 1, 4096>(x) * w).id, {x.id})[0]);
  for (const tt::Node& n : tt::inline_bodies(r.g).nodes) CHECK(n.shape.size().code <= 3 * 4096);
}

TEST_CASE("gradients of products, sums over broadcast axes, and views") {
  Recording r;
  const Sym x = r.input({2, 2}, DType::f64);
  const auto gradient = [&](const Sym& y) {
    r.g.output(tt::gradients(r.g, tt::sum(y).id, {x.id})[0]);
  };
  gradient(tt::matmul(x, x));
  gradient(tt::transpose(x) * x);
  gradient(tt::reshape<4>(x) * 2);
  gradient(tt::broadcast_to<3, 2, 2>(x));
  const std::vector<double> want = {7, 11, 9, 13, 2, 6, 4, 8, 2, 2, 2, 2, 3, 3, 3, 3};
  CHECK(run(r.g, {1, 2, 3, 4}) == want);
}

namespace {

struct TrainingStep {
  static constexpr Graph record() { return training_step(); }
};
struct Attention {
  static constexpr Graph record() {
    Recording r;
    const Sym q = r.input({2, 16, 8}), k = r.input({2, 16, 8}), v = r.input({2, 16, 8});
    const Sym p = tt::softmax(tt::matmul(q, tt::transpose(k)) * 0.35, 2);
    r.g.output(tt::matmul(p, v).id);
    return static_cast<Graph&&>(r.g);
  }
};

template <class Model>
void check_equal_plans() {
  CHECK(std::string(tt::to_string(tt::make_plan(Model::record()))) ==
        std::string(tt::to_string(tt::Compiled<Model>::plan)));
}

}  // namespace

TEST_CASE("a plan is the same at compile time and at run time") {
  check_equal_plans<TrainingStep>();
  check_equal_plans<Attention>();
}
