// Grids, unpooled images, bags of words, alignments, heads: against formulas written out, and derivatives by differences. (Values against PyTorch: test_operators.cpp.)
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tensors.hpp"

namespace {

using tt::DType;
using tt::SampleMode;
using tt::SamplePadding;
using tt::Tensor;
using List = const std::vector<Tensor>&;

Tensor made(const tt::IntList& shape, int seed) { return tt::randn(shape, seed, {.dtype = DType::f64}); }
Tensor variable(const Tensor& x) { return x.detach().clone().requires_grad_(); }
bool same(const Tensor& a, const Tensor& b) { return tt::allclose(a, b, 1e-9, 1e-10); }
const SamplePadding paddings[] = {SamplePadding::zeros, SamplePadding::border, SamplePadding::reflection};

/// The element of an image that a coordinate in elements names, by one rule after the other.
double element(const Tensor& image, double y, double x, SamplePadding p, bool corners) {
  const auto whole = [&](double v, int axis, bool& inside) {
    const auto n = static_cast<double>(image.size(axis).value());
    if (p == SamplePadding::reflection) {
      const double low = corners ? 0 : -0.5, high = corners ? n - 1 : n - 0.5;
      for (int k = 0; k < 100 && high > low && (v < low || v > high); ++k) v = v < low ? 2 * low - v : 2 * high - v;
      if (high <= low) v = 0;
    }
    if (p != SamplePadding::zeros) v = v < 0 ? 0 : v > n - 1 ? n - 1 : v;
    inside = inside && v >= 0 && v <= n - 1;
    return static_cast<std::int64_t>(std::nearbyint(v < 0 ? 0 : v > n - 1 ? n - 1 : v));
  };
  bool inside = true;
  const std::int64_t i = whole(y, 0, inside), j = whole(x, 1, inside);
  return inside ? image[i][j].item() : 0;
}

}  // namespace

TEST_CASE("grid_sample: each element by its formula, in all modes and paddings") {
  const Tensor image = made({2, 3, 5, 4}, 1), grid = made({2, 3, 6, 2}, 2) * 0.9;
  for (const bool corners : {false, true})
    for (const SamplePadding p : paddings) {
      CAPTURE(static_cast<int>(p));
      CAPTURE(corners);
      const auto place = [&](double g, double n) { return corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2; };
      const Tensor nearest = tt::grid_sample(image, grid, SampleMode::nearest, p, corners), linear = tt::grid_sample(image, grid, SampleMode::bilinear, p, corners);
      const Tensor cubic = tt::grid_sample(image, grid, SampleMode::bicubic, p, corners);
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 6; ++j) {
          const Tensor channel = image[1][2];
          double x = place(grid[1][i][j][0].item(), 4), y = place(grid[1][i][j][1].item(), 5);
          CHECK(nearest[1][2][i][j].item() == doctest::Approx(element(channel, p == SamplePadding::zeros ? std::nearbyint(y) : y, p == SamplePadding::zeros ? std::nearbyint(x) : x, p, corners)));
          const auto weight = [](double t) {
            const double a = -0.75, d = std::fabs(t);
            return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
          };
          double sum = 0;
          for (double v = std::floor(y) - 1; v <= std::floor(y) + 2; ++v)
            for (double u = std::floor(x) - 1; u <= std::floor(x) + 2; ++u) sum += weight(y - v) * weight(x - u) * element(channel, v, u, p, corners);
          CHECK(cubic[1][2][i][j].item() == doctest::Approx(sum));
          if (p != SamplePadding::zeros) continue;
          double flat = 0;
          for (double v = std::floor(y); v <= std::floor(y) + 1; ++v)
            for (double u = std::floor(x); u <= std::floor(x) + 1; ++u) flat += (1 - std::fabs(y - v)) * (1 - std::fabs(x - u)) * element(channel, v, u, p, corners);
          CHECK(linear[1][2][i][j].item() == doctest::Approx(flat));
        }
      const Tensor inner = made({1, 2, 3, 2}, 3) * 0.3, volume = made({1, 2, 3, 3, 4}, 4);
      CHECK(tt::gradcheck([&](List t) { return tt::grid_sample(t[0], t[1], SampleMode::bilinear, p, corners); }, {variable(made({1, 2, 5, 4}, 5)), variable(inner)}));
      CHECK(tt::gradcheck([&](List t) { return tt::grid_sample(t[0], t[1], SampleMode::bicubic, p, corners); }, {variable(made({1, 2, 5, 4}, 5)), variable(inner)}));
      CHECK(tt::gradcheck([&](List t) { return tt::grid_sample(t[0], t[1], SampleMode::bilinear, p, corners); }, {variable(volume), variable(made({1, 2, 2, 2, 3}, 6) * 0.3)}));
    }
  const Tensor nowhere = tt::grid_sample(image, grid * NAN);
  CHECK(numbers(nowhere) == Numbers(static_cast<std::size_t>(nowhere.numel().value()), 0));
  // The identity, a shift by one element, and other sizes in one capture.
  const Tensor unit = tt::tensor({{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}}, DType::f64);
  for (const bool corners : {false, true}) CHECK(same(tt::grid_sample(image, tt::affine_grid(unit, image.shape(), corners), SampleMode::bilinear, SamplePadding::zeros, corners), image));
  const Tensor shift = tt::tensor({{{1.0, 0.0, 0.5}, {0.0, 1.0, 0.0}}}, DType::f64);
  CHECK(same(tt::grid_sample(image.slice(0, 0, 1), tt::affine_grid(shift, {1, 3, 5, 4})), tt::pad(image.slice(0, 0, 1).slice(3, 1, 4), {0, 1})));
  const auto f = tt::compile([](const Tensor& x, const Tensor& g) { return tt::grid_sample(x, g, SampleMode::bilinear, SamplePadding::border); }, {.fullgraph = true});
  CHECK(same_bits(f(image, grid), tt::grid_sample(image, grid, SampleMode::bilinear, SamplePadding::border)));
  CHECK(message([&] { tt::grid_sample(image, made({1, 3, 6, 2}, 2)); }).find("tt::grid_sample: shapes do not fit") == 0);
  CHECK(message([&] { tt::grid_sample(made({1, 1, 2, 2, 2}, 1), made({1, 1, 1, 1, 3}, 2), SampleMode::bicubic); }).find("bicubic is for images") != std::string::npos);
}

