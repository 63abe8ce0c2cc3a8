// Functions of Tensors made of operators, as C++ calls them: views that share memory, indexing with slices and masks, products, reductions, layers; what they say
// when something is wrong; and inside compiled functions with sizes that change. (Their values against PyTorch: test_operators.cpp.)
#include <doctest/doctest.h>

#include <climits>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "tensors.hpp"
#include "tt/dispatch/algorithms.hpp"

using tt::DType;
using tt::Slice;
using tt::Tensor;

namespace {
const Tensor grid() { return tt::arange(24).reshape({2, 3, 4}); }
std::string at(int line) { return std::string("\n  at ") + __FILE__ + ":" + std::to_string(line); }
}  // namespace

TEST_CASE("functions are methods, in place and under second names too") {
  const Tensor x = tt::tensor({{0.3, -0.6}, {0.9, 0.1}}), y = tt::tensor({{0.5, 2.0}, {-1.0, 4.0}});
  CHECK(same_bits(x.acos(), tt::call("acos", {x})));
  CHECK(same_bits(x.arctan2(y), tt::atan2(x, y)));
  CHECK(same_bits(x.mm(y), tt::matmul(x, y)));
  CHECK(same_bits(tt::multiply(x, y), x * y));
  CHECK(same_bits(x.remainder(y), tt::call("remainder", {x, y})));
  CHECK(same_bits(x.addcmul(x, y, 0.5), tt::call("addcmul", {x, x, y}, {{"value", 0.5}})));
  CHECK(same_bits(x.slice(1, 1), x.slice(1, 1, 2)));
  CHECK(same_bits(tt::conv_transpose1d(x.unsqueeze(0), y.unsqueeze(2), {}, {2}), tt::call("conv_transpose1d", {x.unsqueeze(0), y.unsqueeze(2)}, {{"stride", 2}})));
  Tensor z = x.clone();
  CHECK(same_bits(z.sinh_().lerp_(y, 0.25), x.sinh().lerp(y, 0.25)));
  Tensor n = tt::tensor({7, -7});
  CHECK(numbers(n.floor_divide_(2)) == Numbers{3, -4});
  CHECK(numbers(n.ge_(0)) == Numbers{1, 0});
  CHECK_THROWS_WITH_AS(n.acos_(tt::SourceLine{}), "tt::acos_: the result is f32 and cannot be written to i64.", tt::Error);
  const tt::LstmState s = tt::lstm_cell(x, {y, y}, tt::ones({8, 2}), tt::zeros({8, 2}));
  CHECK(same_bits(s.h, tt::sigmoid(x.sum(1, true)) * tt::tanh(s.c)));
}

TEST_CASE("tables are made anew for sizes of another argument") {
  const auto resize = [](const Tensor& x, const Tensor& y) { return tt::interpolate(x, {y.size(2), y.size(3)}, {}, "bilinear"); };
  const auto pool = [](const Tensor& x, const Tensor& y) { return tt::adaptive_avg_pool2d(x, {y.size(2), y.size(3)}); };
  const auto most = [](const Tensor& x, const Tensor& y) { return tt::adaptive_max_pool2d(x, {y.size(2), y.size(3)}); };
  const auto resized = tt::compile(resize);
  const auto pooled = tt::compile(pool);
  const auto greatest = tt::compile(most);
  const Tensor x = tt::rand({1, 2, 9, 9}, 1);
  for (const int n : {5, 7, 3, 7}) {
    const Tensor y = tt::rand({1, 1, n, n + 1}, 2);
    CHECK(same_bits(resized(x, y), resize(x, y)));
    CHECK(same_bits(pooled(x, y), pool(x, y)));
    CHECK(same_bits(greatest(x, y), most(x, y)));
  }
  static std::vector<std::int64_t> often;
  const auto repeat = [](const Tensor& t) { return tt::repeat_interleave(t, tt::from_span(std::span<const std::int64_t>(often), {static_cast<std::int64_t>(often.size())}), 0); };
  const auto repeated = tt::compile(repeat);
  const Tensor rows = tt::rand({20, 2}, 3);
  for (const int n : {1, 2, 3}) {  // elements that the program fills are not known at the next call
    often.assign(20, n);
    CHECK(same_bits(repeated(rows), repeat(rows)));
  }
}

TEST_CASE("parts, cells and draws are PyTorch's") {
  const Tensor x = tt::arange(12).reshape({2, 6});
  CHECK(x.hsplit(2)[0].size(1) == 3);
  CHECK(x.hsplit({2})[0].size(1) == 2);  // a part begins at 2
  CHECK(tt::vsplit(x, 2).size() == 2);
  CHECK(x.tensor_split({1, 3}, 1).size() == 3);
  const Tensor h = tt::tensor({{0.1, -0.2}}), in = tt::tensor({{1.0, 2.0, 3.0}}), w = tt::full({6, 3}, 0.1), u = tt::full({6, 2}, 0.2);
  CHECK(tt::gru_cell(in, h, w, u).select(0, 0)[0].item() == doctest::Approx(0.2537).epsilon(1e-3));  // torch.gru_cell
  CHECK(tt::rnn_tanh_cell(in, h, w.slice(0, 0, 2), u.slice(0, 0, 2)).select(0, 0)[1].item() == doctest::Approx(std::tanh(0.6 - 0.02)));
  tt::manual_seed(3);
  const Tensor draws = tt::gumbel_softmax(tt::zeros({64, 300}, tt::DType::bf16), 0.5);
  CHECK(tt::isfinite(draws).all().item<bool>());
  CHECK(tt::empty({1000}).exponential_(2).mean().item() == doctest::Approx(0.5).epsilon(0.1));
  CHECK(tt::empty({1000}).geometric_(0.25).mean().item() == doctest::Approx(4).epsilon(0.1));
  CHECK(tt::empty({1000}).random_(3, 7).amax().item() == 6);
  CHECK_THROWS_WITH(tt::empty({3}).geometric_(0), doctest::Contains("tt::geometric: p is 0, not between 0 and 1."));
  CHECK_THROWS_WITH(tt::empty({3}).cauchy_(0, -1), doctest::Contains("tt::cauchy: sigma is -1, not above 0."));
  const Tensor left = tt::dropout1d(tt::ones({50, 8}), 0.5);  // without an axis of examples: whole channels
  CHECK(message([] { tt::dropout1d(tt::ones({8})); }).starts_with("tt::dropout1d: of (channels, n) or (B, channels, n): shape is (8,)."));
  CHECK(same_bits(left.amax({1}), left.amin({1})));
  const auto between = tt::compile([](const Tensor& a, const Tensor& b) { return tt::arange(a.size(0), b.size(0), 2).sum() + tt::arange(b.size(0), a.size(0), -1).sum(); }, {.fullgraph = true});
  for (const int n : {9, 10, 14}) CHECK(between(tt::ones({3}), tt::ones({n})).item() == (tt::arange(3, n, 2).sum() + tt::arange(n, 3, -1).sum()).item());
  CHECK(between.captures() <= 2);
  const Tensor logits = tt::rand({3, 4}, 5), none = tt::full({3}, -100, tt::DType::i64);
  const auto loss = [](const Tensor& a, const Tensor& l) { return tt::cross_entropy(a, l); };
  CHECK(std::isnan(loss(logits, none).item()));
  CHECK(std::isnan(tt::compile(loss)(logits, none).item()));
  CHECK(tt::grad<0>(loss)(logits, none).abs().sum().item() == 0);
}

TEST_CASE("changes in place are written where the elements lie, and read what was there") {
  Tensor x = tt::rand({1000}, 1);
  const Tensor before = x.clone(), y = tt::rand({1000}, 2);
  x += y;
  CHECK(same_bits(x, before + y));
  x *= x;
  CHECK(same_bits(x, (before + y) * (before + y)));
  Tensor end = before.clone();  // the end of its memory, from an odd place on
  end.slice(0, 1, 1000).mul_(y.slice(0, 1, 1000));
  CHECK(same_bits(end, tt::cat({before.slice(0, 0, 1), before.slice(0, 1) * y.slice(0, 1)})));
  std::vector<float> memory(1001, 1);  // without room behind it
  Tensor blob = tt::from_blob(memory.data(), {1000}).add_(y);
  CHECK(same_bits(blob, y + 1));
  CHECK(memory[1000] == 1);
  Tensor large = tt::rand({3000000}, 7);
  const Tensor large_before = large.clone();
  const auto blocks = [] { return tt::cpu_memory_stats().hits + tt::cpu_memory_stats().misses; };
  const auto taken = blocks();
  large.add_(large).tanh_();  // by several threads, without a temporary
  CHECK(blocks() == taken);
  CHECK(same_bits(large, tt::tanh(large_before + large_before)));
  Tensor shifted = before.clone();
  shifted.slice(0, 1, 1000).add_(shifted.slice(0, 0, 999));  // what is read overlaps what is written
  CHECK(same_bits(shifted.slice(0, 1, 1000), before.slice(0, 1, 1000) + before.slice(0, 0, 999)));
  Tensor square = tt::rand({30, 30}, 3);
  const Tensor was = square.clone();
  square.t().sub_(square);
  CHECK(same_bits(square, (was.t() - was).t().contiguous()));
  Tensor by_first = before.clone();
  by_first.div_(by_first.select(0, 3));
  CHECK(same_bits(by_first, before / before.select(0, 3)));
  Tensor same = before.clone();
  const Tensor view = same.reshape({10, 100});
  same.exp_().neg_().floor_();
  CHECK(same_bits(same, before.exp().neg().floor()));
  CHECK(same_bits(view.reshape({1000}), same));
  Tensor rows = was.clone();
  rows[1] += 1;  // and what lies behind it stays
  CHECK(same_bits(rows, tt::cat({was.slice(0, 0, 1), was.slice(0, 1, 2) + 1, was.slice(0, 2)})));
  Tensor n = tt::tensor({1, 2});
  CHECK_THROWS_WITH_AS(n.exp_(tt::SourceLine{}), "tt::exp_: the result is f32 and cannot be written to i64.", tt::Error);
  Tensor zero = tt::zeros({4});
  zero.cos_();
  CHECK(same_bits(zero + tt::zeros({4}), tt::ones({4})));
}

TEST_CASE("compiled functions ignore the labels that eager calls ignore") {
  const Tensor x = tt::rand({4, 5}, 3), labels = tt::tensor({1, -100, 4, -100});
  const auto f = [](const Tensor& a, const Tensor& l) { return tt::cross_entropy(a, l); };
  CHECK(same_bits(tt::compile(f)(x, labels), f(x, labels)));
  CHECK(f(x, labels).item() == doctest::Approx(f(x.index_select(0, tt::tensor({0, 2})), tt::tensor({1, 4})).item()));
}

TEST_CASE("captured functions hold the tables that the library makes of sizes") {
  const auto f = [](const Tensor& x) {
    const Tensor wide = tt::interpolate(x, {}, {2.0, 2.0}, "bilinear"), pooled = tt::adaptive_avg_pool2d(wide, {3, 3});
    return pooled.sum() + (tt::linspace(0, 1, x.size(-1)) * x).sum() + tt::max_pool2d_with_indices(x, {3}).indices.sum();
  };
  const auto compiled = tt::compile(f, {.fullgraph = true});
  for (const int n : {7, 20, 7}) {
    const Tensor x = tt::rand({2, 3, n, n}, n);
    CHECK(same_bits(compiled(x), f(x)));
  }
  auto traced = tt::trace(f, tt::rand({1, 2, 7, 7}, 1));
  const Tensor x = tt::rand({1, 2, 7, 7}, 2);
  CHECK(same_bits(traced(x), f(x)));
  CHECK_THROWS_WITH(traced(x, x), doctest::Contains("the graph takes 1 Tensors, not 2"));
  const auto changed = tt::compile([](const Tensor& v) {
    Tensor t = tt::linspace(0, 1, 30), before = t * 1;
    t += v;
    return before.sum() + t.sum();
  });
  CHECK(changed(tt::full({}, 2.0)).item() == doctest::Approx(15 + 15 + 60));
}

TEST_CASE("dtypes that meet: shifts, quotients and neighbours") {
  const Tensor bits = tt::tensor({true, false}), n = tt::tensor({3, 3}), single = tt::tensor(-3).to(tt::DType::i16), bytes = tt::tensor({6, 9}).to(tt::DType::u8);
  CHECK(tt::call("bitwise_left_shift", {bits, n}).dtype() == tt::DType::i64);
  CHECK(numbers(tt::call("bitwise_left_shift", {bits, n})) == Numbers{8, 0});
  CHECK(numbers(bytes / single) == Numbers{-2, -3});  // -3 is no u8, and need not be one
  CHECK((bytes / single).dtype() == tt::DType::f32);
  CHECK(tt::pow(bytes, tt::tensor(2).to(tt::DType::i16)).dtype() == tt::DType::u8);
  CHECK(tt::nextafter(n, tt::tensor({4.0, 2.0})).dtype() == tt::DType::f32);
  CHECK(numbers(tt::nextafter(n, tt::tensor({4.0, 2.0})) - 3) == Numbers{0x1p-22, -0x1p-22});
}

TEST_CASE("views share memory with what they are of") {
  Tensor x = tt::zeros({4, 6});
  for (Tensor& part : x.chunk(2, 1)) {
    CHECK(part.shares_storage(x));
    CHECK(shape(part) == "(4, 3)");
  }
  x.split({1, 3})[1].fill_(2);
  CHECK(x.sum().item() == 36);
  x.diagonal(1).fill_(5);
  CHECK(x.index({2, 3}).item() == 5);
  CHECK(x.unbind(1).size() == 6);
  CHECK(x.movedim({0}, {1}).shares_storage(x));
  CHECK(x.unflatten(1, {2, -1}).shares_storage(x));
  CHECK(x.narrow(1, -2, 2).shares_storage(x));
  CHECK(tt::as_strided(x, {2, 2}, {6, 1}, 7).shares_storage(x));
  CHECK(numbers(tt::as_strided(tt::arange(6), {3, 2}, {1, 2}, 1)) == Numbers{1, 3, 2, 4, 3, 5});
  CHECK(x.mT().shares_storage(x));
  CHECK_FALSE(x.flip({0}).shares_storage(x));
}

TEST_CASE("what is flipped lies as it did") {
  const Tensor x = tt::arange(24).reshape({2, 3, 4}).to(DType::f32).requires_grad_();
  for (const Tensor& t : {x.permute({2, 0, 1}), x.transpose(1, 2), x.slice(2, 0, 4, 2), x})
    for (const tt::IntList& dims : {tt::IntList{0}, tt::IntList{1, 2}, tt::IntList{-1, 0}, tt::IntList{}}) {
      const auto f = [&](const Tensor& y) { return tt::flip(y, dims); };
      const Tensor y = f(t), expected = f(t.contiguous());
      CHECK(same_bits(y, expected));
      CHECK(same_bits(tt::call("flip", {t, dims}), expected));
      CHECK(same_bits(tt::compile(tt::frozen(f))(t), expected));
      CHECK(same_bits(tt::vmap(f, {.in_dims = {0}})(tt::stack({t, t}, 0))[1], expected));
      const Tensor weight = tt::arange(y.numel()).reshape(y.shape()).to(DType::f32);
      CHECK(same_bits(tt::grad({(y * weight).sum()}, {x})[0], tt::grad({(expected * weight).sum()}, {x})[0]));
    }
  CHECK(tt::flip(x.permute({2, 0, 1}), {1}).strides() == tt::IntList{1, 12, 4});
  CHECK(tt::flip(x.slice(2, 0, 4, 2), {1}).is_contiguous());
}

TEST_CASE("items as NumPy's indices") {
  Tensor x = grid();
  CHECK(numbers(x.index({1, Slice(1, tt::none), 2})) == Numbers{18, 22});
  CHECK(numbers(x.index({tt::Ellipsis, 0})) == Numbers{0, 4, 8, 12, 16, 20});
  CHECK(shape(x.index({tt::none, 0, Slice(), Slice(0, 4, 2)})) == "(1, 3, 2)");
  CHECK(shape(x.index({tt::none, 0, Slice(tt::none, -1), Slice(tt::none, tt::none, 2)})) == "(1, 2, 2)");
  CHECK(numbers(x.index({0, tt::tensor({0, 2}), tt::tensor({1, 3})})) == Numbers{1, 11});
  CHECK(numbers(x.index({x > 20})) == Numbers{21, 22, 23});
  CHECK(shape(x.index({Slice(), tt::tensor({{2, 0}})})) == "(2, 1, 2, 4)");
  CHECK(x.index({1, Slice(0, 2)}).shares_storage(x));
  x.index_put_({0, Slice(0, 2)}, 7).index_put_({1, tt::tensor({0, 0}), tt::tensor({1, 2})}, tt::tensor({100, 200}));
  x.index_put_({x > 20}, -1);
  CHECK(x.index({0}).sum().item() == 7 * 8 + 8 + 9 + 10 + 11);
  CHECK(x.index({1, 0, 1}).item() == -1);
  CHECK(message([&] { x.index({0, 0, 0, 0}); }) == "tt::index: 4 axes are named, shape (2, 3, 4) has 3." + at(__LINE__));
  CHECK(message([&] { x.index({tt::tensor({0, 2})}); }) == "tt::index: index 2 is out of range for axis 0 of shape (2, 3, 4)." + at(__LINE__));
}

