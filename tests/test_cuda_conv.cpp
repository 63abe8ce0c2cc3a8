// Convolutions by cuDNN, on a fake of it (cuda/fake_cudnn.cpp) that checks descriptors, and computes in another order: which
// kernels it is given, how they are described, what they give, and that own tiles do all others with the bits of the CPU.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>

#include "cuda/with_library.hpp"
#include "tt/backends/cuda/program.hpp"
#include "tt/tt.hpp"

namespace {

using tt::Conv2dOptions;
using tt::Tensor;
using tt::cuda::ConvLibrary;
using tt::cuda::ConvSettings;
const bool chosen = [] {
  fake::choose_driver();
  if (!fake::is_real()) setenv("TT_CUDNN", TT_FAKE_CUDNN, 1);
  need_library(tt::cuda::cudnn_unavailable_reason());
  return true;
}();

/// Convolutions of any size are the library's while this lives.
using WithLibrary = WithSettings<ConvSettings, tt::cuda::set_conv_settings>;
long count(const char* what) { return fake::count_of(TT_FAKE_CUDNN, "fake_cudnn_count", what); }
template <class F>
long more(const char* what, const F& f) {
  return more_of(count, what, f);
}
/// Sums of up to 200 terms in another order.
bool close(const Tensor& on_device, const Tensor& on_cpu) { return close_within(2e-5, 1e-12, on_device, on_cpu); }
/// Of a layer with a bias and relu, compiled, on the device by the library and against the CPU: how many convolutions, and
/// how many of these were described as dense images.
struct Ran {
  long convolutions, dense;
  friend bool operator==(const Ran&, const Ran&) = default;
};
constexpr Ran once{1, 1};
Ran layer(const Conv2dOptions& o, const tt::IntList& images, const tt::IntList& weights) {
  const auto f = [](const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dOptions& options) {
    return tt::relu(tt::conv2d(x, w, b, options));
  };
  const Tensor x = values(images), w = values(weights, 2), b = values({weights[0]}, 3);
  auto compiled = tt::compile(tt::frozen([&](const Tensor& p, const Tensor& q, const Tensor& r) { return f(p, q, r, o); }));
  const WithLibrary with;
  Tensor there;
  long dense = 0;
  const long ran = more("convolutions", [&] { dense = more("dense", [&] { there = compiled(x.cuda(), w.cuda(), b.cuda()); }); });
  CHECK(close(there, f(x, w, b, o)));
  return fake::is_real() ? once : Ran{ran, dense};
}

}  // namespace

TEST_CASE("own tiles are the default: no library is asked, bits are the CPU's") {
  const Tensor x = values({2, 3, 9, 8}), w = values({4, 3, 3, 3}, 2);
  CHECK(more("convolutions", [&] { CHECK(same_bits(tt::conv2d(x.cuda(), w.cuda()).cpu(), tt::conv2d(x, w))); }) == 0);
  CHECK(tt::cuda::cudnn_unavailable_reason().empty());
  CHECK(tt::cuda::conv_settings().smallest == 512 * 512 * 512);
}

TEST_CASE("images of any size are one capture on the device, too") {
  const Tensor w = values({4, 3, 3, 2}, 2);
  const auto f = [](const Tensor& x, const Tensor& weights) { return tt::relu(tt::conv2d(x, weights, {.stride = {2, 1}, .padding = 1})); };
  const auto gradient = [](const Tensor& x, const Tensor& weights) {
    constexpr auto loss = [](const Tensor& u, const Tensor& v) { return tt::conv2d(u, v, {.stride = {2, 1}, .padding = 1}).square().sum(); };
    return tt::value_and_grad(loss)(x, weights).second;
  };
  const auto compiled = tt::compile(f);
  const auto compiled_gradient = tt::compile(gradient);
  for (const auto& [n, height, width] : {std::array{5, 9, 8}, {6, 10, 7}, {7, 8, 13}}) {
    const Tensor x = values({n, 3, height, width});
    CHECK(same_bits(compiled(x.cuda(), w.cuda()).cpu(), f(x, w)));
    CHECK(same_bits(compiled_gradient(x.cuda(), w.cuda()).cpu(), gradient(x, w)));
  }
  CHECK_MESSAGE(compiled.captures() == 1, compiled.explain());
  CHECK_MESSAGE(compiled_gradient.captures() == 1, compiled_gradient.explain());
}

