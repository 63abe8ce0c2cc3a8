// The cut of a joint graph into forward and backward: small graphs whose minimum cut is known, at compile time and
// again at run time; random graphs, whose two halves must give the bits of the whole, whatever was chosen.
#include <doctest/doctest.h>

#include "evaluate.hpp"
#include "graph_cases.hpp"
#include "run_tiles.hpp"
#include "tt/graph/partition.hpp"

namespace {

using namespace graph_cases;
using tt::JointGraph;
using tt::Partition;
using tt::Vec;
using tt::detail::CutPrices;

constexpr tt::SymbolValues no_sizes{};

constexpr bool equal(const Vec<int>& a, std::initializer_list<int> b) {
  if (a.size() != static_cast<int>(b.size())) return false;
  for (int k = 0; k < a.size(); ++k)
    if (a[k] != b.begin()[k]) return false;
  return true;
}
constexpr int count(const Graph& g, Op op) {
  int n = 0;
  for (int i : tt::post_order(g, g.outputs)) n += g[i].op == op;
  return n;
}
/// Those whose bits are set.
constexpr tt::BitSet inputs_in(std::uint64_t bits) {
  tt::BitSet s;
  for (int k = 0; k < 64; ++k)
    if (bits >> k & 1) s.set(k);
  return s;
}
constexpr Partition cut(Recording& r, std::uint64_t wanted, const tt::SymbolValues& sizes = no_sizes) {
  return tt::partition(tt::make_joint(r.g, inputs_in(wanted)), sizes);
}

// ---- flows

constexpr int flow_of_the_textbook() {  // Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, figure 26.6
  Check check;
  tt::detail::FlowNetwork n(6);  // 2..5: v1, v2, v3, v4
  n.connect(0, 2, 16);
  n.connect(0, 3, 13);
  n.connect(2, 4, 12);
  n.connect(3, 2, 4);
  n.connect(4, 3, 9);
  n.connect(3, 5, 14);
  n.connect(5, 4, 7);
  n.connect(4, 1, 20);
  n.connect(5, 1, 4);
  check(n.maximum_flow() == 23);
  const Vec<char> side = n.sink_side();
  check(!side[0] && side[1] && !side[2] && !side[3] && side[4] && !side[5]);
  return check.failed;
}
constexpr int flow_that_must_be_taken_back() {
  Check check;
  tt::detail::FlowNetwork n(6);
  n.connect(0, 2, 1);
  n.connect(0, 3, 1);
  n.connect(2, 4, 1);
  n.connect(2, 5, 1);
  n.connect(3, 4, 1);
  n.connect(4, 1, 1);
  n.connect(5, 1, 1);
  check(n.maximum_flow() == 2);
  tt::detail::FlowNetwork apart(3);
  apart.connect(0, 2, 5);
  check(apart.maximum_flow() == 0);
  check(apart.sink_side()[1] && !apart.sink_side()[2]);
  return check.failed;
}

// ---- what is saved

constexpr int a_chain_saves_only_its_input() {
  Check check;
  Recording r;
  const Sym x = r.input({1000});
  r.g.output(tt::sum(tt::tanh(tt::exp(tt::sin(x)) * x)).id);
  const Partition p = cut(r, 1);
  check(equal(p.inputs, {0}) && p.saved.empty() && equal(p.adjoints, {0}));
  check(p.forward.outputs.size() == 1 && p.backward.inputs.size() == 2 && p.backward.outputs.size() == 1);
  check(p.operations == 5 && p.recomputed == 4);  // the sum is not needed
  check(tt::minimum_cut(tt::make_joint(r.g, inputs_in(1)), no_sizes).bytes == 4000);
  return check.failed;
}
constexpr int a_sum_of_inputs_needs_nothing() {
  Check check;
  Recording r;
  const Sym x = r.input({50}), b = r.input({50});
  r.g.output((x + b).id);
  const Partition p = cut(r, 3);
  check(p.inputs.empty() && p.saved.empty() && p.recomputed == 0);
  return check.failed;
}
constexpr int a_result_is_not_written_again() {
  Check check;
  Recording r;
  r.g.output(tt::exp(r.input({1000})).id);
  const Partition p = cut(r, 1);
  check(p.inputs.empty() && equal(p.saved, {0}) && p.forward.outputs.size() == 1 && p.recomputed == 0);
  return check.failed;
}
constexpr int results_that_may_change_are_not_given() {
  Check check;
  Recording r;
  r.g.output(tt::exp(r.input({1000})).id);
  const Partition p = tt::partition(tt::make_joint(r.g, inputs_in(1), 1), no_sizes);
  check(equal(p.inputs, {0}) && p.saved.empty());
  Recording product;
  const Sym a = product.input({64, 100}), b = product.input({100, 10});
  product.g.output(tt::tanh(tt::matmul(a, b)).id);
  const Partition q = tt::partition(tt::make_joint(product.g, inputs_in(1), 1), no_sizes);
  check(equal(q.inputs, {1}) && equal(q.saved, {1}) && count(q.backward, Op::matmul) == 1);
  return check.failed;
}
constexpr int nothing_is_computed_again_from_a_product() {
  Check check;
  Recording r;
  const Sym x = r.input({64, 256}), w1 = r.input({256, 256}), b1 = r.input({256}), w2 = r.input({256, 256}), b2 = r.input({256}),
            w3 = r.input({256, 10}), labels = r.input({64}, DType::i64);
  const Sym h = tt::relu(tt::matmul(tt::relu(tt::matmul(x, w1) + b1), w2) + b2);
  r.g.output(tt::cross_entropy(tt::matmul(h, w3), labels).id);
  const JointGraph joint = tt::make_joint(r.g, inputs_in(0b0111110));
  const Partition p = tt::partition(joint, no_sizes);
  check(equal(p.inputs, {0, 3, 5, 6}));  // x for dw1; w2 and w3 for what flows on; no bias
  check(count(p.forward, Op::matmul) == 3 && count(p.backward, Op::matmul) == 5);
  check(count(tt::derivative_of(joint), Op::matmul) == 8);  // from the inputs
  std::int64_t activations = 0, masks = 0, rest = 0;
  for (int k : p.saved) {
    const tt::Node& n = p.forward[p.forward.outputs[k]];
    const bool wide = n.shape == Shape{64, 256};
    activations += wide && n.dtype == DType::f32;
    masks += wide && n.dtype == DType::boolean;
    rest += !wide;
  }
  check(activations == 2 && masks == 0 && rest == 3);  // where relu's result is above 0 its argument was, and the products are given that; of the loss: exp(z) and its sum, as logits are a product too, and how many labels count
  return check.failed;
}
constexpr int softmax_saves_two_numbers_a_row() {
  Check check;
  Recording r;
  const Sym x = r.input({64, 1000}), w = r.input({64, 1000});
  r.g.output(tt::sum(tt::softmax(x, 1) * w).id);
  const Partition p = cut(r, 3);
  check(equal(p.inputs, {0, 1}) && p.saved.size() == 2);
  for (int k : p.saved) check(p.forward[p.forward.outputs[k]].shape == Shape{64, 1});
  check(count(p.backward, Op::amax) == 0 && count(p.backward, Op::sum) == 1);  // that one is of adjoints
  return check.failed;
}
constexpr int random_numbers_come_from_their_seed() {
  Check check;
  Recording r;
  const Sym x = r.input({64, 256}), seed = r.input({}, DType::i64);
  r.g.output((tt::exp(x) * tt::where(tt::rand_like(x, seed) < 0.5, 2.0, 0.0)).id);
  const Partition p = cut(r, 1);
  check(equal(p.inputs, {0, 1}) && p.saved.empty());  // x and the seed
  return check.failed;
}
constexpr int an_overwritten_input_is_copied() {
  Check check;
  Recording r;
  const Sym w = r.input({100}), x = r.input({100});
  r.g.output(tt::sum(w * x).id);
  r.g.output((w - x).id, 0);
  const Partition p = cut(r, 2);
  check(p.inputs.empty() && equal(p.saved, {2}) && p.forward.outputs.size() == 3);
  check(p.forward[p.forward.outputs[2]].op == Op::input && p.forward.donated[2] == -1 && p.forward.donated[1] == 0);
  Recording other;  // what it is overwritten with is not kept either: it may change
  const Sym v = other.input({100});
  other.g.output(tt::exp(v).id, 0);
  const Partition q = cut(other, 1);
  check(q.inputs.empty() && equal(q.saved, {1}) && q.forward.donated[1] == -1);
  return check.failed;
}
constexpr int sizes_of_the_call_are_the_estimate() {
  Check check;
  Recording r;
  const Extent n = Extent::symbol(0);
  const Sym x = r.input({n, 8});
  const Sym s = tt::sum(x, 0, true);  // computed again: x read; saved: one row
  r.g.output(tt::sum(tt::exp(s * x)).id);
  const JointGraph joint = tt::make_joint(r.g, inputs_in(1));
  for (std::int64_t size : {4, 4000}) {
    const tt::MinimumCut c = tt::minimum_cut(joint, {.value = {size}});
    const Partition p = tt::split(joint, c.saved);
    check(p.saved.size() == (size == 4 ? 0 : 1));
    check(c.bytes == tt::bytes_moved(joint, c.saved, {.value = {size}}));
  }
  return check.failed;
}
/// What a backward of the backward is given, as GraphFunction::make_second has it.
constexpr Partition cut_again(const Partition& p, std::uint64_t wanted, int may_change = 0) {
  const JointGraph again = tt::make_joint(p.forward, inputs_in(wanted), may_change);
  Vec<char> saved(again.graph.size(), 0);
  for (int k : p.saved) saved[again.graph.outputs[k]] = 1;
  return tt::split(again, saved);
}
constexpr int inputs_for_a_backward_of_the_backward() {
  Check check;
  Recording exp;
  exp.g.output(tt::exp(exp.input({1000})).id);
  check(cut(exp, 1).further.empty());  // made of the result again
  Recording sine;
  const Sym x = sine.input({64, 100}), w = sine.input({100, 10});
  sine.g.output(tt::sin(tt::matmul(x, w)).id);
  const Partition p = cut(sine, 1);  // given cos(x w) and w; the derivative of cos needs x w
  check(equal(p.inputs, {1}) && p.saved.size() == 1 && p.forward[p.forward.outputs[p.saved[0]]].op != Op::matmul);
  check(equal(p.further, {0}) && equal(cut_again(p, 1).inputs, {0, 1}));
  Recording mask;
  const Sym a = mask.input({64, 100}), b = mask.input({100, 10});
  mask.g.output(tt::relu(tt::matmul(a, b)).id);
  check(cut(mask, 1).further.empty());
  return check.failed;
}
constexpr int nothing_flows() {
  Check check;
  Recording r;
  const Sym x = r.input({3}), i = r.input({3}, DType::i32);
  r.g.output((tt::detach(x) + 1).id);
  r.g.output((i + 1).id);
  const JointGraph joint = tt::make_joint(r.g, inputs_in(3));
  check(joint.given.empty() && joint.results == 2 && joint.graph.outputs.size() == 2);
  const Partition p = tt::partition(joint, no_sizes);
  check(p.saved.empty() && p.inputs.empty() && p.backward.outputs.empty() && p.forward.outputs.size() == 2);
  return check.failed;
}

struct PartitionCase {
  const char* name;
  int (*run)();
};
constexpr PartitionCase partition_cases[] = {
    {"a flow of the textbook", flow_of_the_textbook},
    {"a flow that must be taken back", flow_that_must_be_taken_back},
    {"a chain saves only its input", a_chain_saves_only_its_input},
    {"a sum of inputs needs nothing", a_sum_of_inputs_needs_nothing},
    {"a result is not written again", a_result_is_not_written_again},
    {"results that may change are not given", results_that_may_change_are_not_given},
    {"nothing is computed again from a product", nothing_is_computed_again_from_a_product},
    {"softmax saves two numbers a row", softmax_saves_two_numbers_a_row},
    {"random numbers come from their seed", random_numbers_come_from_their_seed},
    {"an overwritten input is copied", an_overwritten_input_is_copied},
    {"sizes of the call are the estimate", sizes_of_the_call_are_the_estimate},
    {"inputs for a backward of the backward", inputs_for_a_backward_of_the_backward},
    {"nothing flows", nothing_flows},
};
static_assert(flow_of_the_textbook() == 0 && flow_that_must_be_taken_back() == 0);
static_assert(a_chain_saves_only_its_input() == 0);
static_assert(a_result_is_not_written_again() == 0);
static_assert(softmax_saves_two_numbers_a_row() == 0);
static_assert(an_overwritten_input_is_copied() == 0);
static_assert(sizes_of_the_call_are_the_estimate() == 0);
static_assert(nothing_flows() == 0);

}  // namespace

