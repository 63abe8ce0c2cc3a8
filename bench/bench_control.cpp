// Loops and calls inside of captured functions: a tanh cell scanned over 100 rows, gradients of each of 64 examples, an embedding between
// elementwise ops; microseconds eager and captured, and their ratio. Then programs that take elements at places themselves, beside a call that
// writes them out and a program behind it. One thread; the least of several runs.
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

/// `rest` of what `taken` gives, as one function, and behind a call.
template <class Taken, class Rest>
void taken_row(const char* what, const Taken& taken, const Rest& rest, const Tensor& x, const Tensor& places) {
  static const Taken* from;
  static const Rest* then;
  from = &taken;
  then = &rest;
  const auto whole = tt::compile([](const Tensor& table, const Tensor& at) { return (*then)((*from)(table, at)); }, {.wait = true});
  const auto behind = tt::compile([](const Tensor& t) { return (*then)(t); }, {.wait = true});
  behind(taken(x, places));
  row(what, [&] { behind(taken(x, places)); }, [&] { whole(x, places); });
}

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
  std::printf("%-44s %9s %9s %6s\n", "", "call us", "taken", "ratio");
  const Tensor table = tt::rand({30000, 256}, 1), words = (tt::rand({32, 128}, 2) * 29999).to(tt::DType::i64);
  const Tensor x = tt::rand({512, 1024}, 3), all = (tt::rand({512, 1024}, 4) * 1023).to(tt::DType::i64), some = (tt::rand({256}, 5) * 511).to(tt::DType::i64);
  const auto embedded = [](const Tensor& t, const Tensor& at) { return tt::embedding(at, t); };
  taken_row("layer_norm of 32 x 128 rows of 30000 x 256", embedded, [](const Tensor& e) { return tt::layer_norm(e * 2, {256}); }, table, words);
  taken_row("  sum over 128 of them", embedded, [](const Tensor& e) { return e.sum(1); }, table, words);
  taken_row("relu of 32 x 128 rows of 30000 x 16", embedded, [](const Tensor& e) { return e.relu() + 1; }, table.reshape({480000, 16}), words);
  taken_row("exp of a gather, 512 x 1024", [](const Tensor& t, const Tensor& at) { return tt::gather(t, 1, at); }, [](const Tensor& e) { return e.exp(); }, x, all);
  taken_row("minus a gather, 512 x 1 of 512 x 1024", [](const Tensor& t, const Tensor& at) { return tt::gather(t, 1, at); }, [](const Tensor& e) { return -e; }, x, all.slice(1, 0, 1).contiguous());
  taken_row("sum along 256 of 1024 columns", [](const Tensor& t, const Tensor& at) { return tt::index_select(t, 1, at); }, [](const Tensor& e) { return e.sum(1); }, x, some);
  taken_row("relu of 256 of 512 rows", [](const Tensor& t, const Tensor& at) { return tt::index_select(t, 0, at); }, [](const Tensor& e) { return e.relu(); }, x, some);
}
