// The same text on every path: `tt` is tier 1 (tt::compile, kernels of the system compiler), `tier0` the
// interpreter, `static` tt::fuse on Arrays, `eager` op by op; `hand` loops of xsimd with tt's mathematical functions (peers/hand.hpp),
// and libtorch eager in the same program. Elementwise work also on 1, 16 and 256 elements, where a call is what is timed.
//   bench_tiers --benchmark_filter=softmax
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <tt/tt.hpp>

#include "measure.hpp"
#include "peers/hand.hpp"
#include "peers/torch.hpp"

namespace {

using benchmark::State;
using tt::Tensor;
inline constexpr int cols = 256;

// ---- the functions

constexpr auto tanh_of_sum = [](auto a, auto b, auto c, auto& y) { y = tt::tanh(a * b + c); };
constexpr auto chain_of_15 = [](auto a, auto b, auto c, auto& y) {
  const auto u = a * b + c;
  const auto l = tt::log(1 + tt::exp(0.5 * u));
  const auto q = (b + l) / (1 + tt::exp(-(l * l)));
  y = tt::where(u > 0, q, 0.1 * q);
};
constexpr auto sum_of_products = [](auto a, auto b, auto c, auto& y) { y = tt::sum(a * b + c); };
constexpr auto softmax = [](auto x, auto& y) { y = tt::softmax<1>(x); };
constexpr auto layer_norm = [](auto x, auto scale, auto shift, auto& y) {
  const auto c = x - tt::mean_keepdim<1>(x);
  y = c * tt::rsqrt(tt::mean_keepdim<1>(c * c) + 1e-5) * scale + shift;
};
constexpr auto linear = [](auto a, auto b, auto bias, auto& y) { y = tt::relu(tt::matmul(a, b) + bias); };

// ---- one row for each path

template <class A>
A filled(A a, unsigned seed) {
  bench::fill({a.data(), static_cast<std::size_t>(a.size())}, -1.5f, 1.5f, seed);
  return a;
}
template <class F>
void row(const std::string& name, const char* contender, std::int64_t elements, F make) {
  benchmark::RegisterBenchmark((name + '/' + contender).c_str(), [=](State& state) {
    const auto work = make();
    work();
    bench::repeat(state, elements * static_cast<std::int64_t>(sizeof(float)), work);
  });
}
/// No loop by hand.
struct Nobody {};
/// `arrays()` gives the operands, the last one the result; Tensors share their elements.
template <class F, class Arrays, class Hand = Nobody>
void paths(const std::string& name, std::int64_t elements, F f, Arrays arrays, Hand hand = {}) {
  using Operands = decltype(arrays());
  const auto on_tensors = [=](auto g) {
    return [=] {
      auto operands = std::make_shared<Operands>(arrays());
      auto tensors = std::apply([](auto&... a) { return std::array{Tensor(tt::as_tensor(a).clone())...}; }, *operands);
      return [=]() mutable { std::apply([&](auto&... t) { g(t...); }, tensors); };
    };
  };
  const auto now = [&](const char* contender, auto g) {
    row(name, contender, elements, [=] {
      return [work = std::make_shared<decltype(on_tensors(g)())>(on_tensors(g)())] { (*work)(); };
    });
  };
  now("tt", tt::compile(f, {.name = "tier1", .wait = true}));
  now("tier0", tt::compile(f, {.name = "tier0", .tier = 0}));
  row(name, "static", elements, [=] {
    return [operands = std::make_shared<Operands>(arrays())] {
      static constexpr auto fused = tt::fuse(F{});
      std::apply([&](auto&... a) { fused(a...); }, *operands);
    };
  });
  now("eager", f);
  if constexpr (!std::is_same_v<Hand, Nobody>)
    row(name, "hand", elements, [=] {
      return [hand, operands = std::make_shared<Operands>(arrays())] { std::apply(hand, *operands); };
    });
}

void elementwise(std::int64_t n, const char* size) {
  using V = tt::Array<float, tt::dyn>;
  const auto arrays = [n] { return std::tuple{filled(V(n), 1), filled(V(n), 2), filled(V(n), 3), V(n)}; };
  const auto to_number = [n] {
    return std::tuple{filled(V(n), 1), filled(V(n), 2), filled(V(n), 3), tt::Array<float>()};
  };
  const std::string in = std::string("/") + size;
  if (n < bench::in_l1) {  // the loops by hand take whole vectors
    paths("tanh(a*b+c)" + in, 4 * n, tanh_of_sum, arrays);
    paths("chain of 15" + in, 4 * n, chain_of_15, arrays);
    paths("sum(a*b+c)" + in, 3 * n, sum_of_products, to_number);
    return;
  }
  namespace hand = peers::hand;
  paths("tanh(a*b+c)" + in, 4 * n, tanh_of_sum, arrays,
        [](V& a, V& b, V& c, V& y) { hand::tanh_of_sum(a.data(), b.data(), c.data(), y.data(), a.size()); });
  paths("chain of 15" + in, 4 * n, chain_of_15, arrays,
        [](V& a, V& b, V& c, V& y) { hand::chain(a.data(), b.data(), c.data(), y.data(), a.size()); });
  paths("sum(a*b+c)" + in, 3 * n, sum_of_products, to_number,
        [](V& a, V& b, V& c, tt::Array<float>& y) { *y.data() = hand::sum_of_products(a.data(), b.data(), c.data(), a.size()); });
}
void by_row(std::int64_t n, const char* size) {
  using Rows = tt::Array<float, tt::dyn, cols>;
  using Row = tt::Array<float, cols>;
  paths(std::string("softmax rows/") + size, 2 * n, softmax,
        [n] { return std::tuple{filled(Rows(n / cols), 1), Rows(n / cols)}; },
        [](Rows& x, Rows& y) { peers::hand::softmax<false>(x.data(), y.data(), x.size() / cols, cols); });
  paths(std::string("layernorm rows/") + size, 2 * n, layer_norm, [n] {
    return std::tuple{filled(Rows(n / cols), 1), filled(Row(), 2), filled(Row(), 3), Rows(n / cols)};
  }, [](Rows& x, Row& scale, Row& shift, Rows& y) {
    peers::hand::layer_norm(x.data(), scale.data(), shift.data(), y.data(), x.size() / cols, cols);
  });
}
void products(std::int64_t n) {
  using M = tt::Array<float, tt::dyn, tt::dyn>;
  paths("relu(A@B+bias)/" + std::to_string(n), 3 * n * n, linear, [n] {
    return std::tuple{filled(M(n, n), 1), filled(M(n, n), 2), filled(tt::Array<float, tt::dyn>(n), 3), M(n, n)};
  });
}

}  // namespace

int main(int count, char** arguments) {
  tt::set_num_threads(1);
#if TT_BENCH_TORCH
  peers::torch::one_thread();
#else
  std::fprintf(stderr, "bench_tiers: SKIPPED the rows of libtorch: not part of this build\n");
#endif
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  for (std::int64_t n : {1, 16, 256}) {
    const std::string size = std::to_string(n);
    elementwise(n, size.c_str());
#if TT_BENCH_TORCH
    peers::torch::elementwise_rows(n, size.c_str());
#endif
  }
  for (const bench::Size& s : bench::sizes) {
    elementwise(s.elements, s.name);
    by_row(s.elements, s.name);
#if TT_BENCH_TORCH
    peers::torch::tier_rows(s.elements, s.name);
#endif
  }
  for (std::int64_t n : {64, 256, 1024}) {
    products(n);
#if TT_BENCH_TORCH
    peers::torch::linear_rows(n, std::to_string(n).c_str());
#endif
  }
  benchmark::RunSpecifiedBenchmarks();
}