TEST_CASE("max_unpool puts elements back where they were") {
  const Tensor x = made({2, 3, 6, 4}, 1);
  const auto [y, indices] = tt::max_pool_with_indices(x, 2, {2, 2}, {});
  const Tensor z = tt::max_unpool(y, indices, {6, 4});
  CHECK(z.shape() == tt::Shape{2, 3, 6, 4});
  CHECK(same(tt::where(tt::eq(z, 0), x, z), x));
  CHECK(same(z.sum({2, 3}), y.sum({2, 3})));
  CHECK(tt::gradcheck([&](List t) { return tt::max_unpool(t[0], indices, {6, 4}); }, {variable(y)}));
}

TEST_CASE("embedding_bag: sums, means and greatest of bags, as loops give them") {
  const Tensor table = made({6, 3}, 1), words = tt::tensor({0, 2, 2, 5, 1, 3, 3}), offsets = tt::tensor({0, 3, 3, 5});
  const std::vector<std::vector<int>> bags = {{0, 2, 2}, {}, {5, 1}, {3, 3}};
  for (const tt::BagMode mode : {tt::BagMode::sum, tt::BagMode::mean, tt::BagMode::max})
    for (const int padding : {-7, 2}) {
      tt::EmbeddingOptions o;
      if (padding >= 0) o.padding_idx = padding;
      const Tensor got = tt::embedding_bag(words, table, offsets, mode, {}, false, o);
      for (std::size_t b = 0; b < 4; ++b)
        for (std::int64_t k = 0; k < 3; ++k) {
          double sum = 0, most = -INFINITY, n = 0;
          for (const int w : bags[b]) {
            if (w == padding) continue;
            sum += table[w][k].item();
            most = std::max(most, table[w][k].item());
            ++n;
          }
          const double want = n == 0 ? 0 : mode == tt::BagMode::sum ? sum : mode == tt::BagMode::mean ? sum / n : most;
          CHECK(got[static_cast<int>(b)][k].item() == doctest::Approx(want));
        }
      CHECK(tt::gradcheck([&](List t) { return tt::embedding_bag(words, t[0], offsets, mode); }, {variable(table)}));
    }
  const Tensor weights = made({7}, 2), rows = tt::tensor({{0, 1}, {2, 2}});
  CHECK(same(tt::embedding_bag(words, table, tt::tensor({0, 3, 7}), tt::BagMode::sum, weights, true)[1], (tt::embedding(words, table) * weights.unsqueeze(1)).slice(0, 3, 7).sum(0)));
  CHECK(same(tt::embedding_bag(rows, table), tt::embedding(rows, table).mean(1)));
  CHECK(tt::gradcheck([&](List t) { return tt::embedding_bag(words, t[0], offsets, tt::BagMode::sum, t[1]); }, {variable(table), variable(weights)}));
  CHECK(message([&] { tt::embedding_bag(words, table); }).find("Offsets are for indices in a line") != std::string::npos);
  CHECK(message([&] { tt::embedding_bag(words, table, offsets, tt::BagMode::mean, weights); }).find("weights are for mode sum") != std::string::npos);
}