TEST_CASE("convolutions are described as what they are") {
  CHECK(layer({}, {2, 3, 9, 8}, {4, 3, 3, 2}) == once);
  CHECK(layer({.padding = 1}, {2, 3, 9, 8}, {4, 3, 3, 3}) == once);
  CHECK(layer({.stride = 2}, {2, 3, 9, 8}, {4, 3, 3, 3}) == once);  // the last column is read by no window
  CHECK(layer({.stride = {1, 2}, .dilation = {2, 1}}, {2, 3, 9, 10}, {4, 3, 3, 3}) == once);
  CHECK(layer({.stride = {1, 2}}, {2, 3, 9, 8}, {4, 3, 3, 2}).convolutions == 1);
  CHECK(layer({.stride = {4, 3}}, {1, 3, 9, 6}, {4, 3, 1, 3}).convolutions <= 1);  // the rows' distance is not what it seems
  CHECK(layer({.stride = {1, 2}}, {2, 3, 9, 8}, {4, 3, 1, 3}).convolutions <= 1);
  CHECK(layer({.dilation = {2, 3}}, {1, 3, 9, 8}, {4, 3, 3, 2}) == once);
  CHECK(layer({.groups = 2}, {2, 4, 9, 8}, {6, 2, 3, 3}) == once);
  CHECK(layer({.groups = 4}, {2, 4, 9, 8}, {4, 1, 3, 3}) == once);  // a channel each
  CHECK(layer({.groups = 4}, {1, 4, 9, 8}, {8, 1, 3, 3}) == once);
  CHECK(layer({}, {2, 1, 9, 8}, {4, 1, 3, 3}) == once);
  CHECK(layer({}, {2, 3, 9, 8}, {1, 3, 3, 3}) == once);  // its bias is a single element
}

TEST_CASE("windows that are a row, a column, an element or the image") {
  CHECK((fake::is_real() || layer({}, {2, 3, 9, 8}, {4, 3, 1, 1}).convolutions == 0));  // a product of matrices
  CHECK(layer({.stride = 2}, {2, 3, 9, 8}, {4, 3, 1, 1}) == once);
  CHECK(layer({}, {2, 3, 9, 8}, {4, 3, 1, 3}) == once);
  CHECK(layer({}, {2, 3, 9, 8}, {4, 3, 3, 1}) == once);
  CHECK(layer({.stride = 4}, {2, 3, 8, 16}, {4, 3, 4, 4}) == once);
  CHECK(layer({}, {2, 3, 9, 8}, {4, 3, 9, 3}).convolutions <= 1);
  CHECK(layer({}, {2, 3, 9, 8}, {4, 3, 3, 8}).convolutions <= 1);
  CHECK(layer({}, {2, 3, 1, 16}, {4, 3, 1, 3}).convolutions == 1);
  CHECK(layer({}, {2, 3, 16, 1}, {4, 3, 3, 1}).convolutions == 1);
  CHECK(layer({.stride = {2, 1}}, {2, 3, 9, 8}, {4, 3, 3, 3}).convolutions == 1);
}

TEST_CASE("a bias and relu are the library's; what follows otherwise is a launch behind it") {
  const auto run = [](const auto& f, const auto&... on_cpu) {
    auto compiled = tt::compile(f);
    const WithLibrary with;
    Tensor there;
    const long n = more("convolutions", [&] { there = compiled(on_cpu.cuda()...); });
    CHECK(close(there, f(on_cpu...)));
    return fake::is_real() ? 1 : n;
  };
  const Tensor x = values({2, 3, 9, 8}), w = values({4, 3, 3, 3}, 2), b = values({4}, 3);
  const long fused = count("fused"), biased = count("with bias"), relus = count("with relu");
  CHECK(run([](const Tensor& p, const Tensor& q, const Tensor& r) { return tt::relu(tt::conv2d(p, q, r)); }, x, w, b) == 1);
  CHECK(run([](const Tensor& p, const Tensor& q, const Tensor& r) { return tt::conv2d(p, q, r); }, x, w, b) == 1);
  CHECK(run([](const Tensor& p, const Tensor& q) { return tt::relu(tt::conv2d(p, q)); }, x, w) == 1);
  CHECK(run([](const Tensor& p, const Tensor& q) { return tt::conv2d(p, q); }, x.to(tt::DType::f64), w.to(tt::DType::f64)) == 1);
  if (!fake::is_real()) {
    CHECK(count("fused") == fused + 1);
    CHECK(count("with bias") == biased + 2);
    CHECK(count("with relu") == relus + 2);
  }
  CHECK(run([](const Tensor& p, const Tensor& q) { return tt::tanh(tt::conv2d(p, q)); }, x, w) == 1);
  CHECK(run([](const Tensor& p, const Tensor& q, const Tensor& r) { return tt::exp(tt::conv2d(p, q, r) * 0.1f); }, x, w, b) == 1);
}

