// Products of matrices by cuBLASLt, on a fake of it (cuda/fake_cublaslt.cpp) that checks layouts, leading
// dimensions, epilogues and alignment, and computes in another order: which products it is given, what they
// give, and that own tiles do all others with the bits of the CPU.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "cuda/with_library.hpp"
#include "tt/backends/cuda/program.hpp"
#include "tt/tt.hpp"

namespace {

using tt::Tensor;
using tt::cuda::BlasLibrary;
using tt::cuda::MatmulSettings;
const bool chosen = [] {
  fake::choose_driver();
  if (!fake::is_real()) setenv("TT_CUBLASLT", TT_FAKE_CUBLASLT, 1);
  need_library(tt::cuda::cublaslt_unavailable_reason());
  return true;
}();

/// Products of any size are the library's while this lives.
using WithLibrary = WithSettings<MatmulSettings, tt::cuda::set_matmul_settings>;
long products(const char* what = "products") { return fake::count_of(TT_FAKE_CUBLASLT, "fake_cublaslt_count", what); }
template <class F>
long more(const char* what, const F& f) {
  return more_of(products, what, f);
}
bool close(const Tensor& on_device, const Tensor& on_cpu) { return close_within(1e-5, 1e-13, on_device, on_cpu); }
/// On the device by the library, against the CPU; returns the products that the library computed.
template <class F>
long by_library(const F& f, const auto&... on_cpu) {
  const WithLibrary with;
  Tensor there;
  const long n = more("products", [&] { there = f(on_cpu.cuda()...); });
  CHECK(close(there, f(on_cpu...)));
  return fake::is_real() ? 1 : n;
}

}  // namespace

TEST_CASE("own tiles are the default: no library is asked, bits are the CPU's") {
  const Tensor a = values({20, 30}), b = values({30, 12}, 2);
  CHECK(more("products", [&] { CHECK(same_bits(tt::matmul(a.cuda(), b.cuda()).cpu(), tt::matmul(a, b))); }) == 0);
  CHECK(tt::cuda::cublaslt_unavailable_reason().empty());
  CHECK(tt::cuda::matmul_settings().smallest == 512 * 512 * 512);
}

TEST_CASE("products by the library: every layout, f32 and f64, vectors, batches") {
  const auto product = [](const Tensor& a, const Tensor& b) { return tt::matmul(a, b); };
  const Tensor a = values({20, 32}), b = values({32, 12}, 2);
  CHECK(by_library(product, a, b) == 1);
  CHECK(by_library([](const Tensor& x, const Tensor& y) { return tt::matmul(x.t(), y); }, values({32, 20}), b) == 1);
  CHECK(by_library([](const Tensor& x, const Tensor& y) { return tt::matmul(x, y.t()); }, a, values({12, 32})) == 1);
  CHECK(by_library([](const Tensor& x, const Tensor& y) { return tt::matmul(x.t(), y.t()); }, values({32, 20}), values({12, 32})) == 1);
  CHECK(by_library(product, a.to(tt::DType::f64), b.to(tt::DType::f64)) == 1);
  CHECK(by_library(product, values({1, 32}), b) == 1);
  CHECK(by_library(product, a, values({32, 1})) == 1);
  const Tensor wide = values({20, 64});
  CHECK(by_library([](const Tensor& x, const Tensor& y) { return tt::matmul(x.slice(1, 16, 48), y); }, wide, b) == 1);  // rows further apart
  const long batched = products("batched");
  CHECK(by_library(product, values({3, 20, 32}), values({3, 32, 12})) == 1);
  CHECK((fake::is_real() || products("batched") == batched + 1));
}

TEST_CASE("a bias along the columns and relu are the library's; what follows otherwise is a launch behind it") {
  const auto run = [](const auto& f, const auto&... on_cpu) {
    auto compiled = tt::compile(f);
    const WithLibrary with;
    Tensor there;
    const long n = more("products", [&] { there = compiled(on_cpu.cuda()...); });
    CHECK(close(there, f(on_cpu...)));
    return fake::is_real() ? 1 : n;
  };
  const Tensor a = values({20, 32}), b = values({32, 12}, 2), bias = values({12}, 3), column = values({20, 1}, 4);
  const long biased = products("with bias"), relus = products("with relu");
  CHECK(run([](const Tensor& x, const Tensor& y, const Tensor& z) { return tt::matmul(x, y) + z; }, a, b, bias) == 1);
  CHECK(run([](const Tensor& x, const Tensor& y, const Tensor& z) { return tt::relu(z + tt::matmul(x, y)); }, a, b, bias) == 1);
  CHECK(run([](const Tensor& x, const Tensor& y) { return tt::relu(tt::matmul(x, y)); }, a, b) == 1);
  if (!fake::is_real()) {
    CHECK(products("with bias") == biased + 2);
    CHECK(products("with relu") == relus + 2);
  }
  CHECK(run([](const Tensor& x, const Tensor& y, const Tensor& z) { return tt::matmul(x, y) + z; }, a, b, column) == 1);
  CHECK(run([](const Tensor& x, const Tensor& y, const Tensor& z) { return tt::matmul(x, y) - z; }, a, b, bias) == 1);
  CHECK(run([](const Tensor& x, const Tensor& y) { return tt::tanh(tt::matmul(x, y)); }, a, b) == 1);
  CHECK(run([](const Tensor& x, const Tensor& y) { return tt::matmul(x, y) * 2.0f; }, a, b) == 1);
  CHECK(run([](const Tensor& x, const Tensor& y) { return tt::tanh(tt::matmul(x, y)); }, values({3, 20, 32}), values({3, 32, 12})) == 1);
  CHECK(run([](const Tensor& x, const Tensor& y) { return tt::matmul(x, y).sum(-1); }, values({3, 20, 32}), values({3, 32, 12})) == 1);
}