TEST_CASE("embedding_bag: the first of equals has the gradient, offsets are checked, sums of bf16 are rounded once") {
  const Tensor table = variable(tt::tensor({{1.0, 5.0}, {3.0, 2.0}, {3.0, 5.0}})), words = tt::tensor({0, 1, 2, 2});
  tt::embedding_bag(words, table, tt::tensor({0, 3, 4}), tt::BagMode::max).sum().backward();
  CHECK(same(table.grad(), tt::tensor({{0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}})));
  CHECK(message([&] { tt::embedding_bag(words, table, tt::tensor({1, 3})); }).find("the first bag begins at 0") != std::string::npos);
  CHECK(message([&] { tt::embedding_bag(words, table, tt::tensor({0, 5})); }).find("bag 0 is of words 0 to 5 of 4") != std::string::npos);
  CHECK(message([&] { tt::embedding_bag(words, table, tt::tensor({0, 3, 2})); }).find("bag 1 is of words 3 to 2") != std::string::npos);
  CHECK(message([&] { tt::embedding_bag(words, table, tt::tensor({0}), tt::BagMode::max, {}, false, {.scale_grad_by_freq = true}); }).find("for modes sum and mean") != std::string::npos);
  const Tensor many = tt::full({64, 1}, 1.0 + 1.0 / 128, tt::DType::bf16), all = tt::arange(64);
  CHECK(same(tt::embedding_bag(all, many, tt::tensor({0}), tt::BagMode::sum), tt::tensor({{64.5}}).to(tt::DType::bf16)));
  const auto f = tt::compile([](const Tensor& w, const Tensor& t, const Tensor& o) { return tt::embedding_bag(w, t, o, tt::BagMode::max); }, {.fullgraph = true});
  CHECK(same(f(words, table.detach(), tt::tensor({0, 3, 4})), tt::embedding_bag(words, table.detach(), tt::tensor({0, 3, 4}), tt::BagMode::max)));
}

