// Loops and calls inside of captured functions: a tanh cell scanned over 100 rows, gradients of each of 64 examples, an embedding between
// elementwise ops; microseconds eager and captured, and their ratio. One thread; the least of several runs.
//   taskset -c 1 bench_control
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include <tt/tt.hpp>

namespace {

using tt::Tensor;

template <class F>
double microseconds(const F& f) {
  double least = 1e9;
  for (int k = 0; k < 25; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    least = std::min(least, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}
template <class Eager, class Captured>
void row(const char* what, const Eager& eager, const Captured& captured) {
  captured();
  const double e = microseconds(eager), c = microseconds(captured);
  std::printf("%-44s %9.0f %9.0f %6.2f\n", what, e, c, c / e);
}

constexpr auto recurrent = [](const Tensor& xs, const Tensor& w, const Tensor& u, const Tensor& h) {
  return tt::scan([&](const Tensor& s, const Tensor& x) { const Tensor n = tt::tanh(x.matmul(w) + s.matmul(u)); return std::pair{n, n}; }, h, xs).second.sum();
};
constexpr auto loss = [](const Tensor& w, const Tensor& x) { return tt::tanh(x.matmul(w)).square().sum(); };
constexpr auto scores = [](const Tensor& table, const Tensor& tokens, const Tensor& w) { return (tt::tanh(tt::embedding(tokens, table)) * w).sum(-1); };

}  // namespace

int main() {
  tt::set_num_threads(1);
  std::printf("%-44s %9s %9s %6s\n", "", "eager us", "captured", "ratio");
  for (const int d : {16, 128}) {
    Tensor xs = tt::rand({100, 8, d}, 1), w = tt::rand({d, d}, 2) * 0.1, u = tt::rand({d, d}, 3) * 0.1, h = tt::zeros({8, d});
    const auto c = tt::compile(recurrent, {.wait = true});
    char what[64];
    std::snprintf(what, sizeof what, "scan, 100 rows of 8 x %d", d);
    row(what, [&] { recurrent(xs, w, u, h); }, [&] { c(xs, w, u, h); });
    w.requires_grad_();
    u.requires_grad_();
    std::snprintf(what, sizeof what, "  with gradients");
    row(what, [&] { recurrent(xs, w, u, h).backward(); }, [&] { c(xs, w, u, h).backward(); });
  }
  {
    const Tensor w = tt::rand({32, 32}, 1) * 0.1, xs = tt::rand({64, 4, 32}, 2);
    const auto each = tt::vmap(tt::grad(loss), {.in_dims = {tt::none, 0}});
    row("gradients of 64 examples, 4 x 32 by 32 x 32", [&] {
      for (int k = 0; k < 64; ++k) tt::grad(loss)(w, xs.select(0, k));
    }, [&] { each(w, xs); });
  }
  {
    const Tensor table = tt::rand({5000, 64}, 1), w = tt::rand({64}, 2), tokens = (tt::rand({32, 128}, 3) * 4999).to(tt::DType::i64);
    const auto c = tt::compile(scores, {.wait = true});
    row("embedding of 32 x 128 of 5000 x 64", [&] { scores(table, tokens, w); }, [&] { c(table, tokens, w); });
  }
}