TEST_CASE("a small network and its gradients: each layer's result is stored where the next one's margin is") {
  const auto loss = [](const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& v) {
    const Tensor h = tt::relu(tt::conv2d(x, w, b, {.padding = 1}));
    return tt::mean(tt::square(tt::conv2d(h, v, {.padding = 1})));
  };
  const Tensor x = values({2, 3, 8, 8}), w = values({4, 3, 3, 3}, 2), b = values({4}, 3), v = values({5, 4, 3, 3}, 4);
  const WithLibrary with;
  const auto gradients = [&](bool on_device) {
    std::vector<Tensor> leaves;
    for (const Tensor& t : {x, w, b, v}) leaves.push_back((on_device ? t.cuda() : t.clone()).detach().requires_grad_());
    tt::compile(loss)(leaves[0], leaves[1], leaves[2], leaves[3]).backward();
    for (Tensor& t : leaves) t = t.grad();
    return leaves;
  };
  std::vector<Tensor> there;
  const long n = more("convolutions", [&] { there = gradients(true); });
  const std::vector<Tensor> here = gradients(false);
  for (std::size_t k = 0; k < here.size(); ++k) CHECK(close(there[k], here[k]));
  CHECK((fake::is_real() || n == 4));  // two layers, and what flows into the images of each
}

TEST_CASE("what is added is the memory of the result") {
  auto f = tt::compile([](Tensor& state, const Tensor& x, const Tensor& w) { state = state + tt::conv2d(x, w, {.stride = 2}); });
  const Tensor x = tt::ones({1, 2, 4, 4}), w = tt::ones({4, 2, 3, 3});
  Tensor state = tt::full({1, 4, 1, 1}, 1000.0).cuda();
  const WithLibrary with;
  f(state, x.cuda(), w.cuda());
  CHECK(numbers(state.cpu()) == Numbers{1018, 1018, 1018, 1018});
}

TEST_CASE("explain says which convolutions are whose, and why") {
  const auto f = [](const Tensor& p, const Tensor& q) { return tt::conv2d(p, q); };
  const Tensor x = values({2, 4, 8, 8}), w = values({4, 4, 3, 3}, 2), gx = x.cuda(), gw = w.cuda();
  auto compiled = tt::compile(f);
  const auto explain = [&] { return std::string(compiled.explain()); };
  CHECK(same_bits(compiled(gx, gw).cpu(), f(x, w)));
  CHECK(!contains(explain(), "cuDNN"));
  {
    const WithLibrary with({.library = ConvLibrary::cudnn});
    CHECK(same_bits(compiled(gx, gw).cpu(), f(x, w)));
    CHECK(contains(explain(), "0 convolutions by cuDNN; others by own tiles: fewer multiply-adds than 134217728\n"));
  }
  {
    const WithLibrary with;
    CHECK(close(compiled(gx, gw), f(x, w)));
    CHECK(contains(explain(), "1 convolutions by cuDNN"));
    const Tensor apart = values({4 * 4 * 9 + 1}).cuda().slice(0, 1, 4 * 4 * 9 + 1).reshape({4, 4, 3, 3});  // 4 bytes from where vectors begin
    CHECK(same_bits(compiled(gx, apart).cpu(), f(x, apart.cpu())));
    CHECK(contains(explain(), "1 by own tiles, as operands were not aligned to 16 bytes"));
  }
  CHECK(same_bits(compiled(gx, gw).cpu(), f(x, w)));  // settings hold from call to call
}

TEST_CASE("f32 is f32: TF32 where it is allowed only") {
  if (fake::is_real()) return;
  const Tensor x = values({2, 4, 8, 8}).cuda(), w = values({4, 4, 3, 3}, 2).cuda();
  {
    const WithLibrary with;
    CHECK(more("by TF32", [&] { tt::conv2d(x, w); }) == 0);
  }
  const WithLibrary with({.library = ConvLibrary::cudnn, .smallest = 1, .allow_tf32 = true});
  CHECK(more("by TF32", [&] { tt::conv2d(x, w); }) == 1);
}

