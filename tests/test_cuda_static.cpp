// The bodies of static kernels on the CPU, threads as fibres: cuda/static_cases.hpp behind the shim.
#include "cuda/shim.hpp"

#include "cuda/fake.hpp"

namespace {
const bool chosen = [] {
  fake::choose_driver();
  setenv("TT_CUBLASLT", TT_FAKE_CUBLASLT, 1);
  setenv("TT_CUDNN", TT_FAKE_CUDNN, 1);
  return true;
}();
}  // namespace

#include "cuda/static_cases.hpp"

TEST_CASE("libraries get the products and convolutions of static plans, where that was asked for") {
  const auto products = [] { return fake::count_of(TT_FAKE_CUBLASLT, "fake_cublaslt_count", "products"); };
  const auto convolutions = [] { return fake::count_of(TT_FAKE_CUDNN, "fake_cudnn_count", "convolutions"); };
  const long before = products(), convolutions_before = convolutions();
  const auto product = [](auto x, auto w) { return tt::matmul(x, w); };
  const auto convolution = [](auto x, auto w) { return tt::conv2d(x, w); };
  const auto a = numbers<float, 20, 32>(1);
  const auto b = numbers<float, 32, 12>(2);
  const auto x = numbers<float, 2, 3, 9, 8>(3);
  const auto w = numbers<float, 5, 3, 3, 3>(4);
  CHECK(agrees(product, a, b));
  CHECK(agrees(convolution, x, w));
  CHECK(products() == before);
  CHECK(convolutions() == convolutions_before);
  const WithLibraries with;
  for (int k = 0; k < 3; ++k) {
    CHECK(is_close(product, a, b));
    CHECK(is_close(convolution, x, w));
  }
  CHECK(products() == before + 3);
  CHECK(convolutions() == convolutions_before + 3);
}