TEST_CASE("ctc_loss: all alignments counted one by one") {
  const std::int64_t time = 4, classes = 3;
  const Tensor logits = made({time, 2, classes}, 1);
  const std::vector<std::vector<std::int64_t>> target = {{1, 1}, {2}};
  const Tensor targets = tt::tensor({{1, 1}, {2, 0}}), inputs = tt::tensor({4, 3}), lengths = tt::tensor({2, 1});
  const auto loss = [&](const Tensor& x, tt::Reduction r) { return tt::ctc_loss(tt::log_softmax(x, 2), targets, inputs, lengths, 0, r); };
  const Tensor p = tt::log_softmax(logits, 2).exp(), got = loss(logits, tt::Reduction::none);
  for (int b = 0; b < 2; ++b) {
    const std::int64_t steps = inputs[b].item<std::int64_t>();
    double all = 0;
    for (int path = 0; path < 81; ++path) {
      double chance = 1;
      std::vector<std::int64_t> said;
      int rest = path;
      std::int64_t before = 0;
      for (std::int64_t t = 0; t < steps; ++t, rest /= 3) {
        const std::int64_t c = rest % 3;
        chance *= p[t][b][c].item();
        if (c != 0 && c != before) said.push_back(c);
        before = c;
      }
      if (rest == 0 && said == target[static_cast<std::size_t>(b)]) all += chance;
    }
    CHECK(got[b].item() == doctest::Approx(-std::log(all)));
  }
  CHECK(loss(logits, tt::Reduction::mean).item() == doctest::Approx((got[0].item() / 2 + got[1].item()) / 2));
  CHECK(loss(logits, tt::Reduction::sum).item() == doctest::Approx(got.sum().item()));
  CHECK(same(tt::ctc_loss(tt::log_softmax(logits, 2), tt::tensor({1, 1, 2}), inputs, lengths, 0, tt::Reduction::none), got));
  CHECK(tt::gradcheck([&](List t) { return loss(t[0], tt::Reduction::none); }, {variable(logits)}));
  const Tensor impossible = tt::ctc_loss(tt::log_softmax(logits, 2), tt::tensor({{1, 1, 1, 1}, {1, 1, 1, 1}}), tt::tensor({4, 4}), tt::tensor({4, 1}), 0, tt::Reduction::none);
  CHECK(impossible[0].item() == INFINITY);
  const Tensor dropped = variable(logits);
  tt::ctc_loss(tt::log_softmax(dropped, 2), tt::tensor({{1, 1, 1, 1}, {1, 1, 1, 1}}), tt::tensor({4, 4}), tt::tensor({4, 1}), 0, tt::Reduction::sum, true).backward();
  CHECK(same(dropped.grad().select(1, 0), tt::zeros({time, classes}, DType::f64)));
  const Tensor kept = variable(logits);
  tt::ctc_loss(kept, tt::tensor({{1, 1, 1, 1}, {1, 1, 1, 1}}), tt::tensor({4, 4}), tt::tensor({4, 1})).backward();
  CHECK(tt::isnan(kept.grad().select(1, 0)).all().item() == 1);
  CHECK(message([&] {
          const Tensor first = tt::grad({loss(kept, tt::Reduction::sum)}, {kept}, {}, true, true)[0];
          first.square().sum().backward();
        }).find("tt::ctc_loss: has no second derivative") != std::string::npos);
  CHECK(message([&] { tt::ctc_loss(logits, tt::tensor({{1, 3}, {2, 0}}), inputs, lengths); }).find("a target is no class: 3 of 3") != std::string::npos);
  CHECK(message([&] { tt::ctc_loss(logits, targets, tt::tensor({5, 3}), lengths); }).find("longer than 4") != std::string::npos);
  const auto f = tt::compile([](const Tensor& x, const Tensor& t, const Tensor& i, const Tensor& n) { return tt::ctc_loss(tt::log_softmax(x, 2), t, i, n, 0, tt::Reduction::sum); }, {.fullgraph = true});
  CHECK(f(logits, targets, inputs, lengths).item() == doctest::Approx(got.sum().item()));
}

