// Two passes over the graph of a function, written on tt::trace: one replaces every relu by gelu, the
// other folds a scale and a shift that follow a linear layer, as those of a batch norm, into its weights and bias. Prints the
// graph before and after, checks the results, and writes passes_out/*.dot and, where Graphviz is, *.svg.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <tt/tt.hpp>

#include "../common/graph_picture.hpp"

namespace {

/// Every relu becomes a gelu.
int relu_to_gelu(tt::Graph& g) {
  int changed = 0;
  for (tt::Vec<int> found = tt::find_all(g, tt::op_def<tt::Relu>); found.size() > 0; found = tt::find_all(g, tt::op_def<tt::Relu>)) {
    const int relu = found[0];  // an edit numbers the nodes anew, so look again after each
    g = tt::replace(g, relu, g.call(tt::op_def<tt::Gelu>, {g[relu].operand[0]}));
    ++changed;
  }
  return changed;
}

/// Is this (matmul(x, w) + b) * s + t, with one number b, s and t for each column, b perhaps missing? Then they are found.
struct AffineLayer {
  int x = -1, w = -1, b = -1, s = -1, t = -1;
};
bool is_row(const tt::Graph& g, int node) { return g[node].op == tt::Op::input && g[node].shape.rank == 1; }
/// The operands of such an op, of which the second is one number for each column.
bool with_row(const tt::Graph& g, int node, tt::Op op, int& value, int& row) {
  for (int k : {0, 1})
    if (g[node].op == op && is_row(g, g[node].operand[k])) {
      value = g[node].operand[1 - k];
      row = g[node].operand[k];
      return true;
    }
  return false;
}
bool match(const tt::Graph& g, int node, AffineLayer& m) {
  int scaled = -1, product = -1;
  if (!with_row(g, node, tt::Op::add, scaled, m.t) || !with_row(g, scaled, tt::Op::mul, product, m.s)) return false;
  if (!with_row(g, product, tt::Op::add, product, m.b)) m.b = -1;
  if (!tt::is_call(g, product, tt::op_def<tt::Matmul>) || g[product].shape.rank != 2) return false;
  m.x = g[product].operand[0];
  m.w = g[product].operand[1];
  return true;
}

/// (matmul(x, w) + b) * s + t  becomes  matmul(x, w * s) + (b * s + t): weights and bias change, not every row of the result.
int fold_affine(tt::Graph& g) {
  for (int node : tt::find_all(g, tt::Op::add)) {
    AffineLayer m;
    if (!match(g, node, m)) continue;
    const int shift = m.b < 0 ? m.t : g.add(g.mul(m.b, m.s), m.t);
    g = tt::replace(g, node, g.add(tt::record_named<tt::Matmul>(g, {m.x, g.mul(m.w, m.s)})[0], shift));
    return 1 + fold_affine(g);
  }
  return 0;
}

double largest_difference(const tt::Tensor& a, const tt::Tensor& b) { return tt::amax((a - b).abs().flatten(), 0).item(); }

}  // namespace

int main() {
  const auto model = [](tt::Tensor x, tt::Tensor w, tt::Tensor bias, tt::Tensor scale, tt::Tensor shift, tt::Tensor v) {
    return tt::matmul(tt::relu((tt::matmul(x, w) + bias) * scale + shift), v);
  };
  const tt::Tensor x = tt::randn({32, 64}, 1), w = tt::randn({64, 128}, 2) * 0.1, bias = tt::randn({128}, 6), scale = tt::rand({128}, 3),
                   shift = tt::randn({128}, 4), v = tt::randn({128, 10}, 5) * 0.1;
  auto traced = tt::trace(model, x, w, bias, scale, shift, v);
  std::printf("recorded:\n%s\n", traced.to_string().c_str());
  const std::filesystem::path out = "passes_out";
  std::filesystem::create_directories(out);
  bool drawn = examples::draw_graph(out, "before", traced.graph);

  const int folded = fold_affine(traced.graph);
  traced.recompile();
  const double difference = largest_difference(traced(x, w, bias, scale, shift, v), model(x, w, bias, scale, shift, v));
  std::printf("%d scale and shift folded into weights and bias, largest difference %.2g:\n%s\n", folded, difference,
              traced.to_string().c_str());

  const int replaced = relu_to_gelu(traced.graph);
  traced.recompile();
  drawn = examples::draw_graph(out, "after", traced.graph) && drawn;
  const tt::Tensor expected = tt::matmul(tt::gelu((tt::matmul(x, w) + bias) * scale + shift), v);
  const double other = largest_difference(traced(x, w, bias, scale, shift, v), expected);
  std::printf("%d relu replaced by gelu, largest difference %.2g, %d kernels:\n%s", replaced, other, traced.kernels(),
              traced.to_string().c_str());
  std::printf("wrote passes_out/before and after, .dot%s\n", drawn ? " and .svg" : "; SKIPPED .svg: no dot (Graphviz) that runs");
  return folded == 1 && replaced == 1 && difference < 1e-4 && other < 1e-4 ? 0 : 1;
}
