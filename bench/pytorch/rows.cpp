// What networks do between their products, on one thread, for a comparison with PyTorch 2: bench/pytorch/compare.py runs this program
// and PyTorch by turns.
//   pytorch_rows                  the names of the rows
//   pytorch_rows max_pool_3x3     microseconds of one call: eager, and compiled
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tt/tt.hpp>

namespace {

using tt::Tensor;

/// The median of runs that take some milliseconds each.
double microseconds(const std::function<void()>& call) {
  using clock = std::chrono::steady_clock;
  const auto time = [&](int calls) {
    const auto begin = clock::now();
    for (int k = 0; k < calls; ++k) call();
    return std::chrono::duration<double, std::micro>(clock::now() - begin).count() / calls;
  };
  call();
  const int calls = std::clamp(static_cast<int>(5000 / time(2)), 1, 10000);
  std::vector<double> runs;
  for (int k = 0; k < 7; ++k) runs.push_back(time(calls));
  std::sort(runs.begin(), runs.end());
  return runs[runs.size() / 2];
}

/// A row: measures eager and compiled calls of one function.
using Row = std::function<void()>;
template <class F, class... A>
Row row(F f, A... a) {
  return [=] {
    const auto compiled = tt::compile(f, {.name = "row", .wait = true});
    std::printf("eager %.2f\n", microseconds([&] { (void)f(a...); }));
    std::printf("compiled %.2f\n", microseconds([&] { (void)compiled(a...); }));
  };
}
/// The gradient by the first argument of the sum of f(a...) times d.
template <class F, class... A>
Row with_gradient(F, Tensor d, A... a) {
  return row([](Tensor factors, A... x) { return tt::grad<0>([](A... y, Tensor by) { return (F{}(y...) * by).sum(); })(x..., factors); }, d, a...);
}
Tensor normal(const tt::IntList& shape) {
  static int seed = 0;
  return tt::randn(shape, ++seed);
}

std::map<std::string, Row> rows() {
  const auto softmax = [](Tensor x) { return tt::softmax(x, 1); };
  const auto layer_norm = [](Tensor x, Tensor w, Tensor b) { return tt::layer_norm(x, {1024}, w, b); };
  const auto cross_entropy = [](Tensor x, Tensor labels) { return tt::cross_entropy(x, labels); };
  const auto linear = [](Tensor x, Tensor w) { return tt::matmul(x, w.t()); };
  const auto product = [](Tensor a, Tensor b) { return tt::matmul(a, b); };
  const auto depthwise = [](Tensor x, Tensor w) { return tt::conv2d(x, w, {.padding = 1, .groups = 128}); };
  const auto block = [](Tensor x, Tensor w, Tensor mean, Tensor var, Tensor scale, Tensor shift) {
    const auto channels = [](const Tensor& t) { return t.reshape({64, 1, 1}); };
    return tt::relu((tt::conv2d(x, w, {.padding = 1}) - channels(mean)) * channels(tt::rsqrt(var + 1e-5) * scale) + channels(shift));
  };
  const Tensor images = normal({1, 64, 112, 112}), matrix = normal({4096, 1024}), vector = normal({1024}), weights = normal({4096, 4096}),
               labels = (tt::rand({4096}, 1) * 1024).to(tt::DType::i64), few = normal({1, 128, 28, 28}), one_channel = normal({128, 1, 3, 3}),
               channel = tt::rand({64}, 2) + 0.5;
  std::map<std::string, Row> r;
  r["max_pool_3x3"] = row([](Tensor x) { return tt::max_pool2d(x, {.kernel_size = 3, .stride = 2}); }, images);
  r["max_pool_3x3_padded"] = row([](Tensor x) { return tt::max_pool2d(x, {.kernel_size = 3, .stride = 2, .padding = 1}); }, images);
  r["max_pool_2x2"] = row([](Tensor x) { return tt::max_pool2d(x, {.kernel_size = 2}); }, images);
  for (const int batch : {1, 2, 4, 8, 16}) r["linear_4096_batch_" + std::to_string(batch)] = row(linear, normal({batch, 4096}), weights);
  r["vector_by_matrix_4096"] = row(product, normal({1, 4096}), weights);
  for (const int n : {1024, 2048, 3072}) r["matmul_" + std::to_string(n)] = row(product, normal({n, n}), normal({n, n}));
  r["depthwise_3x3"] = row(depthwise, few, one_channel);
  r["depthwise_3x3_gradient"] = with_gradient(depthwise, normal({1, 128, 28, 28}), few, one_channel);
  r["conv_batch_norm_relu"] = row(block, normal({4, 64, 56, 56}), normal({64, 64, 3, 3}) * 0.05, channel, channel, channel, channel);
  r["add_transposed_2048"] = row([](Tensor a, Tensor b) { return a + b.t(); }, normal({2048, 2048}), normal({2048, 2048}));
  r["column_sums"] = row([](Tensor x) { return x.sum({0}); }, matrix);
  r["row_means"] = row([](Tensor x) { return x.mean({1}); }, matrix);
  r["row_variances"] = row([](Tensor x) { return x.var({1}); }, matrix);
  r["softmax"] = row(softmax, matrix);
  r["softmax_gradient"] = with_gradient(softmax, normal({4096, 1024}), matrix);
  r["layer_norm"] = row(layer_norm, matrix, vector, vector);
  r["layer_norm_gradient"] = with_gradient(layer_norm, normal({4096, 1024}), matrix, vector, vector);
  r["cross_entropy"] = row(cross_entropy, matrix, labels);
  r["cross_entropy_gradient"] = row([](Tensor x, Tensor l) { return tt::grad<0>([](Tensor y, Tensor k) { return tt::cross_entropy(y, k); })(x, l); }, matrix, labels);
  r["gelu"] = row([](Tensor x) { return tt::gelu(x); }, matrix);
  for (const tt::DType d : {tt::DType::bf16, tt::DType::f16}) {  // stored narrow
    const std::string as = std::string(tt::name(d)) + "_";
    r[as + "add"] = row([](Tensor a, Tensor b) { return a + b; }, matrix.to(d), normal({4096, 1024}).to(d));
    r[as + "gelu"] = row([](Tensor x) { return tt::gelu(x); }, matrix.to(d));
    r[as + "softmax"] = row(softmax, matrix.to(d));
    r[as + "layer_norm"] = row(layer_norm, matrix.to(d), vector.to(d), vector.to(d));
    for (const int batch : {1, 8}) r[as + "linear_4096_batch_" + std::to_string(batch)] = row(linear, normal({batch, 4096}).to(d), weights.to(d));
    r[as + "matmul_1024"] = row(product, normal({1024, 1024}).to(d), normal({1024, 1024}).to(d));
  }
  return r;
}

}  // namespace

int main(int count, char** argument) {
  tt::set_num_threads(1);
  if (count < 2) {
    for (const auto& [name, measure] : rows()) std::printf("%s\n", name.c_str());
    return 0;
  }
  const auto all = rows();
  const auto found = all.find(argument[1]);
  if (found == all.end()) {
    std::fprintf(stderr, "pytorch_rows: there is no row '%s'\n", argument[1]);
    return 1;
  }
  found->second();
}
