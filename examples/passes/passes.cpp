// Two passes over the graph of a function, written on tt::trace: one replaces every relu by gelu, the
// other folds a scale that follows a matrix product into the weights. Prints the graph before and after,
// checks the results, and writes passes_out/*.dot (`dot -Tsvg` draws them).
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <tt/tt.hpp>

namespace {

/// Every relu becomes a gelu.
int relu_to_gelu(tt::Graph& g) {
  int changed = 0;
  for (tt::Vec<int> found = tt::find_all(g, tt::op_def<tt::Relu>); found.size() > 0; found = tt::find_all(g, tt::op_def<tt::Relu>)) {
    const int relu = found[0];  // an edit numbers the nodes anew, so look again after each
    g = tt::replace(g, relu, g.call(tt::op_def<tt::Gelu>, {{g[relu].operand[0], -1, -1, -1}}));
    ++changed;
  }
  return changed;
}

/// Is this matmul(x, w) * s with one number s for each column? Then x, w and s are found.
struct ScaledProduct {
  int x = -1, w = -1, s = -1;
};
bool match(const tt::Graph& g, int node, ScaledProduct& m) {
  for (int k : {0, 1}) {
    const tt::Node& product = g[g[node].operand[k]];
    const int s = g[node].operand[1 - k];
    if (product.op != tt::Op::matmul || product.shape.rank != 2 || g[s].op != tt::Op::input || g[s].shape.rank != 1) continue;
    m = {product.operand[0], product.operand[1], s};
    return true;
  }
  return false;
}

/// matmul(x, w) * s  becomes  matmul(x, w * s): the weights are scaled, not every row of the result.
int fold_scales(tt::Graph& g) {
  for (int node : tt::find_all(g, tt::Op::mul)) {
    ScaledProduct m;
    if (!match(g, node, m)) continue;
    g = tt::replace(g, node, g.matmul(m.x, g.mul(m.w, m.s)));
    return 1 + fold_scales(g);
  }
  return 0;
}

void write(const std::string& path, tt::Text text) {
  std::ofstream out(path, std::ios::binary);
  out << text.c_str();
}

double largest_difference(const tt::Tensor& a, const tt::Tensor& b) { return tt::amax((a - b).abs().flatten(), 0).item(); }

}  // namespace

int main() {
  const auto model = [](tt::Tensor x, tt::Tensor w, tt::Tensor scale, tt::Tensor shift, tt::Tensor v) {
    return tt::matmul(tt::relu(tt::matmul(x, w) * scale + shift), v);
  };
  const tt::Tensor x = tt::randn({32, 64}, 1), w = tt::randn({64, 128}, 2) * 0.1, scale = tt::rand({128}, 3), shift = tt::randn({128}, 4),
                   v = tt::randn({128, 10}, 5) * 0.1;
  auto traced = tt::trace(model, x, w, scale, shift, v);
  std::printf("recorded:\n%s\n", traced.to_string().c_str());
  std::filesystem::create_directories("passes_out");
  write("passes_out/before.dot", traced.to_dot());

  const int folded = fold_scales(traced.graph);
  traced.recompile();
  const double difference = largest_difference(traced(x, w, scale, shift, v), model(x, w, scale, shift, v));
  std::printf("%d scale folded into weights, largest difference %.2g:\n%s\n", folded, difference, traced.to_string().c_str());

  const int replaced = relu_to_gelu(traced.graph);
  traced.recompile();
  write("passes_out/after.dot", traced.to_dot());
  const tt::Tensor expected = tt::matmul(tt::gelu(tt::matmul(x, w) * scale + shift), v);
  const double other = largest_difference(traced(x, w, scale, shift, v), expected);
  std::printf("%d relu replaced by gelu, largest difference %.2g, %d kernels:\n%s", replaced, other, traced.kernels(),
              traced.to_string().c_str());
  return folded == 1 && replaced == 1 && difference < 1e-4 && other < 1e-4 ? 0 : 1;
}