TEST_CASE("small graphs are cut where it is known to be best") {
  for (const PartitionCase& c : partition_cases) {
    INFO(c.name);
    CHECK(c.run() == 0);
  }
}

// ---- random graphs

namespace {

using fuzz::Values;

std::uint64_t floating_inputs(const Graph& g) {
  std::uint64_t bits = 0;
  for (int k = 0; k < g.inputs.size() && k < 64; ++k)
    if (tt::is_floating(g[g.inputs[k]].dtype)) bits |= std::uint64_t{1} << k;
  return bits;
}
/// Values that the backward could be given: all but views.
Vec<char> everything(const JointGraph& joint) {
  const tt::detail::JointParts parts(joint);
  const CutPrices price(parts, no_sizes);
  Vec<char> saved(joint.graph.size(), 0);
  for (int i = 0; i < joint.graph.size(); ++i)
    saved[i] = parts.early[i] && price.save[i] < CutPrices::never && (!tt::is_leaf(joint.graph[i].op) || joint.graph[i].op == Op::input);
  return saved;
}
Vec<char> inputs_only(const JointGraph& joint) {
  Vec<char> saved(joint.graph.size(), 0);
  for (int k = 0; k < joint.inputs; ++k) saved[joint.graph.inputs[k]] = 1;
  return saved;
}

bool lists(const Vec<int>& list, int value) {
  for (int x : list)
    if (x == value) return true;
  return false;
}
bool is_updated(const Graph& g) {
  for (int into : g.donated)
    if (into >= 0) return true;
  return false;
}

struct JointRun {
  std::vector<Values> results, gradients;
};
std::vector<Values> by_reference(const Graph& g, const tt::SymbolValues& symbols, const std::vector<Values>& input) {
  return fuzz::evaluate(tt::inline_bodies(g), symbols, input);
}
std::vector<Values> by_kernels(const Graph& g, const tt::SymbolValues& symbols, const std::vector<Values>& input) {
  const fuzz::GuardedResult r = fuzz::run_tiles(tt::compile_plan(g), g, symbols, input);
  CHECK_MESSAGE(!r.trouble, r.trouble);
  return r.output;
}
/// Forward, then backward with what it is given.
template <class Run>
JointRun run_halves(const Run& run, const Partition& p, int results, const tt::SymbolValues& symbols, const std::vector<Values>& input,
                    const std::vector<Values>& adjoint) {
  JointRun r;
  r.results = run(p.forward, symbols, input);
  std::vector<Values> given;
  for (int k : p.inputs) given.push_back(input[static_cast<std::size_t>(k)]);
  for (int k : p.saved) given.push_back(r.results[static_cast<std::size_t>(k)]);
  for (int k : p.adjoints) given.push_back(adjoint[static_cast<std::size_t>(k)]);
  r.gradients = run(p.backward, symbols, given);
  r.results.resize(static_cast<std::size_t>(results));
  return r;
}

}  // namespace