TEST_CASE("explain says which products are whose, and why") {
  const auto linear = [](const Tensor& x, const Tensor& y, const Tensor& z) { return tt::relu(tt::matmul(x, y) + z); };
  const Tensor a = values({20, 32}), b = values({32, 12}, 2), bias = values({12}, 3);
  const Tensor ga = a.cuda(), gb = b.cuda(), gbias = bias.cuda();
  auto f = tt::compile(linear);
  const auto explain = [&] { return std::string(f.explain()); };
  CHECK(same_bits(f(ga, gb, gbias).cpu(), linear(a, b, bias)));
  CHECK(!contains(explain(), "cuBLASLt"));
  {
    const WithLibrary with({.library = BlasLibrary::cublaslt});
    CHECK(same_bits(f(ga, gb, gbias).cpu(), linear(a, b, bias)));
    CHECK(contains(explain(), "0 products by cuBLASLt; others by own tiles: fewer multiply-adds than 134217728\n"));
  }
  {
    const WithLibrary with;
    CHECK(close(f(ga, gb, gbias), linear(a, b, bias)));
    CHECK(contains(explain(), "1 products by cuBLASLt"));
    const Tensor apart = values({20 * 32 + 1}).cuda().slice(0, 1, 20 * 32 + 1).reshape({20, 32});  // 4 bytes from where vectors begin
    CHECK(same_bits(f(apart, gb, gbias).cpu(), linear(apart.cpu(), b, bias)));
    CHECK(contains(explain(), "1 by own tiles, as operands were not aligned to 16 bytes"));
  }
  CHECK(same_bits(f(ga, gb, gbias).cpu(), linear(a, b, bias)));  // settings hold from call to call
  if (fake::is_real()) return;
  const WithLibrary with;
  auto other = tt::compile([](const Tensor& x, const Tensor& y) { return tt::matmul(x, y); });
  const Tensor whole = tt::arange(12).reshape({3, 4}).cuda();
  CHECK(same_bits(other(whole, whole.t()).cpu(), tt::matmul(whole.cpu(), whole.cpu().t())));
  CHECK(contains(std::string(other.explain()), "0 products by cuBLASLt; others by own tiles: integers\n"));
  auto twice = tt::compile([](const Tensor& x, const Tensor& y, const Tensor& z) { return tt::matmul(tt::matmul(x, y), z); },
                           {.mode = tt::CompileMode::reduce_overhead});
  const Tensor c = values({12, 20}, 9), gc = c.cuda();
  for (int call = 0; call < 3; ++call) CHECK(close(twice(ga, gb, gc), tt::matmul(tt::matmul(a, b), c)));
  CHECK(contains(std::string(twice.explain()), "0 of 3 runs replayed as a CUDA graph"));
  CHECK(contains(std::string(twice.explain()), "6 products by cuBLASLt"));
}

TEST_CASE("f32 is f32: TF32 where it is allowed only") {
  if (fake::is_real()) return;
  const Tensor a = values({20, 32}).cuda(), b = values({32, 12}, 2).cuda();
  {
    const WithLibrary with;
    CHECK(more("by TF32", [&] { tt::matmul(a, b); }) == 0);
  }
  const WithLibrary with({.library = BlasLibrary::cublaslt, .smallest = 1, .allow_tf32 = true});
  CHECK(more("by TF32", [&] { tt::matmul(a, b); }) == 1);
  CHECK(more("by TF32", [&] { tt::matmul(a.to(tt::DType::f64), b.to(tt::DType::f64)); }) == 0);
}