TEST_CASE("no library, no algorithm, a failure") {
  if (fake::is_real()) return;
  using tt::cuda::Cudnn;
  const char* nowhere[] = {"/no/such/libcudnn.so"};
  CHECK(std::string(Cudnn::open(nowhere, 1).why_not()).starts_with("cuDNN cannot be opened: /no/such/libcudnn.so: "));
  const char* another[] = {"libm.so.6"};
  CHECK(std::string(Cudnn::open(another, 1).why_not()) == "this cuDNN does not fit: it has no cudnnCreate");
  const WithLibrary with;
  const Tensor x = values({3, 4, 8, 8}), w = values({4, 4, 3, 3}, 2), gx = x.cuda(), gw = w.cuda();
  auto f = tt::compile([](const Tensor& p, const Tensor& q) { return tt::conv2d(p, q); });
  {
    const fake::Setting none("FAKE_CUDNN_NO_ALGORITHM", "1");
    CHECK(same_bits(f(gx, gw).cpu(), tt::conv2d(x, w)));
    CHECK(contains(std::string(f.explain()), "0 convolutions by cuDNN; others by own tiles: the library has no algorithm for it\n"));
  }
  const Tensor y = values({5, 4, 8, 8}).cuda();
  const fake::Setting fails("FAKE_CUDNN_FAILS", "1");
  CHECK(message<tt::Error>([&] { tt::conv2d(y, gw); }).starts_with("tt::cuda: cudnnConvolutionForward failed: CUDNN_STATUS_EXECUTION_FAILED."));
}

TEST_CASE("descriptors end with the programs they belong to") {
  if (fake::is_real()) return;
  const WithLibrary with;
  const Tensor x = values({2, 4, 8, 8}).cuda(), w = values({4, 4, 3, 3}, 2).cuda(), b = values({4}, 3).cuda();
  CHECK(more("alive", [&] {
          auto f = tt::compile([](const Tensor& p, const Tensor& q, const Tensor& r) { return tt::relu(tt::conv2d(p, q, r)); });
          f(x, w, b);
        }) == 0);
}

TEST_CASE("NVIDIA's own library takes what it is told, where it is installed: this needs no device") {
  using tt::cuda::Cudnn;
  const tt::cuda::ToolkitNames names("TT_CUDNN_OF_THE_TOOLKIT", "libcudnn.so", "9");
  const Cudnn dnn = Cudnn::open(names.begin(), names.count());
  if (!dnn.why_not().empty()) {
    std::printf("[SKIPPED cudnn] %s\n", tt::Text(dnn.why_not()).c_str());
    return;
  }
  tt::cuda::Handle tensor = nullptr, filter = nullptr, convolution = nullptr, activation = nullptr;
  REQUIRE(dnn.create_tensor(&tensor) == 0);
  CHECK(dnn.set_tensor(tensor, Cudnn::f32, 2, 4, 8, 8, 256, 64, 8, 1) == 0);
  CHECK(dnn.set_tensor(tensor, Cudnn::f64, 2, 4, 8, 8, 512, 128, 16, 1) == 0);
  CHECK(dnn.set_tensor(tensor, Cudnn::f32, 2, 4, 8, 0, 256, 64, 8, 1) != 0);
  REQUIRE(dnn.create_filter(&filter) == 0);
  CHECK(dnn.set_filter(filter, Cudnn::f32, Cudnn::nchw, 4, 2, 3, 3) == 0);
  REQUIRE(dnn.create_convolution(&convolution) == 0);
  CHECK(dnn.set_convolution(convolution, 0, 0, 1, 2, 2, 1, Cudnn::cross_correlation, Cudnn::f32) == 0);
  CHECK(dnn.set_groups(convolution, 2) == 0);
  CHECK(dnn.set_math(convolution, Cudnn::fma_math) == 0);
  CHECK(dnn.set_math(convolution, Cudnn::any_math) == 0);
  REQUIRE(dnn.create_activation(&activation) == 0);
  CHECK(dnn.set_activation(activation, Cudnn::relu, Cudnn::propagate_nan, 0) == 0);
  CHECK(std::string(dnn.status_string(0)) == "CUDNN_STATUS_SUCCESS");
  CHECK(dnn.destroy_tensor(tensor) == 0);
  CHECK(dnn.destroy_filter(filter) == 0);
  CHECK(dnn.destroy_convolution(convolution) == 0);
  CHECK(dnn.destroy_activation(activation) == 0);
}