TEST_CASE("random graphs: two halves have the bits of the whole, and no choice is cheaper than the cut") {
  int differentiable = 0, with_saved = 0, with_recomputed = 0, between = 0, further = 0, further_needed = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const fuzz::Program program = fuzz::random_program(seed, {.work = 30000});
    REQUIRE(!program.graph.failure);
    fuzz::Random dice(seed);
    const std::uint64_t all_inputs = floating_inputs(program.graph), some = all_inputs & dice();
    const bool whole = dice.chance(0.5);  // one after the other: arguments have no order
    const bool results_change = dice.chance(0.3);
    const JointGraph joint = tt::make_joint(program.graph, inputs_in(whole ? all_inputs : some), results_change ? program.graph.outputs.size() : 0);
    if (joint.graph.failure || joint.given.empty()) continue;
    ++differentiable;
    std::vector<Values> adjoint;
    for (int o : program.graph.outputs) {
      const tt::Node& n = program.graph[o];
      Values v(static_cast<std::size_t>(n.shape.size().value(program.symbols)));
      for (std::uint64_t& x : v) x = tt::encode(n.dtype, dice.unit() * 2 - 1);
      adjoint.push_back(v);
    }
    std::vector<Values> given = program.input;
    given.insert(given.end(), adjoint.begin(), adjoint.end());
    const Graph derivative = tt::derivative_of(joint);
    const std::vector<Values> results = by_reference(program.graph, program.symbols, program.input);
    const std::vector<Values> gradients = by_reference(derivative, program.symbols, given);

    const tt::MinimumCut best = tt::minimum_cut(joint, program.symbols);
    Vec<char> drawn(joint.graph.size(), 0);
    for (char& s : drawn) s = dice.chance(0.3);
    const Vec<char> trivial = everything(joint), least = inputs_only(joint);
    for (const Vec<char>* choice : {&best.saved, &trivial, &least, static_cast<const Vec<char>*>(&drawn)}) {
      const Partition p = tt::split(joint, *choice);
      CHECK(!p.forward.failure);
      CHECK(!p.backward.failure);
      const bool kernels = choice == &best.saved || choice == &drawn;
      const JointRun run = kernels ? run_halves(by_kernels, p, joint.results, program.symbols, program.input, adjoint)
                                   : run_halves(by_reference, p, joint.results, program.symbols, program.input, adjoint);
      CHECK(!fuzz::compare(program.graph, results, run.results));
      CHECK(!fuzz::compare(derivative, gradients, run.gradients));
      // What a backward of the backward needs is there, though it was not made when that was decided.
      if (is_updated(program.graph)) continue;  // never on the tape
      const Partition again = cut_again(p, whole ? all_inputs : some, joint.may_change);
      for (int k : again.saved) CHECK(lists(p.saved, k));
      bool more = false;
      for (int k : again.inputs) {
        CHECK((lists(p.inputs, k) || lists(p.further, k)));
        more = more || lists(p.further, k);
      }
      further += !p.further.empty();
      further_needed += more;
    }
    // The flow is the cost of the cut, so no choice can cost less.
    CHECK(best.bytes == tt::bytes_moved(joint, best.saved, program.symbols));
    CHECK(best.bytes <= tt::bytes_moved(joint, trivial, program.symbols));
    CHECK(best.bytes <= tt::bytes_moved(joint, least, program.symbols));
    const Partition p = tt::split(joint, best.saved);
    with_saved += !p.saved.empty();
    with_recomputed += p.recomputed > 0;
    between += !p.saved.empty() && p.recomputed > 0;
  }
  CHECK(differentiable > 150);
  CHECK(with_saved > 50);
  CHECK(with_recomputed > 50);
  CHECK(between > 20);
  CHECK(further_needed > 10);
  CHECK(further < 3 * further_needed);  // kept in vain now and then, more often where values were drawn
}