TEST_CASE("training: products of forward and backward by the library") {
  const auto step = [](Tensor& w, const Tensor& x, const Tensor& y) {
    const auto loss_of = [](const auto& v, const auto& p, const auto& q) { return tt::mean(tt::square(tt::matmul(p, v) - q)); };
    const auto [loss, g] = tt::value_and_grad(loss_of)(w, x, y);
    w -= g * 0.1f;
    return loss;
  };
  const WithLibrary with;
  Tensor w = values({32, 12}, 3), gw = w.cuda();
  const Tensor x = values({20, 32}), y = values({20, 12}, 4), gx = x.cuda(), gy = y.cuda();
  for (int k = 0; k < 4; ++k) CHECK(close(step(gw, gx, gy), step(w, x, y)));
  CHECK(close(gw, w));
}

TEST_CASE("no library, no algorithm, a failure") {
  if (fake::is_real()) return;
  const char* nowhere[] = {"/no/such/libcublasLt.so"};
  CHECK(std::string(tt::cuda::CublasLt::open(nowhere, 1).why_not()).starts_with("cuBLASLt cannot be opened: /no/such/libcublasLt.so: "));
  const char* another[] = {"libm.so.6"};
  CHECK(std::string(tt::cuda::CublasLt::open(another, 1).why_not()) == "this cuBLASLt is too old: it has no cublasLtCreate");
  const WithLibrary with;
  const Tensor a = values({24, 32}), b = values({32, 12}, 2), ga = a.cuda(), gb = b.cuda();
  auto f = tt::compile([](const Tensor& x, const Tensor& y) { return tt::matmul(x, y); });
  {
    const fake::Setting none("FAKE_CUBLASLT_NO_ALGORITHM", "1");
    CHECK(same_bits(f(ga, gb).cpu(), tt::matmul(a, b)));
    CHECK(contains(std::string(f.explain()), "0 products by cuBLASLt; others by own tiles: the library has no algorithm for it\n"));
  }
  const Tensor c = values({20, 32}).cuda();
  const fake::Setting fails("FAKE_CUBLASLT_FAILS", "1");
  CHECK(message<tt::Error>([&] { tt::matmul(c, gb); }).starts_with("tt::cuda: cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED."));
}

TEST_CASE("descriptions and layouts end with the programs they belong to") {
  if (fake::is_real()) return;
  const WithLibrary with;
  const Tensor a = values({20, 32}).cuda(), b = values({32, 12}, 2).cuda();
  CHECK(more("alive", [&] {
          auto f = tt::compile([](const Tensor& x, const Tensor& y) { return tt::matmul(x, y); });
          f(a, b);
        }) == 0);
}

TEST_CASE("the toolkit's own library takes what it is told, where it is installed: this needs no device") {
  using tt::cuda::CublasLt;
  const tt::cuda::ToolkitNames names("TT_CUBLASLT_OF_THE_TOOLKIT", "libcublasLt.so");
  const CublasLt lt = CublasLt::open(names.begin(), names.count());
  if (!lt.why_not().empty()) {
    std::printf("[SKIPPED cuda] %s\n", tt::Text(lt.why_not()).c_str());
    return;
  }
  tt::cuda::Handle description = nullptr, layout = nullptr, preference = nullptr;
  REQUIRE(lt.create_description(&description, CublasLt::f32, CublasLt::real_f32) == 0);
  const std::int32_t yes = 1, count = 3;
  const std::uint32_t follows = CublasLt::relu | CublasLt::bias, bytes = 16;
  const std::int64_t stride = 384;
  const std::uint64_t room = 1 << 25;
  const void* const bias = &bytes;
  CHECK(lt.set_description(description, CublasLt::transpose_a, &yes, sizeof yes) == 0);
  CHECK(lt.set_description(description, CublasLt::transpose_b, &yes, sizeof yes) == 0);
  CHECK(lt.set_description(description, CublasLt::epilogue, &follows, sizeof follows) == 0);
  CHECK(lt.set_description(description, CublasLt::bias_pointer, &bias, sizeof bias) == 0);
  CHECK(lt.set_description(description, CublasLt::bias_pointer, &bias, 4) != 0);  // it looks at sizes
  REQUIRE(lt.create_layout(&layout, CublasLt::real_f32, 12, 32, 12) == 0);
  CHECK(lt.set_layout(layout, CublasLt::batch_count, &count, sizeof count) == 0);
  CHECK(lt.set_layout(layout, CublasLt::batch_stride, &stride, sizeof stride) == 0);
  REQUIRE(lt.create_preference(&preference) == 0);
  CHECK(lt.set_preference(preference, CublasLt::most_workspace, &room, sizeof room) == 0);
  for (const auto attribute : {CublasLt::alignment_a, CublasLt::alignment_b, CublasLt::alignment_c, CublasLt::alignment_d})
    CHECK(lt.set_preference(preference, attribute, &bytes, sizeof bytes) == 0);
  CHECK(lt.destroy_preference(preference) == 0);
  CHECK(lt.destroy_layout(layout) == 0);
  CHECK(lt.destroy_description(description) == 0);
}