TEST_CASE("multi_head_attention_forward is attention of each head") {
  const Tensor x = made({5, 2, 8}, 1), w = made({24, 8}, 2), b = made({24}, 3), o = made({8, 8}, 4);
  const auto [output, weights] = tt::multi_head_attention_forward(x, x, x, {.num_heads = 2, .in_proj_weight = w, .in_proj_bias = b, .out_proj_weight = o});
  const Tensor all = tt::linear(x, w, b);
  const auto head = [&](int part) { return all.slice(2, 8 * part, 8 * part + 8).reshape({5, 2, 2, 4}).permute({1, 2, 0, 3}); };
  const Tensor plain = tt::scaled_dot_product_attention(head(0), head(1), head(2)).permute({2, 0, 1, 3}).reshape({5, 2, 8});
  CHECK(same(output, tt::linear(plain, o)));
  CHECK(weights.shape() == tt::Shape{2, 5, 5});
  CHECK(same(weights.sum(2), tt::ones({2, 5}, DType::f64)));
  const Tensor hidden = tt::tensor({{false, false, false, false, true}, {false, false, false, false, false}});
  CHECK(message([&] { tt::multi_head_attention_forward(x, x, x, {.num_heads = 2, .in_proj_weight = w, .in_proj_bias = b, .bias_k = made({1, 1, 8}, 5), .out_proj_weight = o}); }).find("go together") != std::string::npos);
  const auto masked = tt::multi_head_attention_forward(x, x, x, {.num_heads = 2, .in_proj_weight = w, .in_proj_bias = b, .out_proj_weight = o, .key_padding_mask = hidden, .average_attn_weights = false});
  CHECK(masked.weights.shape() == tt::Shape{2, 2, 5, 5});
  CHECK(masked.weights[0].select(2, 4).abs().max().item() == 0);
  CHECK(same(masked.weights[1].mean(0), weights[1]));
  const Tensor seen = tt::triu(tt::full({5, 5}, -INFINITY, DType::f64), 1);
  const auto both = [&](bool need_weights) {
    return tt::multi_head_attention_forward(x, x, x, {.num_heads = 2, .in_proj_weight = w, .in_proj_bias = b, .out_proj_weight = o, .key_padding_mask = hidden, .attn_mask = seen, .need_weights = need_weights});
  };
  CHECK(same(both(false).output, both(true).output));
  CHECK(!both(false).weights.defined());

  const Tensor words = tt::rand({2048, 1, 64}, 1), first = tt::rand({192, 64}, 2), last = tt::rand({64, 64}, 3);  // 8 heads: 134 MB of scores
  const auto most = [&](bool need_weights) {
    tt::empty_cache();
    const std::int64_t before = tt::cpu_memory_stats().reserved;
    (void)tt::multi_head_attention_forward(words, words, words, {.num_heads = 8, .in_proj_weight = first, .out_proj_weight = last, .need_weights = need_weights});
    return tt::cpu_memory_stats().reserved - before;  // what was freed is kept
  };
  CHECK(most(false) < 40 << 20);
  CHECK(most(true) > 100 << 20);
}

TEST_CASE("places: unravel_index, nonzero_static, histogramdd, and sizes beside Tensors") {
  const Tensor x = tt::tensor({{0, 3, 0}, {5, 0, 7}});
  for (const std::int64_t n : {0, 2, 3, 5}) {
    const Tensor got = tt::nonzero_static(x, n);
    CHECK(got.shape() == tt::Shape{n, 2});
    const Numbers want{0, 1, 1, 0, 1, 2, -1, -1, -1, -1};
    CHECK(numbers(got) == Numbers(want.begin(), want.begin() + 2 * n));
  }
  const auto f = tt::compile([](const Tensor& t) { return tt::nonzero_static(t, 4, 9); }, {.fullgraph = true});
  CHECK(numbers(f(x)) == Numbers{0, 1, 1, 0, 1, 2, 9, 9});
  const std::vector<Tensor> places = tt::unravel_index(tt::tensor({0, 7, 23}), {2, 3, 4});
  CHECK(numbers(places[0]) == Numbers{0, 0, 1});
  CHECK(numbers(places[1]) == Numbers{0, 1, 2});
  CHECK(numbers(places[2]) == Numbers{0, 3, 3});
  CHECK(tt::unravel_index(tt::tensor({3}).to(DType::i32), {2, 2})[0].dtype() == DType::i64);
  const Tensor points = made({50, 2}, 3);
  const auto h = tt::histogramdd(points, {4, 3});
  CHECK(h.hist.sum().item() == 50);
  CHECK(same(h.hist.sum(1), tt::histogram(points.select(1, 0), 4).hist));
  const auto density = tt::histogramdd(points, h.bin_edges, {}, true);
  CHECK((density.hist * (tt::diff(h.bin_edges[0]).unsqueeze(1) * tt::diff(h.bin_edges[1]))).sum().item() == doctest::Approx(1));

  // A size is a number beside Tensors in functions too, and stays what it is in a captured function.
  const auto g = [](const Tensor& t) { return tt::maximum(t, t.size(0)) + tt::clamp(t, 0, t.size(1)) * tt::pow(t, t.size(0)) + tt::lt(t, t.size(0) + t.size(1)); };
  const auto compiled = tt::compile(g);
  for (const int rows : {2, 3, 5}) CHECK(same_bits(compiled(made({rows, 4}, rows)), g(made({rows, 4}, rows))));
  CHECK(compiled.captures() == 1);
}