TEST_CASE("errors name the function, the facts and the line") {
  const Tensor x = grid();
  CHECK(message([&] { x.narrow(1, 2, 2); }) == "tt::narrow: 2 elements from 2 on are beyond axis 1 of shape (2, 3, 4)." + at(__LINE__));
  CHECK(message([&] { x.chunk(0); }) == "tt::chunk: 0 parts. At least one?" + at(__LINE__));
  CHECK(message([&] { x.split({1, 2}); }) == "tt::split: sizes (1, 2) do not make up axis 0 of shape (2, 3, 4)." + at(__LINE__));
  CHECK(message([&] { x.movedim({0, 0}, {1, 2}); }) == "tt::movedim: axis is given twice: 0." + at(__LINE__));
  CHECK(message([&] { x.flip({3}); }).starts_with("tt::flip: axis is out of range: 3 "));
  CHECK(message([&] { tt::mm(x, x); }) == "tt::mm: shapes (2, 3, 4) and (2, 3, 4) have ranks 3 and 3, needed are 2 and 2." + at(__LINE__));
  CHECK(message([&] { tt::einsum("ij,jk->il", {tt::ones({2, 3}), tt::ones({3, 2})}); }) == "tt::einsum: the result has a letter that no Tensor has." + at(__LINE__));
  CHECK(message([&] { tt::einsum("ij,jk", {tt::ones({2, 3}), tt::ones({2, 2})}); }).starts_with("tt::einsum: shapes differ: (2, 3) and (2, 2)."));
  CHECK(message([&] { tt::einsum("ij,jk->iik", {tt::ones({2, 3}), tt::ones({3, 2})}); }).starts_with("tt::einsum: the result has letter 'i' twice."));
  CHECK(message([&] { tt::einsum("ij", {x}); }) == "tt::einsum: 2 letters for Tensor 0 of shape (2, 3, 4)." + at(__LINE__));
  CHECK(message([&] { tt::einsum("ij;jk->ik", {x}); }).starts_with("tt::einsum: ';' is no letter."));
  const Tensor wide = tt::ones({2, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(message([&] { tt::einsum("abcdefghi,jklmnopqr", {wide, wide}); }).find("16") != std::string::npos);
  CHECK(message([&] { tt::tensordot(wide, wide, 0); }).find("more than 16 axes") != std::string::npos);
  CHECK(tt::tensordot(wide, wide, {8}, {8}).dim() == 16);
  CHECK(message([&] { tt::call("_contraction", {x, Tensor(), tt::IntList{1, 2}, tt::IntList{}, tt::IntList{1}}); }).find("number of letters") != std::string::npos);
  CHECK(message([&] { tt::call("_contraction", {x, Tensor(), tt::IntList{1, 2, 3}, tt::IntList{}, tt::IntList{4}}); }).find("letter of the result") != std::string::npos);
  CHECK(message([&] { tt::einsum("i,i->", {tt::ones({2}), tt::ones({2}, {.dtype = DType::f64})}); }).starts_with("tt::einsum: dtypes differ: f32 and f64."));
  CHECK(message([&] { tt::einsum("i..j", {x}); }).starts_with("tt::einsum: dots that are no single ellipsis."));
  CHECK(message([&] { tt::einsum("i1k", {x}); }).starts_with("tt::einsum: '1' is no letter."));
  CHECK(message([&] { tt::einsum("ijk,k", {x}); }).starts_with("tt::einsum: 2 terms for 1 Tensors."));
  CHECK(message([&] { tt::as_strided(x, {5, 5}, {5, 1}); }) == "tt::as_strided: sizes (5, 5) with strides (5, 1) from 0 on reach beyond the storage." + at(__LINE__));
  CHECK(message([&] { tt::kthvalue(x, 5, 2); }) == "tt::kthvalue: k is out of range: 5 of 4 elements along axis 2 of shape (2, 3, 4)." + at(__LINE__));
  CHECK(message([&] { tt::huber_loss(tt::ones({2}), tt::ones({2}), tt::Reduction::mean, -1); }).starts_with("tt::huber_loss: option is out of range: delta is -1, has to be above 0."));
  CHECK(message([&] { tt::call("mse_loss", {tt::ones({2}), tt::ones({2})}, {{"reduction", "most"}}); }).starts_with("tt::call: mse_loss: another word is expected for reduction: takes ("));
}

TEST_CASE("calls by name: several meanings, words, in place, out") {
  Tensor x = tt::tensor({-1.0, 2.0, -3.0}), y = tt::zeros({3});
  CHECK(tt::call("max", {x}).item() == 2);
  CHECK(tt::call_results("max", {x, 0}).size() == 2);
  CHECK(numbers(tt::call("max", {x, y})) == Numbers{0, 2, 0});
  CHECK(tt::call("relu_", {x}).is_same(x));
  CHECK(numbers(x) == Numbers{0, 2, 0});
  CHECK(tt::call("add", {x, 1}, {{"out", y}}).is_same(y));
  CHECK(numbers(y) == Numbers{1, 3, 1});
  CHECK(message([&] { tt::call("add", {x, 1}, {{"out", tt::zeros({2})}}); }).find("the result has another shape than the Tensor it is written to: (3,) and (2,)") != std::string::npos);
  CHECK(message([&] { tt::call("add", {x, 1.5}, {{"out", tt::zeros({3}, DType::i64)}}); }).find("cannot be written to i64") != std::string::npos);
  CHECK(numbers(tt::call("add", {x, 1}, {{"out", tt::none}})) == Numbers{1, 3, 1});
  const std::vector<Tensor> both{tt::zeros({}), tt::zeros({}, DType::i64)};
  CHECK(tt::call_results("max", {x, 0}, {{"out", both}})[1].is_same(both[1]));
  CHECK((both[0].item() == 2 && both[1].item<std::int64_t>() == 1));
  CHECK(message([&] { tt::call_results("max", {x, 0}, {{"out", std::vector<Tensor>{y}}}); }).starts_with("tt::call: max (out): has 2 results, and 1 Tensors to write."));
  CHECK(numbers(tt::call("normal_", {tt::ones({2}), 5, 0})) == Numbers{5, 5});
  CHECK(numbers(tt::call("nn.functional.mse_loss", {x, y}, {{"reduction", "none"}})) == Numbers{1, 1, 1});
  CHECK(numbers(tt::call("view", {x, 3, 1})) == Numbers{0, 2, 0});
  CHECK(tt::call_results("split", {x, tt::IntList{1, 2}}).size() == 2);
  CHECK(numbers(tt::call("add", {x, y}, {{"alpha", 2}})) == Numbers{2, 8, 2});
  CHECK(numbers(tt::call("div", {tt::tensor({7, -7}), 2}, {{"rounding_mode", "floor"}})) == Numbers{3, -4});
  CHECK(numbers(tt::call("div", {tt::tensor({7, -7}), 2}, {{"rounding_mode", "trunc"}})) == Numbers{3, -3});
  tt::register_function("test_halves", "Tensor input, int dim=0", [](const Tensor& t, int dim, tt::SourceLine line) { return tt::chunk(t, 2, dim, line); });
  CHECK(tt::call_results("test_halves", {tt::ones({4})}).size() == 2);
  CHECK(tt::call("zeros", {tt::IntList{2, 2}}, {{"dtype", DType::i64}}).dtype() == DType::i64);
}

TEST_CASE("calls in place and with out write where they are told, and make no temporary") {
  constexpr int n = 512;  // a block of its own
  Tensor x = tt::full({n, n}, -1.5), y = tt::zeros({n, n});
  const auto allocated = [&](auto f) {
    const auto blocks = [] { return tt::cpu_memory_stats().hits + tt::cpu_memory_stats().misses; };
    const std::int64_t before = blocks();
    f();
    return blocks() - before;
  };
  CHECK(allocated([&] { tt::call("relu", {x}); }) == 1);
  tt::call("exp_", {y});
  CHECK(allocated([&] { tt::call("relu_", {x}); }) == 0);
  CHECK(allocated([&] { tt::call("exp", {x}, {{"out", y}}); }) == 0);
  CHECK(allocated([&] { tt::call("add_", {x, y}); }) == 0);
  CHECK(x.sum().item() == n * n);
  CHECK(x.version() == 2);
}

TEST_CASE("a batch norm and an activation run in the kernel of the convolution before them") {
  const auto net = [](const Tensor& x, const Tensor& w, const Tensor& m, const Tensor& v, const Tensor& g, const Tensor& b) {
    return tt::relu(tt::batch_norm(tt::conv2d(x, w, {}, {1, 1}, {1, 1}), m, v, g, b));
  };
  const auto plain = [](const Tensor& x, const Tensor& w) { return tt::conv2d(x, w, {}, {1, 1}, {1, 1}); };
  const Tensor x = tt::rand({2, 8, 10, 10}), w = tt::rand({12, 8, 3, 3}), m = tt::rand({12}), v = tt::rand({12}) + 0.5, g = tt::rand({12}), b = tt::rand({12});
  auto whole = tt::compile(net, {.tier = 0});
  auto alone = tt::compile(plain, {.tier = 0});
  CHECK(same_bits(whole(x, w, m, v, g, b), net(x, w, m, v, g, b)));
  (void)alone(x, w);
  CHECK(whole.kernels() == alone.kernels() + 1);  // 1 / sqrt(var + eps), of a value a channel
}

TEST_CASE("devices are written as PyTorch writes them") {
  std::ostringstream text;
  text << tt::Device{} << ' ' << tt::Device{tt::DeviceType::meta, 0} << ' ' << tt::Device{tt::DeviceType::cuda, 1};
  CHECK(text.str() == "cpu meta cuda:1");
}

TEST_CASE("methods in place write where the Tensor lies: one elementwise op, or some elements") {
  constexpr int n = 512;
  using Change = void (*)(Tensor&, const Tensor&);
  using Value = Tensor (*)(const Tensor&, const Tensor&);
  struct Method {
    const char* name;
    Change change;
    Value value;
  };
  const auto blocks = [] { return tt::cpu_memory_stats().hits + tt::cpu_memory_stats().misses; };
  const auto check = [&](const Method& m, const Tensor& x, const Tensor& y) {
    INFO(std::string(m.name));
    const tt::NoGrad off;
    const Tensor want = m.value(x, y).to(x.dtype());
    Tensor dense = x.clone(), wide = tt::zeros({2 * n, n}, x.dtype());
    Tensor apart = wide.slice(0, 0, 2 * n, 2);
    apart.copy_(x);
    const void* const place = dense.data();
    const std::int64_t before = blocks();
    m.change(dense, y);
    CHECK(blocks() <= before + (m.value(x.slice(0, 0, 1), y.slice(0, 0, 1)).dtype() == DType::boolean ? 3 : 0));  // booleans are made before they are floats
    CHECK(dense.data() == place);
    CHECK(dense.version() == 1);
    CHECK(same_bits(dense, want));
    m.change(apart, y);
    CHECK(same_bits(wide.slice(0, 0, 2 * n, 2), want));
  };
  const auto same = [&](const Method& m, const Tensor& x, const Tensor& y) {  // with the tape, captured, and changed by itself
    INFO(std::string(m.name));
    Tensor leaf = x.slice(0, 0, 3).clone().requires_grad_(), other = leaf.detach().clone().requires_grad_();
    const Tensor beside = y.slice(0, 0, 3).clone();
    Tensor z = leaf * 1;
    m.change(z, beside);
    const Tensor w = m.value(other * 1, beside);
    CHECK(same_bits(z.detach(), w.detach().to(z.dtype())));
    if (w.requires_grad()) {
      z.sum().backward();
      w.sum().backward();
      CHECK(same_bits(leaf.grad(), other.grad()));
    }
    const auto compiled = tt::compile(tt::frozen([&](Tensor& t, const Tensor& u) { m.change(t, u); }), {.tier = 0});
    Tensor taken = x.slice(0, 0, 3).clone();
    compiled(taken, beside);
    CHECK(same_bits(taken, w.detach().to(taken.dtype())));
    Tensor itself = x.slice(0, 0, 3).clone();
    const Tensor expected = m.value(itself, itself).to(itself.dtype());
    m.change(itself, itself);
    CHECK(same_bits(itself, expected));
  };
  const Tensor x = tt::rand({n, n}) * 0.8 + 0.1, y = tt::rand({n, n}) * 0.8 + 0.1;
  const Tensor i = tt::randint(1, 20, {n, n}, DType::i64), k = tt::randint(1, 6, {n, n}, DType::i64);
  const Method methods[] = {
      {"acos_", [](Tensor& a, const Tensor&) { a.acos_(); }, [](const Tensor& a, const Tensor&) { return a.acos(); }},
      {"asin_", [](Tensor& a, const Tensor&) { a.asin_(); }, [](const Tensor& a, const Tensor&) { return a.asin(); }},
      {"atan_", [](Tensor& a, const Tensor&) { a.atan_(); }, [](const Tensor& a, const Tensor&) { return a.atan(); }},
      {"cosh_", [](Tensor& a, const Tensor&) { a.cosh_(); }, [](const Tensor& a, const Tensor&) { return a.cosh(); }},
      {"sinh_", [](Tensor& a, const Tensor&) { a.sinh_(); }, [](const Tensor& a, const Tensor&) { return a.sinh(); }},
      {"deg2rad_", [](Tensor& a, const Tensor&) { a.deg2rad_(); }, [](const Tensor& a, const Tensor&) { return a.deg2rad(); }},
      {"rad2deg_", [](Tensor& a, const Tensor&) { a.rad2deg_(); }, [](const Tensor& a, const Tensor&) { return a.rad2deg(); }},
      {"digamma_", [](Tensor& a, const Tensor&) { a.digamma_(); }, [](const Tensor& a, const Tensor&) { return a.digamma(); }},
      {"lgamma_", [](Tensor& a, const Tensor&) { a.lgamma_(); }, [](const Tensor& a, const Tensor&) { return a.lgamma(); }},
      {"erfc_", [](Tensor& a, const Tensor&) { a.erfc_(); }, [](const Tensor& a, const Tensor&) { return a.erfc(); }},
      {"erfinv_", [](Tensor& a, const Tensor&) { a.erfinv_(); }, [](const Tensor& a, const Tensor&) { return a.erfinv(); }},
      {"frac_", [](Tensor& a, const Tensor&) { a.frac_(); }, [](const Tensor& a, const Tensor&) { return a.frac(); }},
      {"i0_", [](Tensor& a, const Tensor&) { a.i0_(); }, [](const Tensor& a, const Tensor&) { return a.i0(); }},
      {"log10_", [](Tensor& a, const Tensor&) { a.log10_(); }, [](const Tensor& a, const Tensor&) { return a.log10(); }},
      {"sinc_", [](Tensor& a, const Tensor&) { a.sinc_(); }, [](const Tensor& a, const Tensor&) { return a.sinc(); }},
      {"absolute_", [](Tensor& a, const Tensor&) { a.absolute_(); }, [](const Tensor& a, const Tensor&) { return a.absolute(); }},
      {"arccos_", [](Tensor& a, const Tensor&) { a.arccos_(); }, [](const Tensor& a, const Tensor&) { return a.arccos(); }},
      {"arcsin_", [](Tensor& a, const Tensor&) { a.arcsin_(); }, [](const Tensor& a, const Tensor&) { return a.arcsin(); }},
      {"arctan_", [](Tensor& a, const Tensor&) { a.arctan_(); }, [](const Tensor& a, const Tensor&) { return a.arctan(); }},
      {"fix_", [](Tensor& a, const Tensor&) { a.fix_(); }, [](const Tensor& a, const Tensor&) { return a.fix(); }},
      {"negative_", [](Tensor& a, const Tensor&) { a.negative_(); }, [](const Tensor& a, const Tensor&) { return a.negative(); }},
      {"sgn_", [](Tensor& a, const Tensor&) { a.sgn_(); }, [](const Tensor& a, const Tensor&) { return a.sgn(); }},
      {"erf_", [](Tensor& a, const Tensor&) { a.erf_(); }, [](const Tensor& a, const Tensor&) { return a.erf(); }},
      {"exp2_", [](Tensor& a, const Tensor&) { a.exp2_(); }, [](const Tensor& a, const Tensor&) { return a.exp2(); }},
      {"expm1_", [](Tensor& a, const Tensor&) { a.expm1_(); }, [](const Tensor& a, const Tensor&) { return a.expm1(); }},
      {"log1p_", [](Tensor& a, const Tensor&) { a.log1p_(); }, [](const Tensor& a, const Tensor&) { return a.log1p(); }},
      {"log2_", [](Tensor& a, const Tensor&) { a.log2_(); }, [](const Tensor& a, const Tensor&) { return a.log2(); }},
      {"logical_not_", [](Tensor& a, const Tensor&) { a.logical_not_(); }, [](const Tensor& a, const Tensor&) { return a.logical_not(); }},
      {"asinh_", [](Tensor& a, const Tensor&) { a.asinh_(); }, [](const Tensor& a, const Tensor&) { return a.asinh(); }},
      {"atanh_", [](Tensor& a, const Tensor&) { a.atanh_(); }, [](const Tensor& a, const Tensor&) { return a.atanh(); }},
      {"arcsinh_", [](Tensor& a, const Tensor&) { a.arcsinh_(); }, [](const Tensor& a, const Tensor&) { return a.arcsinh(); }},
      {"arctanh_", [](Tensor& a, const Tensor&) { a.arctanh_(); }, [](const Tensor& a, const Tensor&) { return a.arctanh(); }},
      {"pow_", [](Tensor& a, const Tensor& b) { a.pow_(b); }, [](const Tensor& a, const Tensor& b) { return a.pow(b); }},
      {"clamp_min_", [](Tensor& a, const Tensor& b) { a.clamp_min_(b); }, [](const Tensor& a, const Tensor& b) { return a.clamp_min(b); }},
      {"clamp_max_", [](Tensor& a, const Tensor& b) { a.clamp_max_(b); }, [](const Tensor& a, const Tensor& b) { return a.clamp_max(b); }},
      {"atan2_", [](Tensor& a, const Tensor& b) { a.atan2_(b); }, [](const Tensor& a, const Tensor& b) { return a.atan2(b); }},
      {"copysign_", [](Tensor& a, const Tensor& b) { a.copysign_(b); }, [](const Tensor& a, const Tensor& b) { return a.copysign(b); }},
      {"fmax_", [](Tensor& a, const Tensor& b) { a.fmax_(b); }, [](const Tensor& a, const Tensor& b) { return a.fmax(b); }},
      {"fmin_", [](Tensor& a, const Tensor& b) { a.fmin_(b); }, [](const Tensor& a, const Tensor& b) { return a.fmin(b); }},
      {"fmod_", [](Tensor& a, const Tensor& b) { a.fmod_(b); }, [](const Tensor& a, const Tensor& b) { return a.fmod(b); }},
      {"remainder_", [](Tensor& a, const Tensor& b) { a.remainder_(b); }, [](const Tensor& a, const Tensor& b) { return a.remainder(b); }},
      {"floor_divide_", [](Tensor& a, const Tensor& b) { a.floor_divide_(b); }, [](const Tensor& a, const Tensor& b) { return a.floor_divide(b); }},
      {"heaviside_", [](Tensor& a, const Tensor& b) { a.heaviside_(b); }, [](const Tensor& a, const Tensor& b) { return a.heaviside(b); }},
      {"hypot_", [](Tensor& a, const Tensor& b) { a.hypot_(b); }, [](const Tensor& a, const Tensor& b) { return a.hypot(b); }},
      {"ldexp_", [](Tensor& a, const Tensor& b) { a.ldexp_(b); }, [](const Tensor& a, const Tensor& b) { return a.ldexp(b); }},
      {"logaddexp_", [](Tensor& a, const Tensor& b) { a.logaddexp_(b); }, [](const Tensor& a, const Tensor& b) { return a.logaddexp(b); }},
      {"logaddexp2_", [](Tensor& a, const Tensor& b) { a.logaddexp2_(b); }, [](const Tensor& a, const Tensor& b) { return a.logaddexp2(b); }},
      {"xlogy_", [](Tensor& a, const Tensor& b) { a.xlogy_(b); }, [](const Tensor& a, const Tensor& b) { return a.xlogy(b); }},
      {"arctan2_", [](Tensor& a, const Tensor& b) { a.arctan2_(b); }, [](const Tensor& a, const Tensor& b) { return a.arctan2(b); }},
      {"divide_", [](Tensor& a, const Tensor& b) { a.divide_(b); }, [](const Tensor& a, const Tensor& b) { return a.divide(b); }},
      {"greater_", [](Tensor& a, const Tensor& b) { a.greater_(b); }, [](const Tensor& a, const Tensor& b) { return a.greater(b); }},
      {"greater_equal_", [](Tensor& a, const Tensor& b) { a.greater_equal_(b); }, [](const Tensor& a, const Tensor& b) { return a.greater_equal(b); }},
      {"less_", [](Tensor& a, const Tensor& b) { a.less_(b); }, [](const Tensor& a, const Tensor& b) { return a.less(b); }},
      {"less_equal_", [](Tensor& a, const Tensor& b) { a.less_equal_(b); }, [](const Tensor& a, const Tensor& b) { return a.less_equal(b); }},
      {"multiply_", [](Tensor& a, const Tensor& b) { a.multiply_(b); }, [](const Tensor& a, const Tensor& b) { return a.multiply(b); }},
      {"not_equal_", [](Tensor& a, const Tensor& b) { a.not_equal_(b); }, [](const Tensor& a, const Tensor& b) { return a.not_equal(b); }},
      {"subtract_", [](Tensor& a, const Tensor& b) { a.subtract_(b); }, [](const Tensor& a, const Tensor& b) { return a.subtract(b); }},
      {"true_divide_", [](Tensor& a, const Tensor& b) { a.true_divide_(b); }, [](const Tensor& a, const Tensor& b) { return a.true_divide(b); }},
      {"lt_", [](Tensor& a, const Tensor& b) { a.lt_(b); }, [](const Tensor& a, const Tensor& b) { return a.lt(b); }},
      {"le_", [](Tensor& a, const Tensor& b) { a.le_(b); }, [](const Tensor& a, const Tensor& b) { return a.le(b); }},
      {"gt_", [](Tensor& a, const Tensor& b) { a.gt_(b); }, [](const Tensor& a, const Tensor& b) { return a.gt(b); }},
      {"ge_", [](Tensor& a, const Tensor& b) { a.ge_(b); }, [](const Tensor& a, const Tensor& b) { return a.ge(b); }},
      {"eq_", [](Tensor& a, const Tensor& b) { a.eq_(b); }, [](const Tensor& a, const Tensor& b) { return a.eq(b); }},
      {"ne_", [](Tensor& a, const Tensor& b) { a.ne_(b); }, [](const Tensor& a, const Tensor& b) { return a.ne(b); }},
      {"logical_and_", [](Tensor& a, const Tensor& b) { a.logical_and_(b); }, [](const Tensor& a, const Tensor& b) { return a.logical_and(b); }},
      {"logical_or_", [](Tensor& a, const Tensor& b) { a.logical_or_(b); }, [](const Tensor& a, const Tensor& b) { return a.logical_or(b); }},
      {"clip_", [](Tensor& a, const Tensor& b) { a.clip_(b); }, [](const Tensor& a, const Tensor& b) { return a.clip(b); }},
      {"clamp_", [](Tensor& a, const Tensor&) { a.clamp_(0.3, 0.6); }, [](const Tensor& a, const Tensor&) { return a.clamp(0.3, 0.6); }},
      {"pow_", [](Tensor& a, const Tensor&) { a.pow_(3); }, [](const Tensor& a, const Tensor&) { return a.pow(3); }},
      {"lerp_", [](Tensor& a, const Tensor& b) { a.lerp_(b, 0.25); }, [](const Tensor& a, const Tensor& b) { return a.lerp(b, 0.25); }},
      {"addcmul_", [](Tensor& a, const Tensor& b) { a.addcmul_(b, b, 0.5); }, [](const Tensor& a, const Tensor& b) { return a.addcmul(b, b, 0.5); }},
      {"addcdiv_", [](Tensor& a, const Tensor& b) { a.addcdiv_(b, b, 0.5); }, [](const Tensor& a, const Tensor& b) { return a.addcdiv(b, b, 0.5); }},
      {"logit_", [](Tensor& a, const Tensor&) { a.logit_(); }, [](const Tensor& a, const Tensor&) { return a.logit(); }},
      {"multiply_", [](Tensor& a, const Tensor&) { a.multiply_(3); }, [](const Tensor& a, const Tensor&) { return a.multiply(3); }},
      {"clamp_", [](Tensor& a, const Tensor& b) { a.clamp_(b - 0.25, b + 0.25); }, [](const Tensor& a, const Tensor& b) { return a.clamp(b - 0.25, b + 0.25); }},
      {"clamp_", [](Tensor& a, const Tensor& b) { a.clamp_(b * 0.5); }, [](const Tensor& a, const Tensor& b) { return a.clamp(b * 0.5); }},
      {"lerp_", [](Tensor& a, const Tensor& b) { a.lerp_(b, b); }, [](const Tensor& a, const Tensor& b) { return a.lerp(b, b); }},
      {"addcmul_", [](Tensor& a, const Tensor& b) { a.addcmul_(b, a); }, [](const Tensor& a, const Tensor& b) { return a.addcmul(b, a); }},
      {"lt_", [](Tensor& a, const Tensor&) { a.lt_(0.5); }, [](const Tensor& a, const Tensor&) { return a.lt(0.5); }},
      {"arccosh_", [](Tensor& a, const Tensor&) { a.arccosh_(); }, [](const Tensor& a, const Tensor&) { return a.arccosh(); }},
      {"acosh_", [](Tensor& a, const Tensor&) { a.acosh_(); }, [](const Tensor& a, const Tensor&) { return a.acosh(); }},
      {"clip_", [](Tensor& a, const Tensor&) { a.clip_(0.3, 0.6); }, [](const Tensor& a, const Tensor&) { return a.clip(0.3, 0.6); }},
  };
  for (const Method& m : methods) {
    if (std::string(m.name) != "clamp_") check(m, x, y);  // bounds of theirs are made here
    same(m, x, y);
    for (const DType d : {DType::f16, DType::bf16, DType::f64, DType::i32, DType::u8, DType::boolean}) {  // eager and in place end alike
      const std::string which = std::string(m.name) + " of " + tt::name(d);
      INFO(which);
      const Tensor a = (x * 6).slice(0, 0, 2).to(d), b = (y * 6).slice(0, 0, 2).to(d);
      Tensor target = a.clone(), want;
      const auto error = [](const auto& f) {
        try {
          f();
          return std::string();
        } catch (const tt::Exception& e) {
          return std::string(e.what());
        }
      };
      const std::string given = error([&] { want = m.value(a, b).to(a.dtype()); }), changed = error([&] { m.change(target, b); });
      CHECK(changed.find("internal") == std::string::npos);
      if (!given.empty()) CHECK(!changed.empty());
      if (changed.empty()) CHECK(same_bits(target, want));
      else CHECK(same_bits(target, a));
    }
  }
  const Method of_integers[] = {
      {"bitwise_and_", [](Tensor& a, const Tensor& b) { a.bitwise_and_(b); }, [](const Tensor& a, const Tensor& b) { return a.bitwise_and(b); }},
      {"bitwise_or_", [](Tensor& a, const Tensor& b) { a.bitwise_or_(b); }, [](const Tensor& a, const Tensor& b) { return a.bitwise_or(b); }},
      {"bitwise_xor_", [](Tensor& a, const Tensor& b) { a.bitwise_xor_(b); }, [](const Tensor& a, const Tensor& b) { return a.bitwise_xor(b); }},
      {"remainder_", [](Tensor& a, const Tensor& b) { a.remainder_(b); }, [](const Tensor& a, const Tensor& b) { return a.remainder(b); }},
      {"floor_divide_", [](Tensor& a, const Tensor& b) { a.floor_divide_(b); }, [](const Tensor& a, const Tensor& b) { return a.floor_divide(b); }},
  };
  for (const Method& m : of_integers) check(m, i, k);
  // Those that change some elements: nothing as large as the Tensor is made.
  static const Tensor at = tt::tensor({0, 2, 5}), twice = tt::tensor({0, 2, 2}), in_row = at.reshape({1, 3});
  static const auto source = [](const Tensor& b) { return b.slice(1, 0, 3); };
  const Method of_places[] = {
      {"index_add_", [](Tensor& a, const Tensor& b) { a.index_add_(1, twice, source(b)); }, [](const Tensor& a, const Tensor& b) { return a.index_add(1, twice, source(b)); }},
      {"index_add_", [](Tensor& a, const Tensor& b) { a.index_add_(1, twice, source(b), 0.5); }, [](const Tensor& a, const Tensor& b) { return a.index_add(1, twice, source(b), 0.5); }},
      {"index_copy_", [](Tensor& a, const Tensor& b) { a.index_copy_(1, at, source(b)); }, [](const Tensor& a, const Tensor& b) { return a.index_copy(1, at, source(b)); }},
      {"index_fill_", [](Tensor& a, const Tensor&) { a.index_fill_(1, at, 0.5); }, [](const Tensor& a, const Tensor&) { return a.index_fill(1, at, 0.5); }},
      {"scatter_", [](Tensor& a, const Tensor& b) { a.scatter_(1, in_row, source(b)); }, [](const Tensor& a, const Tensor& b) { return a.scatter(1, in_row, source(b)); }},
      {"scatter_", [](Tensor& a, const Tensor&) { a.scatter_(1, in_row, 0.5); }, [](const Tensor& a, const Tensor&) { return a.scatter(1, in_row, 0.5); }},
      {"scatter_add_", [](Tensor& a, const Tensor& b) { a.scatter_add_(1, in_row, source(b)); }, [](const Tensor& a, const Tensor& b) { return a.scatter_add(1, in_row, source(b)); }},
      {"put_", [](Tensor& a, const Tensor& b) { a.put_(at, b.select(0, 0).slice(0, 0, 3)); }, [](const Tensor& a, const Tensor& b) { return a.put(at, b.select(0, 0).slice(0, 0, 3)); }},
      {"put_", [](Tensor& a, const Tensor& b) { a.put_(twice, b.select(0, 0).slice(0, 0, 3), true); }, [](const Tensor& a, const Tensor& b) { return a.put(twice, b.select(0, 0).slice(0, 0, 3), true); }},
      {"index_put_", [](Tensor& a, const Tensor& b) { a.index_put_({tt::tensor({0})}, b.slice(0, 0, 1)); }, [](const Tensor& a, const Tensor& b) { return a.index_put({tt::tensor({0})}, b.slice(0, 0, 1)); }},
  };
  for (const Method& m : of_places) {
    check(m, x, y);
    same(m, x, y);
  }
  Tensor twice_itself = tt::arange(6).to(DType::f32);  // a source that is the target
  twice_itself.index_add_(0, tt::arange(6), twice_itself, 0.5);
  CHECK(same_bits(twice_itself, tt::arange(6).to(DType::f32) * 1.5));
  Tensor kept = tt::zeros({4});
  {
    const tt::InferenceMode inference;
    kept.index_add_(0, tt::tensor({1}), tt::ones({1}));
    kept.scatter_(0, tt::tensor({2}), 3.0);
  }
  kept.requires_grad_();  // no Tensor of inference
  (kept * kept).sum().backward();
  CHECK(same_bits(kept.grad(), tt::tensor({0.0f, 2.0f, 6.0f, 0.0f})));
  Tensor row = tt::arange(6).to(DType::f32);
  row.index_copy_(0, tt::tensor({0, 1, 2}), row.slice(0, 1, 4));  // reads its own elements
  CHECK(same_bits(row, tt::tensor({1.0f, 2.0f, 3.0f, 3.0f, 4.0f, 5.0f})));
  CHECK_THROWS_AS(row.index_fill_(0, tt::tensor({0, 6}), 9), tt::Error);
  CHECK_THROWS_AS(row.index_add_(0, tt::tensor({0, 6}), tt::ones({2})), tt::Error);
  CHECK(same_bits(row, tt::tensor({1.0f, 2.0f, 3.0f, 3.0f, 4.0f, 5.0f})));  // nothing is written before an error
  row.index_put_({tt::tensor({0, 5})}, 7);
  CHECK(same_bits(row, tt::tensor({7.0f, 2.0f, 3.0f, 3.0f, 4.0f, 7.0f})));

  Tensor whole = tt::ones({3}, DType::i64);
  CHECK(message([&] { whole.erf_(); }).starts_with("tt::erf_: the result is f32 and cannot be written to i64."));
  CHECK(whole.add(0).sum().item() == 3);
  CHECK_THROWS_AS(whole.pow_(tt::ones({2, 3}, DType::i64)), tt::Error);
  CHECK(same_bits(tt::erf(tt::ones({2})), tt::ones({2}).erf_()));  // no op after an error is taken for the method's
}

TEST_CASE("calls in place and with out are on the tape as those without") {
  const Tensor leaf = tt::zeros({2}).requires_grad_(), product = leaf * 2;
  tt::call("exp_", {product});
  product.sum().backward();
  CHECK(numbers(leaf.grad()) == Numbers{2, 2});
  const auto gradient = [](const char* name, std::initializer_list<tt::BoxedValue> arguments, const Tensor& of) {
    const Tensor out = tt::zeros({2});
    tt::call(name, arguments, {{"out", out}}).sum().backward();
    return numbers(of.grad());
  };
  static const Tensor weight = tt::tensor({2.0, 3.0}).requires_grad_();
  const Tensor x = tt::tensor({5.0, 7.0}), joined = tt::tensor({1.0}).requires_grad_();
  CHECK(gradient("cat", {std::vector<Tensor>{joined * 3, tt::ones({1})}}, joined) == Numbers{3});
  tt::register_function("test_weighted", "Tensor input", [](const Tensor& t, tt::SourceLine) { return t * weight; });
  CHECK(gradient("test_weighted", {x}, weight) == Numbers{5, 7});
  tt::register_function("test_slope", "Tensor input", [](const Tensor& t, tt::SourceLine) {
    const Tensor own = t.detach().requires_grad_();
    (own * own).sum().backward();
    return own.grad();
  });
  CHECK(numbers(tt::call("test_slope", {x}, {{"out", tt::zeros({2})}})) == Numbers{10, 14});
  const Tensor base = tt::tensor({3.0}).requires_grad_(), squared = base * 1;
  tt::call("mul_", {squared, squared});
  squared.sum().backward();
  CHECK(numbers(base.grad()) == Numbers{6});
  tt::call("contiguous", {x}, {{"out", x}});
  CHECK(x.version() == 0);
}

TEST_CASE("out that shares memory with an operand") {
  constexpr int n = 1 << 20;
  tt::set_num_threads(2);
  std::vector<float> memory(n);
  for (int k = 0; k < n; ++k) memory[static_cast<std::size_t>(k)] = k % 3 == 0 ? -1.f : 1.f;
  const Tensor x = tt::from_blob(memory.data(), {n}), negative = tt::from_blob(reinterpret_cast<bool*>(memory.data()), {n});
  const Tensor expected = x.clone() < 0;
  CHECK(same_bits(tt::call("lt", {x, 0.0}, {{"out", negative}}), expected));
  const Tensor whole = tt::rand({n}, 1), sum = whole + 1;
  CHECK(same_bits(tt::call("add", {whole, 1}, {{"out", whole}}), sum));
  tt::set_num_threads(1);
}

TEST_CASE("einsum is what its letters say") {
  using tt::detail::Equation, tt::detail::EquationFault;
  static_assert(Equation("abcdefgh,ijklmnop").result.count == 16);
  static_assert(Equation("abcdefghijklm,nopqrstuvwxyz,ABCDEFGHIJKLM,NOPQRSTUVWXYZ").fault == EquationFault::too_many);
  static_assert(Equation("...abcdefghijklm,nopqrstuvwxyz", {16, 13}).fault == EquationFault::too_many);
  const Tensor a = tt::rand({2, 3, 4}, 1), b = tt::rand({2, 4, 5}, 2), v = tt::rand({4}, 3);
  CHECK(tt::allclose(tt::einsum("bij,bjk->bik", {a, b}), tt::matmul(a, b)));
  CHECK(tt::allclose(tt::einsum("...j,j", {a, v}), tt::matmul(a, v)));
  CHECK(tt::allclose(tt::einsum("bij->bji", {a}), a.mT()));
  CHECK(tt::allclose(tt::einsum("bij->j", {a}), a.sum({0, 1})));
  CHECK(tt::allclose(tt::einsum("ii", {tt::eye(3)}), tt::tensor(3.0)));
  CHECK(tt::allclose(tt::einsum("i,j,k->kji", {v, v, v}), v.reshape({4, 1, 1}) * v.reshape({1, 4, 1}) * v));
  CHECK(tt::einsum("bij->jbi", {a}).shares_storage(a));  // a view, as PyTorch's
  Tensor diagonal = tt::zeros({2, 3, 3});
  tt::einsum("bii->ib", {diagonal}).fill_(1);
  CHECK(tt::equal(diagonal, tt::eye(3).expand({2, 3, 3})));
  CHECK(tt::allclose(tt::einsum("...j->", {a}), a.sum()));
  CHECK(tt::allclose(tt::einsum("...ij,...jk->ik", {a, b}), tt::matmul(a, b).sum(0)));  // an ellipsis that the result lacks
  CHECK(tt::allclose(tt::einsum("bij,bjk->bik", {a.slice(0, 0, 1), b}), tt::matmul(a.slice(0, 0, 1), b)));
  CHECK(tt::allclose(tt::einsum("bij,bjk->ik", {a.slice(0, 0, 1), b}), tt::matmul(a.index({0}), b.sum(0))));
  const Tensor half = tt::tensor({300.0f, 300.0f}).to(DType::f16), opposite = tt::tensor({300.0f, -300.0f}).to(DType::f16);
  CHECK(tt::einsum("i,i->", {half, opposite}).item<float>() == 0);  // products are summed before they are rounded
  const Tensor whole = tt::arange(6).to(DType::i32).reshape({2, 3});
  CHECK(tt::einsum("ij,i->i", {whole, tt::ones({2}, {.dtype = DType::i32})}).dtype() == DType::i64);  // a sum, of the first alone
  CHECK(tt::einsum("ij,kj->ik", {whole, whole}).dtype() == DType::i32);
  CHECK(numbers(tt::einsum("i,j->i", {tt::tensor({100, 100}).to(DType::i8), tt::tensor({1, 1}).to(DType::i8)}).to(DType::f64)) == Numbers{200, 200});
  CHECK(tt::einsum("ijm,jk->ik", {whole.reshape({1, 2, 3}), whole}).sum().item<std::int64_t>() == 3 * 3 + 12 * 12);
  CHECK(tt::allclose(tt::einsum("...ij,...jk->...ik", {a, b}), tt::matmul(a, b)));
  CHECK(tt::allclose(tt::einsum("...ij,jk->k...", {a, b.index({0})}), tt::matmul(a, b.index({0})).sum(1).t()));
  CHECK(tt::allclose(tt::einsum("b...,b...->...", {a, a}), (a * a).sum(0)));
  CHECK(tt::allclose(tt::einsum("bij,i->j", {a.slice(0, 0, 1), tt::ones({1})}), a.index({0}).sum(0)));  // a size of 1 is repeated
  CHECK(tt::allclose(tt::einsum("ij,ij->ij", {a.index({0}), a.index({0}).slice(1, 0, 1)}), a.index({0}) * a.index({0}).slice(1, 0, 1)));
  CHECK(tt::einsum("ij,jk->ik", {tt::ones({2, 0}), tt::ones({0, 3})}).sum().item<double>() == 0);
  CHECK(tt::einsum(",i->i", {tt::tensor(2.0f), v}).size(0) == 4);
  CHECK(tt::einsum("i,ij,j->", {tt::ones({3}), a.index({0}), v}).dim() == 0);
  const auto f = [](const Tensor& x, const Tensor& y) { return tt::einsum("bij,bjk->ki", {x, y}); };
  const auto compiled = tt::compile(f, {.fullgraph = true});
  CHECK(tt::equal(compiled(a, b), f(a, b)));
  const Tensor shorter = a.slice(2, 0, 3).contiguous(), lower = b.slice(1, 0, 3).contiguous();
  CHECK(tt::equal(compiled(shorter, lower), f(shorter, lower)));
  CHECK(compiled.captures() == 1);
  const auto diagonals = [](const Tensor& x) { return tt::einsum("bii->i", {x}); };
  const Tensor square = tt::rand({2, 3, 3}, 5);
  CHECK(tt::allclose(tt::compile(diagonals)(square), tt::diagonal(square, 0, 1, 2).sum(0)));
  Tensor w = a.clone().requires_grad_();
  tt::einsum("bij,bjk->", {w, b}).backward();
  CHECK(tt::allclose(w.grad(), b.sum(2).unsqueeze(1).expand({2, 3, 4})));
  CHECK(tt::allclose(tt::linalg::multi_dot(std::vector<Tensor>{a.index({0}), b.index({0}), tt::ones({5, 2})}), tt::matmul(tt::matmul(a.index({0}), b.index({0})), tt::ones({5, 2}))));
}

TEST_CASE("second derivatives flow through kernels") {
  const Tensor x = tt::tensor({{0.5, -1.25, 2.0}, {0.0, 1.5, 0.75}}, DType::f64).requires_grad_();
  const auto twice = [&](auto f) { return tt::gradcheck(f, {x.detach().clone().requires_grad_()}) && tt::gradgradcheck(f, {x.detach().clone().requires_grad_()}); };
  CHECK(twice([](const std::vector<Tensor>& t) { return tt::cumprod(t[0], 1); }));
  CHECK(twice([](const std::vector<Tensor>& t) { return tt::prod(t[0], 1); }));
  CHECK(twice([](const std::vector<Tensor>& t) { return tt::prod(t[0]); }));
  CHECK(twice([](const std::vector<Tensor>& t) { return tt::logcumsumexp(t[0], 0); }));
  const Tensor far = tt::tensor({0.0, 1000.0, 900.0}, DType::f64).requires_grad_();  // exp of what lies behind the last element is none of the sum's
  const Tensor once = tt::grad({tt::logcumsumexp(far, 0).sum()}, {far}, {}, true, true)[0];
  CHECK(tt::allclose(tt::grad({(once * tt::tensor({1.0, 2.0, 3.0}, DType::f64)).sum()}, {far})[0], tt::zeros({3}, DType::f64)));
  CHECK(twice([](const std::vector<Tensor>& t) { return tt::group_norm(t[0].reshape({1, 2, 3}), 2); }));
  CHECK(twice([](const std::vector<Tensor>& t) { return tt::scaled_dot_product_attention(t[0], t[0] * 0.5, t[0] + 1); }));
}

TEST_CASE("compiled functions hold for other sizes") {
  auto f = tt::compile([](const Tensor& x) {
    const Tensor y = tt::flip(tt::roll(x, {1}, {0}), {1});
    return tt::pad(y, {1, 1}, tt::PadMode::reflect) + tt::cumprod(x, 0).sum() + tt::einsum("ij,ij->i", {x, x}).unsqueeze(1);
  });
  auto g = tt::compile([](const Tensor& x) { return tt::linear(tt::layer_norm(x, {4}), tt::ones({3, 4}), tt::ones({3})).chunk(3, 1)[1] + tt::cross_entropy(x, tt::argmax(x, 1)); });
  for (const int rows : {3, 5, 3, 1, 7}) {
    const Tensor x = tt::rand({rows, 4}, rows);
    const Tensor y = tt::flip(tt::roll(x, {1}, {0}), {1});
    CHECK(same_bits(f(x), tt::pad(y, {1, 1}, tt::PadMode::reflect) + tt::cumprod(x, 0).sum() + tt::einsum("ij,ij->i", {x, x}).unsqueeze(1)));
    CHECK(same_bits(g(x), tt::linear(tt::layer_norm(x, {4}), tt::ones({3, 4}), tt::ones({3})).chunk(3, 1)[1] + tt::cross_entropy(x, tt::argmax(x, 1))));
  }
}

TEST_CASE("elementwise ops are the same on Arrays and Tensors") {
  tt::Array<float, 5> a{0.25f, -0.5f, 0.75f, 2.0f, -3.0f};
  const Tensor t = tt::as_tensor(a);
  const auto same = [&](const tt::Array<float, 5>& x, const Tensor& y) {
    tt::Array<float, 5> own = x;
    return same_bits(tt::as_tensor(own), y);
  };
  CHECK(same(tt::eval(tt::atan(a)), tt::atan(t)));
  CHECK(same(tt::eval(tt::erfc(a) + tt::sinh(a)), tt::erfc(t) + tt::sinh(t)));
  CHECK(same(tt::eval(tt::softshrink(a, 0.5) * tt::logaddexp(a, 1.0f)), tt::softshrink(t, 0.5) * tt::logaddexp(t, 1.0f)));
  CHECK(same(tt::eval(tt::remainder(a, 0.3f)), tt::remainder(t, 0.3f)));
  CHECK(same(tt::eval(tt::nan_to_num(tt::log(a))), tt::nan_to_num(tt::log(t))));
}

TEST_CASE("random draws: in place, permutations, choices") {
  tt::manual_seed(3);
  for (const int n : {0, 1, 2, 24, 25, 26, 50, 70000}) CHECK(numbers(tt::call_results("sort", {tt::randperm(n)})[0]) == numbers(tt::arange(0, n)));
  const Tensor m = tt::multinomial(tt::tensor({0.0, 1.0, 3.0}), 4000, true);
  const double twos = tt::eq(m, 2).sum().item();
  CHECK(tt::eq(m, 0).sum().item() == 0);
  CHECK(twos > 2850);
  CHECK(twos < 3150);
  CHECK(numbers(tt::call_results("sort", {tt::multinomial(tt::ones({5}), 5)})[0]) == numbers(tt::arange(5)));
  const double mean = tt::poisson(tt::full({4000}, 3.0)).mean().item();
  CHECK(mean > 2.85);
  CHECK(mean < 3.15);
  Tensor x = tt::empty({3000});
  CHECK(x.uniform_(2, 3).amin().item() >= 2);
  const double middle = x.normal_(5, 2).mean().item();
  CHECK(middle > 4.8);
  CHECK(middle < 5.2);
  const Tensor kept = tt::dropout(tt::ones({4000}), 0.25);
  CHECK(kept.mean().item() > 0.95);
  CHECK(kept.mean().item() < 1.05);
  CHECK(tt::dropout(x, 0.5, false).is_same(x));
}

TEST_CASE("infinities and large numbers are moved, not computed with") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(numbers(tt::slice_scatter(tt::tensor({inf, 1e10, 2.0}), tt::tensor({7.0, 8.0}), 0, 0, 2)) == Numbers{7, 8, 2});
  CHECK(tt::slice_scatter(tt::tensor({true, false}), tt::tensor({false}), 0, 0, 1).dtype() == DType::boolean);
  CHECK(tt::median(tt::tensor({inf, inf, 1.0})).item() == inf);
  Tensor x = tt::tensor({inf, -inf, 3.0}).requires_grad_();
  tt::scatter_reduce(tt::zeros({3}), 0, tt::tensor({0, 1, 1}, DType::i64), x, tt::ScatterReduction::amax, false).sum().backward();
  CHECK(numbers(x.grad()) == Numbers{1, 0, 1});
  const Tensor rows = tt::call_results("unique", {tt::tensor({inf - inf, 1.0, 0.0}).reshape({3, 1}), true, false, false, 0})[0];
  CHECK(rows.numel() == 3);
  // integers that f64 does not hold
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  const auto last = [](const Tensor& t) { return t.reshape({-1}).index({-1}).item<std::int64_t>(); };
  CHECK(last(tt::full({2}, odd, DType::i64)) == odd);
  CHECK(last(tt::full_like(tt::arange(2), odd)) == odd);
  CHECK(last(tt::arange(odd, odd + 2)) == odd + 1);
  CHECK(last(tt::empty({1}, DType::i64).fill_(odd)) == odd);
  CHECK(last(tt::scatter(tt::arange(1), 0, tt::zeros({1}, DType::i64), odd)) == odd);
  CHECK(last(tt::call("full", {{2}, odd})) == odd);
  CHECK(last(tt::call("arange", {odd, odd + 2})) == odd + 1);
  CHECK(last(tt::arange(INT64_MAX - 1, INT64_MAX)) == INT64_MAX - 1);
}

TEST_CASE("numbers beyond every range are refused") {
  const Tensor x = tt::arange(6).reshape({2, 3});
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const auto refuses = [](auto f, const char* what) {
    const std::string said = message(f);
    INFO(said);
    CHECK(said.find(what) != std::string::npos);
  };
  refuses([&] { tt::as_strided(x, {2}, {huge}); }, "reach beyond the storage");
  refuses([&] { tt::as_strided(x, {2}, {huge + (1 << 20)}); }, "reach beyond the storage");
  refuses([&] { tt::as_strided(x, {1}, {1}, INT64_MAX); }, "reach beyond the storage");
  refuses([&] { (void)x.narrow(0, 1, INT64_MAX); }, "beyond axis 0");
  refuses([&] { (void)tt::split(x, {INT64_MAX, INT64_MAX, 4}, 0); }, "do not make up axis 0");
  refuses([&] { (void)x.unflatten(1, {-1, -1}); }, "more than one size");
  refuses([&] { (void)tt::roll(x, {1}, {std::int64_t{1} << 32}); }, "axis is out of range");
  refuses([&] { (void)tt::quantile(tt::ones({3}), 1.5); }, "outside of 0 and 1");
  refuses([&] { (void)tt::quantile(tt::ones({3}), 0.5, {}, false, "nearly"); }, "'nearly'");
  refuses([&] { (void)tt::bincount(tt::tensor({INT64_MAX}, DType::i64)); }, "memory cannot hold");
  refuses([&] { (void)tt::histc(tt::tensor({0.0, std::numeric_limits<double>::quiet_NaN()})); }, "no bins");
  refuses([&] { (void)tt::call("empty_permuted", {{2, 3}, {-1, -1}}); }, "not a permutation");
  refuses([&] { (void)tt::call("zeros", {{2}}, {{"device", "cpu:"}}); }, "no device");
  CHECK(x.diagonal(INT_MIN).numel() == 0);
  CHECK(x.diagonal(INT_MAX).numel() == 0);
}

TEST_CASE("lists of Tensors are in braces, vectors, arrays and spans") {
  const Tensor a = tt::tensor({1.f, 2.f}), b = tt::tensor({3.f, 4.f});
  const std::vector<Tensor> list{a, b};
  const Tensor array[] = {a, b};
  CHECK(tt::equal(tt::cat({a, b}), tt::cat(list)));
  CHECK(tt::equal(tt::cat(array), tt::cat(std::span<const Tensor>(list))));
  CHECK(tt::equal(tt::stack({a, b}, 1), tt::stack(list, 1)));
  CHECK(tt::equal(tt::hstack({a, b}), tt::hstack(list)));
  CHECK(tt::equal(tt::vstack({a, b}), tt::vstack(list)));
  CHECK(tt::equal(tt::dstack({a, b}), tt::dstack(list)));
  CHECK(tt::equal(tt::column_stack({a, b}), tt::column_stack(list)));
  CHECK(tt::equal(tt::block_diag({a, b}), tt::block_diag(list)));
  CHECK(tt::equal(tt::cartesian_prod({a, b}), tt::cartesian_prod(list)));
  CHECK(tt::equal(tt::meshgrid({a, b})[1], tt::meshgrid(list)[1]));
  CHECK(tt::equal(tt::broadcast_tensors({a, b.unsqueeze(1)})[0], a.expand({2, 2})));
  CHECK(tt::equal(tt::einsum("i,i->", {a, b}), tt::dot(a, b)));
  CHECK(tt::equal(tt::linalg::multi_dot({a.unsqueeze(0), b.unsqueeze(1)}), tt::einsum("i,i->", list).reshape({1, 1})));
  CHECK(tt::gradient(a, {}, {0}).size() == 1);
  CHECK(tt::gradient(a, {tt::tensor(2.f)}, {0})[0][0].item() == 0.5);
  CHECK(tt::cat({a}).is_same(a) == tt::cat(std::vector<Tensor>{a}).is_same(a));
}
TEST_CASE("the shape to which shapes broadcast") {
  const Tensor x = tt::zeros({3, 1, 4});
  CHECK(tt::broadcast_shapes(x.shape(), {2, 1}) == tt::Shape{3, 2, 4});
  CHECK(tt::broadcast_shapes({5}) == tt::Shape{5});
  CHECK(tt::broadcast_shapes({}, {0}, {1}) == tt::Shape{0});
  CHECK(tt::broadcast_shapes({1, 1}, {6, 1}, {1, 7}, {2, 1, 1}) == tt::Shape{2, 6, 7});
  CHECK(tt::broadcast_shapes(tt::Shape{2}, tt::Shape{1, 1}) == tt::Shape{1, 2});
  CHECK(message([] { tt::broadcast_shapes({3, 2}, {1, 4}); }) == "tt::broadcast_shapes: shapes do not broadcast: (3, 2) and (1, 4).\n  at " + std::string(__FILE__) + ":" + std::to_string(__LINE__));
  CHECK(message([&] { tt::broadcast_tensors({x, tt::zeros({2, 2})}); }).starts_with("tt::broadcast_tensors: shapes do not broadcast: (3, 1, 4) and (2, 2)."));
  const auto filled = tt::compile([](const Tensor& a, const Tensor& b) { return a.sum() + tt::ones(tt::broadcast_shapes(a.shape(), b.shape())); }, {.fullgraph = true});
  for (const int n : {2, 5}) CHECK(filled(tt::ones({n, 1}), tt::ones({3})).shape() == tt::Shape{n, 3});
}
TEST_CASE("bins, exponentials of matrices, and embeddings at their edges") {
  const Tensor x = tt::rand({20, 1}, 3);
  CHECK(tt::equal(tt::histogramdd(x, {2}, std::vector<double>{1, 1}).bin_edges[0], tt::tensor({0.5f, 1.f, 1.5f})));
  CHECK(tt::equal(tt::call_results("histogram", {x, 2}, {{"range", std::vector<double>{0, 0}}})[1], tt::tensor({-0.5f, 0.f, 0.5f})));
  CHECK(tt::histogram(x, 4).bin_edges[0].item() == x.min().item());
  CHECK(contains(message([&] { tt::histogramdd(x, {2}, std::vector<double>{1, 0}); }), "tt::histogramdd: there are no bins"));
  CHECK(tt::linalg::matrix_exp(tt::full({2, 2}, INFINITY, tt::DType::f16)).isnan().all().item<bool>());
  CHECK(tt::allclose(tt::linalg::matrix_exp(tt::eye(2).to(tt::DType::bf16) * 8).to(tt::DType::f32), tt::eye(2) * 2980.958f, 0.01));
  CHECK(contains(message([] { tt::linalg::matrix_exp(tt::eye(2, tt::DType::i64)); }), "dtype is not accepted: i64"));
  // a leaf whose rows are shortened, eager and compiled
  const auto make = [] { return (tt::arange(12).to(tt::DType::f32).reshape({4, 3}) - 5).clone().requires_grad_(); };
  const Tensor words = tt::tensor({1, 3, 1});
  const auto f = [&](const Tensor& w) { return tt::embedding(words, w, {.padding_idx = 3, .max_norm = 2.0}).square().sum(); };
  const Tensor eager = make(), compiled = make();
  f(eager).backward();
  auto g = tt::compile(tt::frozen(f));
  g(compiled).backward();
  CHECK(same_bits(eager.detach(), compiled.detach()));
  CHECK(same_bits(eager.grad(), compiled.grad()));
  CHECK(std::fabs(eager.detach()[1].norm().item() - 2) < 1e-5);
  CHECK(eager.detach()[0].norm().item() > 3);
  CHECK(eager.grad()[3].norm().item() == 0);
  const auto doubled = [](const Tensor& w) {
    {
      const tt::NoGrad off;
      Tensor t = w;
      t.mul_(2);
    }
    return (w * w).sum();
  };
  const Tensor a = make(), b = make();
  doubled(a).backward();
  auto h = tt::compile(doubled);
  h(b).backward();
  CHECK(same_bits(a.detach(), b.detach()));
  CHECK(same_bits(a.grad(), b.grad()));
  CHECK(contains(message([&] { tt::embedding_bag(words, a.detach(), tt::tensor({0}), tt::BagMode::sum, {}, false, {.padding_idx = 7}); }), "tt::embedding_bag: padding_idx 7"));
  const Tensor leaf = tt::arange(12).to(tt::DType::f32).reshape({2, 6}).requires_grad_();
  CHECK(contains(message([&] { tt::as_strided(leaf, {2}, {2}); }), "Use clone() before"));
}

TEST_CASE("what libtorch's users write") {
  CHECK(tt::tensor(std::vector<double>{1, 2}).dtype() == tt::kDouble);
  CHECK(tt::equal(tt::tensor(std::vector<int>{3, 4}), tt::tensor({3, 4})));
  CHECK(tt::tensor(std::vector<float>{}).size(0) == 0);
  CHECK(tt::zeros({2}, tt::kLong).to(tt::kHalf).dtype() == tt::DType::f16);
  std::ostringstream said;
  said << tt::ones({1}).device() << ' ' << tt::Device(tt::DeviceType::cuda, 1);
  CHECK(said.str() == "cpu cuda:1");
  tt::manual_seed(1);
  const Tensor x = tt::normal(3.0, 0.5, {1000});
  CHECK(std::fabs(x.mean().item() - 3) < 0.1);
  CHECK(std::fabs(x.std().item() - 0.5) < 0.05);
  CHECK(contains(message([] { tt::normal(0.0, -1.0, {2}); }), "standard deviation"));
  const Tensor a = tt::tensor({1.f, 2.f}), b = tt::tensor({3.f, 5.f});
  CHECK(tt::equal(tt::add(a, b, 2), a + b * 2));
  CHECK(tt::equal(a.sub(b, 0.5), a - b * 0.5));
  CHECK(tt::equal(a.clone().add_(b, -0.5), a - b * 0.5));
  CHECK(tt::equal(a.clone().sub_(b, 2), tt::call("sub", {a, b}, {{"alpha", 2}})));
  CHECK(tt::equal(tt::gelu(a, "tanh"), tt::gelu_tanh(a)));
  CHECK(contains(message([&] { tt::gelu(a, "erf"); }), "none or tanh?"));
  const Tensor images = tt::rand({1, 2, 7, 6}), weights = tt::rand({2, 1, 3, 3});
  CHECK(tt::equal(tt::conv2d(images, weights, {}, 2, {1, 0}, 1, 2), tt::conv2d(images, weights, {.stride = 2, .padding = {1, 0}, .groups = 2})));
  CHECK(tt::equal(tt::max_pool2d(images, 2), tt::max_pool2d(images, {.kernel_size = 2})));
  CHECK(tt::equal(tt::avg_pool2d(images, 3, 2, 1), tt::avg_pool2d(images, {.kernel_size = 3, .stride = 2, .padding = 1})));
}

TEST_CASE("a copy without a name is not assigned to; one bound of clamp; None in slices") {
  Tensor x = tt::arange(6).reshape({2, 3});
  CHECK(message([&] { x.index({tt::tensor({0})}) = 5; }).starts_with("tt: what is assigned to a copy without a name is lost"));
  CHECK(message([&] { x + 1 = 5; }).starts_with("tt: what is assigned to a copy without a name is lost"));
  x.index({0, Slice(1, tt::None)}) = 9;
  x.index_put_({tt::tensor({1}), tt::tensor({0})}, 7);
  CHECK(numbers(x) == Numbers{0, 9, 9, 7, 4, 5});
  x.reshape({6}) = 1;  // a view
  CHECK(numbers(x) == Numbers{1, 1, 1, 1, 1, 1});
  float own[2] = {1, 2};
  tt::from_blob(own, {2}) = 3;  // memory of the caller's
  CHECK(own[1] == 3);
  CHECK(numbers(tt::tensor({-1.0, 2.0}).clamp(0)) == Numbers{0, 2});
  CHECK(numbers(tt::tensor({-1.0, 2.0}).clamp_(1)) == Numbers{1, 2});
}

TEST_CASE("draws in place from a generator") {
  tt::Generator g(5), h(5);
  const auto draws = [](tt::Generator& from) {
    std::vector<Tensor> all;
    const auto next = [&] { return tt::zeros({4}, DType::f64); };
    all.push_back(next().uniform_(0, 1, from));
    all.push_back(next().normal_(0, 1, from));
    all.push_back(next().bernoulli_(0.5, from));
    all.push_back(next().exponential_(1, from));
    all.push_back(next().geometric_(0.5, from));
    all.push_back(next().log_normal_(1, 2, from));
    all.push_back(next().cauchy_(0, 1, from));
    all.push_back(next().random_(0, 100, from));
    return all;
  };
  const std::vector<Tensor> first = draws(g), again = draws(h);
  for (std::size_t k = 0; k < first.size(); ++k) CHECK(same_bits(first[k], again[k]));
  CHECK(message([] { tt::ones({3}).normal_(0, -1); }).starts_with("tt::normal_: std is -1, not 0 or more."));
  CHECK(message([] { tt::bernoulli(tt::full({2}, 2.0)); }).starts_with("tt::bernoulli: a probability is outside of 0 and 1."));
}

TEST_CASE("products of many elements are those of blocks, on any number of threads") {
  Tensor x = tt::ones({3, 600'000}, DType::f64);
  for (const std::int64_t place : {0L, 262'143L, 262'144L, 599'999L}) x.select(0, 1).select(0, place).fill_(2);
  x.select(0, 2).select(0, 300'000).fill_(0);
  const int threads = tt::get_num_threads();
  for (const int n : {1, 2}) {
    tt::set_num_threads(n);
    CHECK(numbers(x.prod(1, false)) == Numbers{1, 16, 0});
    CHECK(x.select(0, 1).prod().item() == 16);
  }
  tt::set_num_threads(threads);
}

TEST_CASE("a product along any axis has the bits of that along the last one") {
  const int threads = tt::get_num_threads();
  for (const tt::IntList& shape : {tt::IntList{3, 70, 17}, tt::IntList{1, 8, 100}, tt::IntList{2, 200, 5}, tt::IntList{2, 0, 5}, tt::IntList{4, 1, 9}, tt::IntList{2, 64, 1}}) {
    CAPTURE(std::int64_t{shape[1]});
    const Tensor x = tt::randn(shape, 5) * 0.1 + 1, i = (x * 3).to(DType::i64);
    for (const int n : {1, 2}) {
      tt::set_num_threads(n);
      for (const Tensor& t : {x, i, x.to(DType::bf16), x.to(DType::f64), i.to(DType::i32)}) CHECK(same_bits(t.prod(1), t.transpose(1, 2).contiguous().prod(2)));
    }
  }
  tt::set_num_threads(threads);
}

TEST_CASE("margins of several images at once and of one are alike") {
  const Tensor x = tt::randn({5, 4, 6}, 3);
  for (const tt::PadMode mode : {tt::PadMode::reflect, tt::PadMode::replicate, tt::PadMode::circular}) {
    const Tensor all = tt::pad(x, {2, 1, 3, 2}, mode);
    for (int k = 0; k < 5; ++k) CHECK(same_bits(all.select(0, k), tt::pad(tt::pad(x.select(0, k), {2, 1}, mode).t(), {3, 2}, mode).t()));
  }
}

TEST_CASE("gradients of margins are those of a compiled function, of one image and of many") {
  for (const std::int64_t images : {1, 3, 6}) {
    const Tensor x = tt::randn({images, 5, 5}, 4), w = tt::randn({images, 9, 8}, 5);
    const auto loss = [](const Tensor& a, const Tensor& b) { return (tt::pad(a, {2, 1, 3, 1}, tt::PadMode::reflect) * b).sum(); };
    CHECK(same_bits(tt::grad(loss)(x, w), tt::compile([](const Tensor& a, const Tensor& b) {
      return tt::grad([](const Tensor& c, const Tensor& d) { return (tt::pad(c, {2, 1, 3, 1}, tt::PadMode::reflect) * d).sum(); })(a, b);
    })(x, w)));
  }
}

TEST_CASE("elements are copied whole, wherever rows begin") {
  for (const std::int64_t n : {511, 512, 513, 1021, 1024, 1500}) {
    const Tensor x = tt::arange(3 * n).to(DType::f32).reshape({3, n});
    for (const std::int64_t shift : {1, 3, 16, 500}) {
      const Tensor r = tt::roll(x, {shift}, {1});
      for (const std::int64_t k : {std::int64_t{0}, shift - 1, shift, n - 1}) CHECK(r.select(0, 2).select(0, k).item() == static_cast<double>(2 * n + (k - shift + n) % n));
    }
  }
}

TEST_CASE("on Meta Tensors that require a gradient") {
  const Tensor x = tt::empty({3}, {.device = "meta"}).requires_grad_();
  const Tensor y = tt::cumprod(x, 0);
  CHECK(y.is_meta());
  CHECK(y.requires_grad());
}

TEST_CASE("errors of calls by name have that name; numbers at their dtype's end") {
  CHECK(message([] { tt::call("embedding", {tt::tensor({7}), tt::ones({5, 2})}); }).starts_with("tt::embedding: "));
  CHECK(message([] { tt::call("median", {tt::zeros({2, 0}), 1}); }).starts_with("tt::median: kthvalue: "));
  CHECK(message([] { tt::call("relu", {tt::ones({2})}, {{"inplace", true}}); }).starts_with("tt::call: relu: no argument is called inplace"));
  CHECK(tt::full({2}, INT64_MAX, DType::i64).select(0, 1).item<std::int64_t>() == INT64_MAX);
  CHECK(std::isnan(tt::median(tt::zeros({0})).item()));
  CHECK(numbers(tt::matrix_power(tt::eye(2), INT_MIN)) == Numbers{1, 0, 0, 1});
  CHECK(tt::gcd(tt::tensor(4), tt::empty({}, {.dtype = DType::i64, .device = "meta"})).is_meta());
  CHECK(message([] { tt::conv_transpose2d(tt::ones({1, 2, 3, 3}), tt::ones({2, 1, 2, 2}), {}, {1}, {0}, {0}, 0); }).starts_with("tt::conv_transpose: the number of groups is 0."));
}

TEST_CASE("a dtype is an argument wherever PyTorch takes one") {
  using tt::DType;
  const Tensor x = tt::tensor({{3, 1}, {2, 2}}), h = tt::tensor({0.1, 0.2, NAN}, DType::f16);
  const auto alike = [](const Tensor& got, const Tensor& expected) { return got.dtype() == expected.dtype() && tt::call("isclose", {got, expected}, {{"equal_nan", true}}).all().item<bool>(); };
  CHECK(alike(tt::linspace(0, 1, 3, DType::f64), tt::tensor({0.0, 0.5, 1.0}, DType::f64)));
  CHECK(alike(tt::logspace(0, 2, 3, 10, DType::f64), tt::tensor({1, 10, 100}, DType::f64)));
  CHECK(alike(tt::eye(1, 2, DType::i64), tt::tensor({{1, 0}})));
  CHECK(alike(tt::arange(1, 3, DType::i32), tt::tensor({1, 2}, DType::i32)));
  CHECK(alike(tt::arange(0, 1, 0.5, DType::f64), tt::tensor({0.0, 0.5}, DType::f64)));
  CHECK(tt::randint(5, 6, {3}, DType::u8).eq(tt::full({3}, 5, DType::u8)).all().item<bool>());
  CHECK(tt::randint(2, {3}, DType::f32).dtype() == DType::f32);
  CHECK(tt::randint(2, {3}, {.dtype = DType::i16}).dtype() == DType::i16);
  CHECK(alike(tt::sum(tt::randperm(4, DType::i32)), tt::tensor(6)));
  CHECK(alike(tt::full_like(x, 2, DType::f64), tt::full({2, 2}, 2, DType::f64)));
  CHECK(alike(tt::zeros_like(x, DType::f32), tt::zeros({2, 2})));
  CHECK(alike(tt::ones_like(x, DType::u8), tt::ones({2, 2}, DType::u8)));
  CHECK(tt::empty_like(x, DType::f16).dtype() == DType::f16);
  CHECK(tt::rand_like(x, DType::f64).dtype() == DType::f64);
  CHECK(tt::randn_like(x, DType::f32).shape() == tt::Shape{2, 2});
  CHECK(alike(x.new_ones({2}, DType::f32), tt::ones({2})));
  CHECK(alike(x.new_full({2}, 3, DType::f64), tt::full({2}, 3, DType::f64)));
  CHECK(alike(x.sum(DType::f32), tt::tensor(8.0f)));
  CHECK(alike(tt::sum(x, {0}, true, DType::i32), tt::tensor({{5, 3}}, DType::i32)));
  CHECK(alike(tt::mean(x, DType::f64), tt::tensor(2.0, DType::f64)));
  CHECK(alike(x.mean({1}, false, DType::f32), tt::tensor({2, 2}, DType::f32)));
  CHECK(alike(tt::nansum(h, {}, false, DType::f64), h.to(DType::f64).nansum()));
  CHECK(alike(h.nanmean({}, false, DType::f64), h.to(DType::f64).nanmean()));
  CHECK(alike(x.prod(DType::f32), tt::tensor(12.0f)));
  CHECK(alike(tt::prod(x, 0, false, DType::f64), tt::tensor({6, 2}, DType::f64)));
  CHECK(alike(x.cumsum(1, DType::f32), tt::tensor({{3, 4}, {2, 4}}, DType::f32)));
  CHECK(alike(tt::cumprod(x, 1, DType::f32), tt::tensor({{3, 3}, {2, 4}}, DType::f32)));
  CHECK(alike(h.softmax(0, DType::f32), h.to(DType::f32).softmax(0)));
  CHECK(alike(tt::log_softmax(x, 1, DType::f64), x.to(DType::f64).log_softmax(1)));
  CHECK(alike(tt::norm(x, 1, {0}, false, DType::f32), tt::tensor({5, 3}, DType::f32)));
  CHECK(alike(tt::linalg::vector_norm(x, 1, {}, false, DType::f64), tt::tensor(8.0, DType::f64)));
  for (const char* name : {"sum", "prod", "nansum"}) CHECK(tt::call(name, {x}, {{"dtype", DType::i32}}).dtype() == DType::i32);  // not i64, as without
  CHECK(alike(tt::call("sum", {x}, {{"dtype", DType::boolean}}), tt::tensor(true)));
  CHECK(alike(tt::fill(x, 7), tt::full({2, 2}, 7, DType::i64)));
  Tensor v = tt::tensor(2.0).requires_grad_();
  tt::fill(tt::zeros({3}, DType::f64), v).sum().backward();  // as by name: the number has a gradient
  CHECK(alike(v.grad(), tt::tensor(3.0)));
}

TEST_CASE("whole numbers of wide ranges have all their bits, and bounds are within the dtype") {
  const auto ones = [](const Tensor& drawn, std::int64_t of) { return (tt::floor_divide(drawn, of).remainder(2) != 0).to(DType::f64).mean().item<double>(); };
  const std::int64_t least = INT64_MIN, most = INT64_MAX, far = std::int64_t{1} << 62;
  for (const auto& [low, high] : {std::pair{std::int64_t{0}, far}, {least, most}, {std::int64_t{-5}, most}, {std::int64_t{0}, (std::int64_t{1} << 53) + 1}}) {
    CAPTURE(low);
    const Tensor drawn = tt::randint(low, high, {4'000});
    CHECK(drawn.amin().item<std::int64_t>() >= low);
    CHECK(drawn.amax().item<std::int64_t>() < high);
    const double width = static_cast<double>(high) - static_cast<double>(low);
    CHECK(static_cast<double>(drawn.amin().item<std::int64_t>()) < static_cast<double>(low) + 0.01 * width);
    CHECK(static_cast<double>(drawn.amax().item<std::int64_t>()) > static_cast<double>(high) - 0.01 * width);
    for (const std::int64_t bit : {std::int64_t{1}, std::int64_t{1} << 9, std::int64_t{1} << 40}) CHECK(ones(drawn, bit) == doctest::Approx(0.5).epsilon(0.1));
  }
  const auto refused = [](const auto& f) { CHECK_THROWS_AS((void)f(), tt::Error); };
  refused([] { return tt::randint(-5, 9, {6}, DType::u8); });
  refused([] { return tt::randint(0, 256, {6}, DType::boolean); });
  refused([] { return tt::randint(0, std::int64_t{1} << 31, {3}, DType::f16); });
  refused([] { return tt::zeros({4}, DType::u8).random_(-5, 9); });
  refused([] { return tt::randint(0, 3, {-1}); });
  CHECK(tt::randint(0, 65505, {3}, DType::f16).isfinite().all().item<bool>());
  CHECK(tt::randint(0, 3, {2, 2}, {.dtype = DType::i64, .device = {tt::DeviceType::meta}}).shape() == tt::Shape{2, 2});
}

TEST_CASE("calls as libtorch has them") {
  using tt::TensorOptions;
  const auto alike = [](const Tensor& got, const Tensor& expected) { return got.dtype() == expected.dtype() && got.shape() == expected.shape() && tt::call("isclose", {got, expected}, {{"equal_nan", true}}).all().item<bool>(); };
  const Tensor n = tt::tensor({-7, 7}), x = tt::tensor({{3.0f, 1.0f}, {2.0f, 4.0f}}), v = tt::tensor({0.25f, 2.75f});
  const Tensor i = tt::tensor({0, 1}), i2 = tt::tensor({{0, 1}});
  SUBCASE("elements") {
    CHECK(alike(tt::div(n, 2, "trunc"), tt::tensor({-3, 3})));
    CHECK(alike(n.div(2, "floor"), tt::tensor({-4, 3})));
    CHECK(alike(tt::divide(v, v * -2, "floor"), tt::tensor({-1.0f, -1.0f})));
    CHECK(alike(n.divide(tt::tensor({2.0, 2.0}), "trunc"), tt::tensor({-3.0, 3.0})));
    CHECK(alike(n.clone().div_(2, "trunc").divide_(i + 1, "floor"), tt::tensor({-3, 1})));
    CHECK_THROWS_WITH_AS(tt::div(n, 2, "up", {}), "tt::div: rounding_mode is 'up', not one of trunc|floor.", tt::Error);
    CHECK(alike(tt::add(n, 1, 2), tt::tensor({-5, 9})));
    CHECK(alike(tt::subtract(n, i, 2), tt::tensor({-7, 5})));
    CHECK(alike(n.subtract(1, 2), tt::tensor({-9, 5})));
    CHECK(alike(n.clone().add_(1, 2).sub_(2, 3).subtract_(i, 2), tt::tensor({-11, 1})));
    CHECK(alike(tt::rsub(n, 1, 2), tt::tensor({15, -13})));
    CHECK(alike(tt::clamp(n, 0), tt::tensor({0, 7})));
    CHECK(alike(tt::clip(n, i), tt::tensor({0, 7})));
    CHECK(alike(n.clip(-1), tt::tensor({-1, 7})));
    CHECK(alike(n.clone().clip_(1), tt::tensor({1, 7})));
    CHECK(alike(tt::round(v, 1), tt::call("round", {v, 1})));
    CHECK(alike((v * 100).round_(-2), tt::tensor({0.0f, 300.0f})));
    CHECK(alike(tt::softplus(v, 2, 1), tt::tensor({0.48703849f, 2.75f})));
    CHECK(alike(tt::logit(v, 0.1), tt::tensor({-1.0986123f, 2.1972246f})));
    CHECK(alike(v.clone().logit_(0.25), v.logit(0.25)));
    CHECK(alike(v.nan_to_num(1, 2), v));
    CHECK(alike((v / 0).nan_to_num_(1, 2), tt::tensor({2.0f, 2.0f})));
    CHECK(tt::isclose(v, v + 0.5f, 0, 1).all().item<bool>());
    CHECK(alike(tt::bitwise_left_shift(1, i), tt::tensor({1, 2})));
    CHECK(alike(tt::bitwise_right_shift(4, i), tt::tensor({4, 2})));
    CHECK(alike(tt::float_power(2, i), tt::tensor({1, 2}, DType::f64)));
    CHECK(alike(tt::special::zeta(v + 2, 1), tt::special::zeta(v + 2, tt::ones({2}))));
    CHECK(alike(tt::special::hermite_polynomial_h(2, i), tt::tensor({1.0f, 4.0f})));
    CHECK(alike(tt::special::chebyshev_polynomial_t(v, 2), v * v * 2 - 1));
    CHECK(alike(tt::where(n)[0], i));
    CHECK(tt::result_type(n.to(DType::i8), 300) == DType::i8);
    CHECK(tt::result_type(1, 2.0) == DType::f32);
    CHECK(tt::result_type(2.0, n) == DType::f32);
    CHECK(tt::is_signed(n));
    Tensor w = tt::tensor({1.0, 2.0}).requires_grad_();
    tt::softplus(w, 2, 1).sum().backward();
    CHECK(alike(w.grad(), tt::tensor({1.0, 1.0})));
  }
  SUBCASE("reductions and order") {
    CHECK(alike(tt::var(x, {0}, 0, true), tt::tensor({{0.25f, 2.25f}})));
    CHECK(alike(x.var({0}, 0), tt::tensor({0.25f, 2.25f})));
    CHECK(alike(x.var({0}, false, true), tt::tensor({{0.25f, 2.25f}})));
    CHECK(alike(tt::var(x, false), tt::tensor(1.25f)));
    CHECK(alike(tt::std(x, {0}, 0), tt::tensor({0.5f, 1.5f})));
    CHECK(alike(tt::std(x, false), tt::sqrt(x.var(false))));
    CHECK(alike(x.std(false), tt::std(x, false)));
    CHECK(alike(tt::var_mean(x, false).var, x.var(false)));
    CHECK(alike(tt::std_mean(x, false).mean, x.mean()));
    CHECK(alike(tt::gradient(x, 2, 0)[0], tt::tensor({{-0.5f, 1.5f}, {-0.5f, 1.5f}})));
    CHECK(alike(tt::gradient(x, tt::IntList{1})[0], tt::tensor({{-2.0f, -2.0f}, {2.0f, 2.0f}})));
    CHECK(tt::histogram(x).hist.shape() == tt::Shape{100});
    CHECK(alike(tt::histogram(x, 2, {0.0, 4.0}).hist, tt::tensor({1.0f, 3.0f})));
    CHECK(alike(x.histogram(2, {0, 4}).hist, tt::tensor({1.0f, 3.0f})));
    CHECK(alike(x.histogram(tt::tensor({0.0f, 2.0f, 4.0f})).hist, tt::tensor({1.0f, 3.0f})));
    CHECK(alike(tt::searchsorted(v, 1), tt::tensor(1)));
    CHECK(alike(tt::searchsorted(v.flip({0}), v, true, false, "right", tt::tensor({1, 0})), tt::tensor({1, 2}, DType::i32)));
    CHECK_THROWS_AS((void)tt::searchsorted(v, v, false, true, "left"), tt::Error);
    CHECK(alike(tt::bucketize(0.25, v, false, true), tt::tensor(1)));
    CHECK(alike(tt::isin(n, 7), tt::tensor({false, true})));
    CHECK(alike(tt::isin(7, n), tt::tensor(true)));
    CHECK(alike(tt::isin(n, n, true, true), tt::tensor({false, false})));
    CHECK(alike(x.sort(true, 0, true).values, tt::tensor({{3.0f, 4.0f}, {2.0f, 1.0f}})));
    CHECK(alike(tt::argsort(x, true, 0), tt::tensor({{1, 0}, {0, 1}})));
    CHECK(alike(x.norm(1, DType::f64), tt::tensor(10, DType::f64)));
    CHECK(alike(tt::linalg::norm(x, 1, {1}, true, DType::f64), tt::tensor({{4}, {6}}, DType::f64)));
    CHECK(alike(x.cov(1, i + 1), tt::cov(x, 1, i + 1)));
    CHECK(alike(v.diff(1, 0, v), tt::tensor({2.5f, -2.5f, 2.5f})));
  }
  SUBCASE("places") {
    CHECK(alike(n.scatter(0, i, n, "add"), n * 2));
    CHECK(alike(tt::scatter(n, 0, tt::tensor({1}), 3, "multiply"), tt::tensor({-7, 21})));
    CHECK(alike(n.clone().scatter_(0, i, 1, "add"), n + 1));
    CHECK_THROWS_WITH_AS(tt::scatter(n, 0, i, 1, "sum", {}), "tt::scatter: reduce is 'sum', not one of add|multiply.", tt::Error);
    CHECK(alike(n.scatter_reduce(0, i * 0, n, "amax", false), tt::tensor({7, 7})));
    CHECK(alike(n.clone().scatter_reduce_(0, i, n, "prod"), tt::tensor({49, 49})));
    CHECK(alike(x.index_reduce(0, i * 0, x, "mean"), tt::tensor({{8.0f / 3, 2.0f}, {2.0f, 4.0f}})));
    CHECK(alike(x.clone().index_reduce_(0, i, x, "amin"), x));
    CHECK(alike(tt::index_add(x, 0, i, x, 2), x * 3));
    CHECK(alike(x.clone().index_add_(0, i, x, 0.5), x * 1.5f));
    CHECK(alike(tt::index_fill(x, 0, tt::tensor({0}), 5), tt::tensor({{5.0f, 5.0f}, {2.0f, 4.0f}})));
    const std::vector<Tensor> places{i, i};
    CHECK(alike(x.index(places), tt::tensor({3.0f, 4.0f})));
    CHECK(alike(x.index_put(places, tt::tensor(1.0f), true), tt::tensor({{4.0f, 1.0f}, {2.0f, 5.0f}})));
    CHECK(alike(x.clone().index_put_(places, tt::tensor(0.0f)), tt::tensor({{0.0f, 1.0f}, {2.0f, 0.0f}})));
    CHECK(alike(x.take_along_dim(tt::tensor({3, 0})), tt::tensor({4.0f, 3.0f})));
  }
  SUBCASE("shapes") {
    CHECK(alike(tt::reshape(x, {1, -1}), x.view({1, 4})));
    CHECK(alike(tt::permute(x, {1, 0}), x.t()));
    CHECK(alike(tt::transpose(x, 0, 1), x.t()));
    CHECK(alike(tt::broadcast_to(v, {2, 2}), v.expand({2, 2})));
    CHECK(tt::atleast_3d({v, x})[1].shape() == tt::Shape{2, 2, 1});
    CHECK(tt::atleast_1d(std::vector<Tensor>{tt::tensor(1), x})[0].dim() == 1);
    CHECK(tt::atleast_2d({v, x})[0].dim() == 2);
    CHECK(alike(x.narrow(0, tt::tensor(1), 1), tt::tensor({{2.0f, 4.0f}})));
    CHECK(alike(tt::tensor_split(v, tt::tensor({1}))[1], tt::tensor({2.75f})));
    CHECK(v.tensor_split(tt::tensor(2)).size() == 2);
    CHECK(alike(tt::repeat_interleave(i + 1), tt::tensor({0, 1, 1})));
    CHECK(alike(n.repeat_interleave(2), tt::tensor({-7, -7, 7, 7})));
    CHECK(alike(n.repeat_interleave(i), tt::tensor({7})));
    CHECK(alike(x.repeat_interleave(i, 0, 1), tt::tensor({{2.0f, 4.0f}})));
    CHECK(alike(tt::slice_scatter(n, i), i));
    CHECK(x.view({1, 2, 1, 2}).squeeze({0, 2}).dim() == 2);
    CHECK(x.view({1, 2, 1, 2}).squeeze_({0, 2}).dim() == 2);
    CHECK(alike(tt::pad(v, {1, 1}, "replicate"), tt::tensor({0.25f, 0.25f, 2.75f, 2.75f})));
    CHECK(alike(tt::pad(v, {1, 0}, "constant", 2), tt::tensor({2.0f, 0.25f, 2.75f})));
    CHECK_THROWS_AS((void)tt::pad(v, {1, 1}, "reflect", 1), tt::Error);
    CHECK(alike(tt::ones({2}).view(DType::i32), tt::full({2}, 0x3f800000, DType::i32)));
    CHECK(alike(tt::view_copy(tt::ones({2}), DType::i32), tt::ones({2}).view(DType::i32)));
    CHECK(alike(tt::tril_indices(2, 2, -1, DType::i32), tt::tensor({{1}, {0}}, DType::i32)));
  }
  SUBCASE("factories, dtypes and numbers of chance") {
    const TensorOptions wide = n.options();
    CHECK(alike(tt::zeros_like(x, wide), tt::zeros({2, 2}, DType::i64)));
    CHECK(alike(tt::ones_like(x, wide), tt::ones({2, 2}, DType::i64)));
    CHECK(alike(tt::full_like(x, 3, wide), tt::full({2, 2}, 3, DType::i64)));
    CHECK(tt::empty_like(x, wide).dtype() == DType::i64);
    CHECK(tt::rand_like(n, x.options()).dtype() == DType::f32);
    CHECK(tt::randn_like(n, x.options()).dtype() == DType::f32);
    CHECK(alike(tt::randint_like(x, 4, 5, wide), tt::full({2, 2}, 4, DType::i64)));
    CHECK(alike(tt::randint_like(x, 1, DType::i32), tt::zeros({2, 2}, DType::i32)));
    CHECK(alike(n.new_zeros({1}, x.options()), tt::zeros({1})));
    CHECK(alike(n.new_full({1}, 2, x.options()), tt::full({1}, 2.0)));
    CHECK(n.new_empty_strided({2}, {2}, DType::f32).stride(0) == 2);
    CHECK(alike(tt::arange(1, 3, x.options()), tt::tensor({1.0f, 2.0f})));
    CHECK(alike(tt::linspace(tt::tensor(0), 1, 3), tt::tensor({0.0f, 0.5f, 1.0f})));
    CHECK(alike(tt::logspace(0, tt::tensor(2.0), 3, 10, DType::f64), tt::tensor({1, 10, 100}, DType::f64)));
    CHECK_THROWS_AS((void)tt::linspace(v, 1, 3), tt::Error);
    CHECK(alike(n.to(tt::DeviceType::cpu, DType::f32), n.to(DType::f32)));
    CHECK(alike(n.to(x), n.to(DType::f32)));
    CHECK(alike(n.to(x.options()), n.to(DType::f32)));
    CHECK(n.to(DType::i64, false).is_same(n));
    CHECK(!n.to(DType::i64, false, true).shares_storage(n));
    CHECK(alike(x.clone().fill_(tt::tensor(2)), tt::full({2, 2}, 2.0)));
    CHECK_THROWS_AS((void)x.clone().fill_(v), tt::Error);
    CHECK(alike(tt::empty({2, 2}).copy_(x, true), x));
    tt::Generator a(3), b(3);
    CHECK(alike(tt::rand({2}, a, DType::f64), tt::rand({2}, b, {.dtype = DType::f64})));
    CHECK(alike(tt::randn_like(n, a, DType::f32), tt::randn({2}, b)));
    CHECK(alike(tt::randint(9, {2}, a, DType::f32), tt::randint(0, 9, {2}, b).to(DType::f32)));
    CHECK(alike(tt::randperm(5, a, DType::i32), tt::randperm(5, b).to(DType::i32)));
    CHECK(alike(tt::normal(v, 0, a), v));
    (void)tt::normal(v, 0, b);
    CHECK(alike(tt::normal(1, v, a), tt::normal(tt::ones({2}), v, b)));
    CHECK(alike(tt::normal(0, 1, {2}, a, DType::f64), tt::normal(0, 1, {2}, b, {.dtype = DType::f64})));
    CHECK(alike(tt::bernoulli(n, 1.0), tt::ones({2}, DType::i64)));
    CHECK(alike(x.bernoulli(0.5, a), tt::empty({2, 2}).bernoulli_(0.5, b)));
    CHECK(alike(tt::empty({2, 2}).bernoulli_(tt::tensor({0.0f, 1.0f})), tt::tensor({{0.0f, 1.0f}, {0.0f, 1.0f}})));
    CHECK(alike(tt::zeros({2}).random_(5, a), tt::zeros({2}).random_(0, 5, b)));
    CHECK(tt::zeros({2}).random_(a).ge(0).all().item<bool>());
    CHECK(alike(tt::tensor({0.0f, 1.0f}).multinomial(1, false, a), tt::tensor({1})));
  }
  SUBCASE("matrices and networks") {
    CHECK(alike(tt::linalg::lu_factor(x, true).LU, tt::linalg::lu_factor(x).LU));
    CHECK_THROWS_AS((void)tt::linalg::lu(x, false), tt::Unavailable);
    const auto [f, p] = tt::linalg::lu_factor(x);
    CHECK(tt::lu_unpack(f, p, false).L.numel() == 0);
    CHECK(alike(tt::lu_unpack(f, p, true, false).U, tt::linalg::lu(x).U));
    CHECK(alike(tt::linalg::ldl_factor(x, false).LD, tt::linalg::ldl_factor(x).LD));
    CHECK(tt::linalg::matrix_rank(x, 3.0).item<int>() == 1);
    CHECK(tt::linalg::matrix_rank(x, 0.0, 0.1).item<int>() == 2);
    CHECK(alike(tt::linalg::pinv(x, 1e-6), tt::linalg::inv(x)));
    CHECK(alike(tt::linalg::pinv(x, tt::tensor(1e-6), false), tt::linalg::inv(x)));
    const Tensor line = tt::arange(8, DType::f32).view({1, 1, 8}), image = tt::arange(16, DType::f32).view({1, 1, 4, 4}), box = image.view({1, 1, 2, 2, 4});
    CHECK(alike(tt::max_pool1d(line, 2, 2, 1), tt::call("max_pool1d", {line, {2}, {2}, {1}})));
    CHECK(alike(tt::max_pool1d(line, {2}, {2}, {0}, {2}, true), tt::call("max_pool1d", {line, {2}, {2}, {0}, {2}, true})));
    CHECK(alike(tt::max_pool2d(image, {2, 2}, {1, 2}, {1, 0}), tt::call("max_pool2d", {image, {2, 2}, {1, 2}, {1, 0}})));
    CHECK(alike(tt::max_pool2d(image, 3, 2, 1, 1, true), tt::call("max_pool2d", {image, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true})));
    CHECK(alike(tt::max_pool2d_with_indices(image, {2, 2}, {2, 2}, {0, 0}).indices, tt::tensor({{{{5, 7}, {13, 15}}}})));
    CHECK(alike(tt::max_pool3d(box, 2, 1, 0), tt::call("max_pool3d", {box, {2}, {1}})));
    CHECK(alike(tt::avg_pool1d(line, {3}, {2}, {1}, false, false), tt::call("avg_pool1d", {line, {3}, {2}, {1}, false, false})));
    CHECK(alike(tt::avg_pool2d(image, {2, 2}, {2, 2}, {1, 1}, true, true, 3), tt::call("avg_pool2d", {image, {2, 2}, {2, 2}, {1, 1}, true, true, 3})));
    CHECK_THROWS_AS((void)tt::avg_pool3d(box, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, false, true, 0), tt::Error);
    const Tensor weight = tt::ones({1, 1, 2, 2});
    CHECK(alike(tt::conv2d(image, weight, {}, {1, 2}, {0, 1}), tt::call("conv2d", {image, weight}, {{"stride", {1, 2}}, {"padding", {0, 1}}})));
    CHECK(alike(tt::conv2d(image, weight, {}, {1, 1}, "same"), tt::call("conv2d", {image, weight}, {{"padding", "same"}})));
    CHECK(alike(tt::conv1d(line, tt::ones({1, 1, 3}), {}, 1, "same"), tt::conv1d(line, tt::ones({1, 1, 3}), {}, {1}, {1})));
    CHECK(alike(tt::convolution(image, weight, {}, {2, 2}, {0, 0}, {1, 1}, true, {0, 0}, 1), tt::conv_transpose2d(image, weight, {}, {2, 2})));
    const Tensor one = tt::ones({2}), rows = x.unsqueeze(2);
    CHECK(alike(tt::batch_norm(x, v, one, one, one * 4, false, 0.1, 0, true), (x - 1) / 2 * v + 1));
    CHECK(alike(tt::instance_norm(rows, v, one, one, one * 4, false, 0.1, 0, true), (rows - 1) / 2 * v.unsqueeze(1) + 1));
    CHECK(alike(tt::layer_norm(x, {2}, v, one, 1e-5, true), tt::layer_norm(x, {2}, v, one)));
    CHECK(alike(tt::group_norm(x, 1, v, one, 1e-5, true), tt::group_norm(x, 1, v, one)));
    const Tensor chances = tt::log_softmax(tt::arange(12, DType::f32).view({3, 2, 2}), -1);
    CHECK(alike(tt::ctc_loss(chances, tt::ones({2, 1}, DType::i64), {3, 3}, {1, 1}), tt::ctc_loss(chances, tt::ones({2, 1}, DType::i64), tt::tensor({3, 3}), tt::tensor({1, 1}))));
  }
}

TEST_CASE("numbers in braces are a list, no options") {
  using tt::Shape;
  const Tensor x = tt::rand({1, 2, 9, 9}, 1), w = tt::rand({3, 2, 3, 3}, 2), b = tt::rand({3}, 3), row = tt::rand({1, 2, 9}, 4), cube = tt::rand({1, 2, 9, 9, 9}, 5);
  CHECK(tt::conv2d(x, w, b, {2, 1}).shape() == Shape{1, 3, 4, 7});
  CHECK(tt::conv2d(x, w, b, {2, 1}, {1, 0}).shape() == Shape{1, 3, 5, 7});
  CHECK(tt::conv2d(x, w, b, {.stride = 2, .padding = 1}).shape() == Shape{1, 3, 5, 5});
  CHECK(tt::conv2d(x, w, b, {}).shape() == Shape{1, 3, 7, 7});
  CHECK(tt::max_pool2d(x, {3, 2}).shape() == Shape{1, 2, 3, 4});
  CHECK(tt::max_pool2d(x, {3, 2}, {1, 3}).shape() == Shape{1, 2, 7, 3});
  CHECK(tt::max_pool2d(x, {.kernel_size = 3, .stride = 2}).shape() == Shape{1, 2, 4, 4});
  CHECK(tt::avg_pool2d(x, {3, 2}).shape() == Shape{1, 2, 3, 4});
  CHECK(tt::max_pool1d(row, {3}, {1}).shape() == Shape{1, 2, 7});
  CHECK(tt::max_pool3d(cube, {3, 3, 3}, {1, 2, 3}).shape() == Shape{1, 2, 7, 4, 3});
  CHECK(tt::avg_pool3d(cube, {3, 3, 3}, {1, 2, 3}).shape() == Shape{1, 2, 7, 4, 3});
  CHECK(tt::max_pool2d_with_indices(x, {3, 3}, {1, 2}).indices.shape() == Shape{1, 2, 7, 4});
  CHECK(tt::var(x, {2, 3}).shape() == Shape{1, 2});
  CHECK(tt::std(x, {2, 3}).shape() == Shape{1, 2});
  CHECK(tt::std(x, {.dim = {2, 3}, .keepdim = true}).shape() == Shape{1, 2, 1, 1});
  CHECK(tt::allclose(tt::var(x, {3}, false), x.var({3}, 0)));  // true and false say whether it is unbiased, as in PyTorch
  CHECK(tt::allclose(x.std({3}, true), tt::sqrt(tt::var(x, 3))));
  CHECK(x.var({3}, 1, true).shape() == Shape{1, 2, 9, 1});
  Tensor own = tt::tensor({1.0, 2.0, 4.0});
  CHECK(tt::allclose(tt::var(own, false), own.var({}, 0)));
  CHECK(tt::allclose(tt::std(own * 2, true), own.std() * 2));
  std::int64_t two = 2;
  CHECK(tt::arange(8).tensor_split(two).size() == 2);  // parts, not a place
  CHECK(tt::hsplit(tt::arange(8), two)[1].numel() == 4);
}

TEST_CASE("isin of many") {
  for (const tt::DType d : {tt::DType::f32, tt::DType::i64, tt::DType::u8, tt::DType::boolean}) {
    const Tensor x = tt::randint(0, 60, {40, 50}).to(d), few = tt::randint(0, 60, {3, 2}).to(d), many = tt::randint(0, 60, {5, 8}).to(d);
    for (const Tensor& among : {few, many, many.reshape({-1}).slice(0, 0, 17)}) {
      Tensor expected = tt::zeros({40, 50}, tt::DType::boolean);
      for (int k = 0; k < among.numel(); ++k) expected = tt::logical_or(expected, tt::eq(x, among.reshape({-1}).select(0, k)));
      CHECK(same_bits(tt::isin(x, among), expected));
      CHECK(same_bits(tt::isin(x, among, false, true), tt::logical_not(expected)));
    }
  }
  const Tensor missing = tt::full({20}, NAN);
  CHECK(!tt::isin(missing, missing).any().item<bool>());
  CHECK(tt::isin(tt::tensor({5, 70}), tt::arange(64)).sum().item<int>() == 1);
  CHECK(tt::isin(tt::tensor({1, 2}), tt::arange(1.0, 30.5, 0.5)).all().item<bool>());  // of two dtypes
  CHECK(tt::isin(tt::zeros({0}), tt::arange(64)).numel() == 0);
  CHECK(tt::isin(tt::tensor(7), tt::arange(64)).item<bool>());
  const auto compiled = tt::compile([](const Tensor& x, const Tensor& among) { return tt::isin(x, among); });
  for (const int n : {3, 20, 40}) CHECK(same_bits(compiled(tt::arange(100), tt::arange(n) * 3), tt::isin(tt::arange(100), tt::arange(n) * 3)));
}

TEST_CASE("further forms, at their edges") {
  using tt::DType;
  Tensor i = tt::tensor({1, 2, 3});
  CHECK(numbers(tt::add(i, 2000000000, 2)) == Numbers{4000000001, 4000000002, 4000000003});
  CHECK(numbers(i.clone().add_(2000000000, 2)) == Numbers{4000000001, 4000000002, 4000000003});
  CHECK(numbers(tt::add(i, 1u, -1)) == Numbers{0, 1, 2});
  CHECK(message([&] { (void)tt::index_add(i, 0, tt::tensor({0}), tt::tensor({1}), 0.5); }).starts_with("tt::index_add: alpha is a float, and the elements are i64."));
  const Tensor a = tt::tensor({{1.0, 2.0}, {0.0, 3.0}});
  CHECK(tt::allclose(tt::linalg::pinv(a, 1e-3, 0), tt::linalg::inv(a), 1e-4, 1e-5));  // tolerances, not hermitian
  CHECK(tt::linalg::matrix_rank(a, 1e-3f, 1e-3).item<int>() == 2);
  Tensor row = tt::ones({1, 2});
  CHECK(row.squeeze_(tt::IntList{}).dim() == 2);
  CHECK(tt::where(tt::tensor(true)).size() == 1);
  CHECK(tt::result_type(tt::tensor(1.0, DType::f16), 2.0) == DType::f16);
  CHECK(tt::result_type(tt::tensor(1, DType::u8), 3) == DType::u8);
  CHECK(message([&] { (void)tt::fill(row, tt::ones({3})); }).starts_with("tt::fill: the value has shape (3,)"));
  CHECK(message([&] { (void)tt::normal(row, -1.0); }).starts_with("tt::normal: std"));
  CHECK(message([&] { (void)tt::histogram(row, 4, std::vector<double>{0, 1, 2}); }).starts_with("tt::histogram: range has 3 numbers"));
  CHECK(message([&] { (void)tt::randperm(300, DType::u8); }).starts_with("tt::randperm: 300 numbers are more than u8"));
  CHECK(tt::randperm(256, DType::u8).dtype() == DType::u8);
  const Tensor nowhere = tt::empty({2}, {.device = {tt::DeviceType::meta, 0}});
  CHECK(nowhere.to(tt::TensorOptions{.dtype = DType::f64}).is_meta());  // a device that is not said stays
  CHECK(tt::zeros_like(nowhere, row.options()).is_meta() == false);
  CHECK(tt::norm(tt::tensor({INFINITY, INFINITY}), -1).item() == INFINITY);
  CHECK(tt::norm(tt::tensor({0.0, 2.0}), -1).item() == 0);
  CHECK(message([&] { (void)tt::addmm(tt::ones({3}), a, a); }).starts_with("tt::addmm: shapes do not broadcast: (3,) and (2, 2)"));
  const Tensor column = i.reshape({3, 1}), line = i.reshape({1, 3}), square = column.expand({3, 3});
  CHECK(message([&] { (void)tt::addr(square, i, i, 0.5); }).starts_with("tt::addr: "));
  CHECK(same_bits(tt::addmm(square, column, line, 1.75, 2.5), tt::addmm(square, column, line, 1, 2)));  // of integers the whole part
  CHECK(message([&] { (void)tt::addmm(square, column, line, 1e30); }).starts_with("tt::addmm: option is out of range: beta"));
  const Tensor truth = tt::tensor({1.0, 0.0}) > 0;
  CHECK(same_bits(tt::addr(truth, truth, truth, 3, 2), truth.reshape({2, 1}).logical_and(truth).logical_or(truth)));
}

TEST_CASE("what has no variance is not normalised by it, and what is no range is not drawn from") {
  const Tensor one = tt::ones({1, 3});
  CHECK(contains(message([&] { tt::batch_norm(one, {}, {}, {}, {}, true); }), "one value for each channel"));
  CHECK(contains(message([&] { tt::batch_norm(tt::ones({2, 3}), {}, {}); }), "running_mean and running_var are needed"));
  CHECK_NOTHROW(tt::batch_norm(one, tt::zeros({3}), tt::ones({3})));
  CHECK(contains(message([] { tt::ones({2}).uniform_(2, 1); }), "`to` is below `from`"));
}

TEST_CASE("items that are Tensors without axes") {
  const Tensor x = tt::zeros({5, 7, 3});
  CHECK(x.index({tt::tensor(3), Slice(), tt::tensor({1})}).shape() == tt::Shape{7, 1});
  Tensor y = x.index({tt::tensor(1)});
  y.fill_(5);
  CHECK(x[1].sum().item() == 105);  // a view, as of the number
  const Tensor v = tt::arange(3);
  CHECK(numbers(v.index({true})) == Numbers{0, 1, 2});
  CHECK(v.index({true}).shape() == tt::Shape{1, 3});
  CHECK(v.index({tt::tensor(false)}).shape() == tt::Shape{0, 3});
  CHECK(x.index({Slice(), tt::tensor(true), 2}).shape() == tt::Shape{5, 1, 3});
  Tensor w = tt::zeros({2, 3});
  w.index_put_({0}, tt::ones({1, 1, 3}));
  w.index_put_({tt::tensor({1})}, tt::ones({1, 1, 3}));
  w.index_put_({tt::tensor(true)}, 2.0);
  CHECK(w.sum().item() == 12);
  w.index_put_({tt::tensor({0, 0})}, tt::ones({3}), true);
  CHECK(numbers(w) == Numbers{4, 4, 4, 2, 2, 2});
  // The same where a graph is recorded, and under vmap.
  const auto pick = [](const Tensor& t, const Tensor& k) { return t.index({k, Slice(), tt::tensor({1})}); };
  const Tensor ramp = tt::arange(105.0f).reshape({5, 7, 3});
  for (const int k : {3, -1}) CHECK(same_bits(tt::compile(pick)(ramp, tt::tensor(k)), pick(ramp, tt::tensor(k))));
  CHECK(tt::vmap([&](const Tensor& k) { return pick(ramp, k); })(tt::tensor({0, 4})).shape() == tt::Shape{2, 7, 1});
}

TEST_CASE("what PyTorch refuses of items, numbers and dtypes") {
  const Tensor v = tt::arange(6).reshape({3, 2});
  CHECK(contains(message([&] { v.index({tt::tensor({true, false})}); }), "tt::index: a mask of shape (2,) does not fit axis 0 of shape (3, 2)"));
  CHECK(contains(message([&] { Tensor(v).index_put_({Slice(), tt::tensor({true, false, true})}, 7); }), "a mask of shape (3,) does not fit axis 1"));
  Tensor bytes = tt::zeros({3}, DType::u8);
  CHECK(contains(message([&] { bytes.index_put_({0}, 300); }), "300"));
  CHECK(contains(message([&] { bytes.random_(0, 300); }), "tt::random_"));
  CHECK(contains(message([&] { bytes.random_(0, 0); }), "tt::random_: there is no number from 0 to below 0"));
  CHECK(contains(message([&] { bytes.random_(0, std::numeric_limits<std::int64_t>::min()); }), "there is no number"));
  CHECK(contains(message([&] { tt::randint(0, 300, {2}, {.dtype = DType::u8}); }), "tt::randint"));
  Tensor whole = tt::zeros({3}, DType::i64);
  CHECK(contains(message([&] { whole.index_put_({tt::tensor({0, 2})}, tt::tensor({1.5, 2.5})); }), "index_put"));
  CHECK(contains(message([&] { whole.exponential_(); }), "tt::exponential_: of i64"));
  CHECK(contains(message([] { tt::rand({2}, {.dtype = DType::i64}); }), "tt::rand: of i64. A floating dtype?"));
  CHECK(contains(message([] { tt::rand({2}).renorm(2, 0, 1); }), "tt::renorm: there are no slices"));
  CHECK(contains(message([] { tt::linalg::norm(tt::ones({2, 3, 4}), 2); }), "neither a vector nor a matrix"));
  CHECK(contains(message([&] { v.add(v, 1.5); }), "tt::add: alpha is a float, and the result is i64"));
  CHECK(contains(message([] { tt::interpolate(tt::ones({1, 1, 4, 4}), {8}, {}, "linear"); }), "the mode linear is for 1 axis"));
  CHECK(contains(message([] { tt::instance_norm(tt::ones({2, 3, 1})); }), "tt::instance_norm: one value for each channel of an example"));
  CHECK(contains(message([] { tt::conv_transpose1d(tt::ones({1, 1, 4}), tt::ones({1, 1, 3}), {}, {1}, {0}, {1}); }), "output_padding of 1"));
  CHECK(contains(message([&] { tt::vmap([](const Tensor& t) { return t; }, {.in_dims = {0, 0}})(v); }), "tt::vmap: 2 in_dims for 1 argument."));
}

TEST_CASE("dtypes of numbers, of alpha and of value") {
  CHECK(tt::full({2}, 1).dtype() == DType::i64);
  CHECK(tt::full({2}, true).dtype() == DType::boolean);
  CHECK(tt::full({2}, 1.0).dtype() == DType::f32);
  const Tensor i = tt::tensor({1, 2, 3}), narrow = i.to(DType::i32), half = i.to(DType::f16), mask = tt::tensor({true, false, true});
  CHECK(narrow.add(mask, 2).dtype() == DType::i32);
  CHECK(half.add(i, 1.5).dtype() == DType::f16);
  CHECK(numbers(mask.add(mask, 2)) == Numbers{1, 0, 1});
  CHECK(mask.add(mask, 2).dtype() == DType::boolean);
  CHECK(numbers(tt::call("sub", {i, i}, {{"alpha", 2}})) == Numbers{-1, -2, -3});
  CHECK(i.addcmul(i, i).dtype() == DType::i64);
  CHECK(tt::tensor({1e-3}).to(DType::f16).add(tt::tensor({1e-3}).to(DType::f16), 1e5).item() == doctest::Approx(100).epsilon(0.01));  // alpha is no f16
  CHECK(tt::zeros({1}, {.dtype = DType::f64}).add(tt::tensor({1}), 0.1).item() == 0.1);
  CHECK(numbers(tt::tensor({0}).add(tt::tensor({2}).to(DType::u8), 300)) == Numbers{600});
  Tensor own = i.clone();
  CHECK(numbers(own.addcmul_(i, i, 2)) == Numbers{3, 10, 21});
}

TEST_CASE("views that drop no axis are other Tensors all the same") {
  const Tensor x = tt::ones({2, 3});
  for (const Tensor& y : {x.squeeze(), x.squeeze(0), x.index({tt::Ellipsis}), x.view(DType::f32)}) {
    Tensor view = y;
    view.unsqueeze_(0);
    CHECK(x.shape() == tt::Shape{2, 3});
    view.mul_(2);
  }
  CHECK(x.sum().item() == 6 * 16);
}

TEST_CASE("roots of norms have a gradient of 0 at 0") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = tt::tensor({-1.0, -0.0, 0.0, 4.0, nan, inf}, DType::f64);
  static constexpr auto root = [](const Tensor& a) { return tt::call("_sqrt_flat_at_zero", {a}); };
  static constexpr auto slope = [](const Tensor& a) { return tt::grad([](const Tensor& v) { return root(v).sum(); })(a); };
  static constexpr auto second = [](const Tensor& a) { return tt::grad([](const Tensor& v) { return slope(v).sum(); })(a); };
  const Tensor roots = tt::tensor({0.0, 0.0, 0.0, 2.0, nan, inf}, DType::f64), slopes = tt::tensor({0.0, 0.0, 0.0, 0.25, nan, 0.0}, DType::f64),
               seconds = tt::tensor({0.0, 0.0, 0.0, -0.03125, nan, 0.0}, DType::f64);
  CHECK(tt::allclose(root(x), roots, 0, 0, true));
  CHECK(tt::allclose(slope(x), slopes, 0, 0, true));
  CHECK(tt::allclose(second(x), seconds, 0, 0, true));
  CHECK(same_bits(tt::compile(slope)(x), slope(x)));
  CHECK(same_bits(tt::compile(second)(x), second(x)));
  CHECK(tt::allclose(std::get<1>(tt::jvp(root, x, tt::ones_like(x))), slopes, 0, 0, true));
  const Tensor same = tt::ones({3, 4}, DType::f64);  // norms, deviations and distances of 0
  CHECK(tt::grad([](const Tensor& a) { return tt::std(a).sum() + tt::cdist(a, a).sum() + (a - 1).norm(); })(same).abs().sum().item() == 0);
}

TEST_CASE("norms of matrices, running statistics of instances") {
  const Tensor m = tt::tensor({{1.0, 2.0}, {3.0, 4.0}}, {.dtype = DType::f64});
  CHECK(tt::linalg::norm(m, 1).item() == 6);  // of columns, as no dim makes it a vector
  CHECK(tt::linalg::norm(m, 2).item() == doctest::Approx(5.4649857));
  CHECK(tt::linalg::norm(m).item() == doctest::Approx(5.4772256));
  CHECK(tt::linalg::norm(m, tt::none, {1}).shape() == tt::Shape{2});
  Tensor mean = tt::zeros({3}), var = tt::ones({3});
  tt::instance_norm(tt::arange(24.0f).reshape({2, 3, 4}), mean, var, {}, {}, true, 0.2);
  CHECK(tt::allclose(mean, tt::tensor({1.5, 2.3, 3.1})));
  CHECK(tt::allclose(var, tt::tensor({1.0, 1.0, 1.0}) * (0.8 + 0.2 * 5 / 3)));
}

TEST_CASE("names of torch.special, sizes of pools, ranks of convolutions, results that are undefined") {
  const Tensor x = tt::tensor({0.25, 0.5});
  CHECK(same_bits(tt::special::expit(x), x.sigmoid()));
  CHECK(same_bits(tt::special::logsumexp(x, 0), tt::logsumexp(x, 0)));
  CHECK(same_bits(tt::special::xlogy(x, 2.0), tt::xlogy(x, 2.0)));
  CHECK(same_bits(tt::call("special.expit", {x}), x.sigmoid()));
  CHECK(same_bits(tt::call("special.psi", {x}), x.digamma()));
  CHECK(tt::adaptive_max_pool2d(tt::rand({2, 4, 4}), 2).shape() == tt::Shape{2, 2, 2});
  CHECK(tt::adaptive_avg_pool3d(tt::rand({1, 2, 4, 4, 4}), 2).shape() == tt::Shape{1, 2, 2, 2, 2});
  CHECK(contains(message([] { tt::conv1d(tt::rand({1, 1, 5, 5}), tt::rand({1, 1, 3, 3})); }), "tt::conv1d: weights are of another rank"));
  CHECK(contains(message([] { tt::conv_transpose3d(tt::rand({1, 1, 5, 5}), tt::rand({1, 1, 3, 3})); }), "tt::conv_transpose3d: weights are of another rank"));
  const auto f = tt::compile([](const Tensor& a) { return std::tuple{a * 2, Tensor(), a + 1}; }, {.fullgraph = true});
  for (int k = 0; k < 2; ++k) {
    const auto [twice, nothing, more] = f(x);
    CHECK(same_bits(twice, x * 2));
    CHECK(!nothing.defined());
    CHECK(same_bits(more, x + 1));
  }
}

TEST_CASE("transposed convolutions are the gradients of convolutions by their images") {
  int cases = 0;
  for (const int axes : {1, 2, 3})
    for (const int kernel : {1, 2, 3, 4, 5})
      for (const int stride : {2, 3})
        for (const int padding : {0, 1})
          for (const int extra : {0, 1})
            for (const int groups : {1, 2}) {
              if (axes == 3 && (kernel > 3 || groups > 1)) continue;
              tt::IntList image{2, 4}, weight{4, 3}, strides, paddings, extras, wide{2, 3 * groups};
              for (int k = 0; k < axes; ++k) {
                const int n = 3 + k, s = k == 0 ? stride : stride == 2 ? 2 : 1, size = (n - 1) * s - 2 * padding + kernel + (s > extra ? extra : 0);
                if (size < 1) goto next;
                image.push_back(n);
                weight.push_back(kernel);
                strides.push_back(s);
                paddings.push_back(padding);
                extras.push_back(s > extra ? extra : 0);
                wide.push_back(size);
              }
              {
                const Tensor x = tt::rand(image, 1, {.dtype = DType::f64}), w = tt::rand(weight, 2, {.dtype = DType::f64}), u = tt::zeros(wide, {.dtype = DType::f64}).requires_grad_();
                const Tensor want = tt::grad({(tt::convolution(u, w, {}, strides, paddings, {1}, groups) * x).sum()}, {u})[0];
                CAPTURE(kernel);
                CHECK(tt::allclose(tt::convolution_transpose(x, w, {}, strides, paddings, extras, groups, {1}), want, 1e-12, 1e-12));
                ++cases;
              }
            next:;
            }
  CHECK(cases > 100);
  const Tensor x = tt::rand({1, 2, 4, 4}, 3, {.dtype = DType::f64}), w = tt::rand({2, 3, 3, 3}, 4, {.dtype = DType::f64}), b = tt::tensor({1.0, 2.0, 3.0}, {.dtype = DType::f64});
  const auto f = [&](const std::vector<Tensor>& t) { return tt::conv_transpose2d(t[0], t[1], t[2], {2}, {1}, {1}).sin().sum(); };
  CHECK(tt::gradcheck(f, {x.clone().requires_grad_(), w.clone().requires_grad_(), b.clone().requires_grad_()}));
  const auto up = tt::compile([](const Tensor& t, const Tensor& by) { return tt::conv_transpose2d(t, by, {}, {2}); });
  for (const int n : {4, 5, 7}) CHECK(same_bits(up(x.slice(2, 0, 3).expand({n, 2, 3, 4}), w), tt::conv_transpose2d(x.slice(2, 0, 3).expand({n, 2, 3, 4}), w, {}, {2})));
  CHECK(contains(message([&] { tt::conv_transpose2d(x, w, tt::ones({1}, {.dtype = DType::f64}), {2}); }), "the bias is not one number for each channel"));
  CHECK(contains(message([&] { tt::conv_transpose2d(x, w.slice(0, 0, 1), {}, {2}); }), "images have other channels than weights take"));
}

TEST_CASE("calls that differed from PyTorch's: dtypes of integers, sizes that are said, copies of any layout, singular matrices") {
  const Tensor whole = tt::tensor({-3, 0, 5}), other = tt::tensor({1, 2, 3});
  const Tensor sum = tt::call("l1_loss", {whole, other}, {{"reduction", "sum"}});
  CHECK(sum.dtype() == DType::i64);
  CHECK(numbers(sum) == Numbers{8});
  CHECK_THROWS_AS((void)tt::call("repeat_interleave", {whole, 2}, {{"output_size", 5}}), tt::Error);
  CHECK(numbers(tt::call("repeat_interleave", {whole, 2}, {{"output_size", 6}})) == Numbers{-3, -3, 0, 0, 5, 5});
  CHECK(numbers(tt::call("view_copy", {tt::arange(6).reshape({2, 3}).t(), tt::IntList{6}})) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(tt::call_results("lu", {tt::ones({3, 3})}).size() == 2);
  CHECK(tt::arange(whole.size(0), {.dtype = DType::f32}).dtype() == DType::f32);
}
