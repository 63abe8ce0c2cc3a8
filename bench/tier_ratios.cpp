// Compiled kernels beside the interpreter (tier 1 and tier 0 of tt::compile) on one thread: named ops alone and reduced, dtypes as they are stored, and random programs of ops, masks, casts and reductions.
// Where compiled C takes longer, the host compiler has made no vectors of a loop, or short ones.
// First the sums of columns of a static program, beside the compiled function.
//   tier_ratios [PROGRAMS [SEED]]      lines: ratio, us of tier 0, us of tier 1, what
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <tt/tt.hpp>

#include "stopwatch.hpp"

namespace {

using tt::DType;
using tt::Tensor;

/// Prints f's line; of those that take longer compiled only, if `slow_only`.
template <class F, class... A>
bool compare(const std::string& name, const F& f, bool slow_only, const A&... a) {
  const auto interpreted = tt::compile(tt::frozen(f), {.tier = 0}), compiled = tt::compile(tt::frozen(f), {.wait = true});
  const double tier0 = bench::microseconds([&] { (void)interpreted(a...); }, 15, 0.25), tier1 = bench::microseconds([&] { (void)compiled(a...); }, 15, 0.25);
  const bool slow = tier1 > 1.25 * tier0;
  if (slow || !slow_only) std::printf("%s %6.2f %9.1f %9.1f  %s\n", slow ? "slow" : "    ", tier1 / tier0, tier0, tier1, name.c_str());
  return slow;
}

struct Named {
  const char* name;
  Tensor (*f)(const Tensor& a, const Tensor& b);
};
Tensor floats(const Tensor& x) { return x.to(DType::f32); }
const Named ops[] = {
    {"a > b", [](const Tensor& a, const Tensor& b) { return floats(a > b); }},
    {"a > b and b > 0.5", [](const Tensor& a, const Tensor& b) { return floats(tt::logical_and(a > b, b > 0.5)); }},
    {"where a > b", [](const Tensor& a, const Tensor& b) { return tt::where(a > b, a, b * 2); }},
    {"relu", [](const Tensor& a, const Tensor&) { return tt::relu(a); }},
    {"exp", [](const Tensor& a, const Tensor&) { return tt::exp(a); }},
    {"log1p", [](const Tensor&, const Tensor& b) { return tt::log1p(b); }},
    {"tanh", [](const Tensor& a, const Tensor&) { return tt::tanh(a); }},
    {"sin", [](const Tensor& a, const Tensor&) { return tt::sin(a); }},
    {"softplus", [](const Tensor& a, const Tensor&) { return tt::softplus(a); }},
    {"gelu", [](const Tensor& a, const Tensor&) { return tt::gelu(a); }},
    {"a / (1 + b)", [](const Tensor& a, const Tensor& b) { return a / (1 + b); }},
    {"through i32", [](const Tensor& a, const Tensor&) { return floats((a * 10).to(DType::i32)); }},
    {"through i64", [](const Tensor& a, const Tensor&) { return floats((a * 10).to(DType::i64)); }},
    {"through f64", [](const Tensor& a, const Tensor&) { return floats(a.to(DType::f64) * 1.1); }},
    {"through bf16", [](const Tensor& a, const Tensor&) { return floats(a.to(DType::bf16)); }},
    {"through f16", [](const Tensor& a, const Tensor&) { return floats(a.to(DType::f16)); }},
    {"isnan", [](const Tensor& a, const Tensor&) { return floats(tt::isnan(a)); }},
};
void named_ops() {
  const Tensor a = tt::rand({512, 512}) - 0.5, b = tt::rand({512, 512});
  for (const Named& op : ops) {
    const auto f = op.f;
    const std::string name = op.name;
    compare(name, [f](const Tensor& x, const Tensor& y) { return f(x, y); }, false, a, b);
    compare(name + ", sums of rows", [f](const Tensor& x, const Tensor& y) { return f(x, y).sum(-1); }, false, a, b);
    compare(name + ", sums of columns", [f](const Tensor& x, const Tensor& y) { return f(x, y).sum(0); }, false, a, b);
  }
  for (const DType d : {DType::boolean, DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f64, DType::bf16, DType::f16}) {
    const Tensor stored = (a * 3).to(d);
    const std::string name = tt::name(d);
    compare(name + " times f32", [](const Tensor& x, const Tensor& y) { return floats(x) * y; }, false, stored, b);
    compare(name + " times f32, sums of rows", [](const Tensor& x, const Tensor& y) { return (floats(x) * y).sum(-1); }, false, stored, b);
    compare(name + ", sums of rows", [](const Tensor& x) { return x.sum(-1); }, false, stored);
    compare(name + ", softmax", [](const Tensor& x) { return tt::softmax(floats(x), -1); }, false, stored);
    compare("exp, stored as " + name, [d](const Tensor& x, const Tensor& y) { return tt::exp(x * y).to(d); }, false, a, b);
  }
  const Tensor scores = tt::rand({8, 8, 64, 64}), mask = tt::rand({8, 1, 64, 64}) > 0.5;
  compare("masked softmax", [](const Tensor& x, const Tensor& m) { return tt::softmax(tt::where(m, x, -1e9), -1); }, false, scores, mask);
  compare("512 x 1 times 1 x 512", [](const Tensor& x, const Tensor& y) { return x.unsqueeze(1) * y; }, false, tt::rand({512}), tt::rand({512}));
  compare("8 x 64 x 1 x 64 times 8 x 64 x 64 x 1", [](const Tensor& x, const Tensor& y) { return x * y; }, false, tt::rand({8, 64, 1, 64}), tt::rand({8, 64, 64, 1}));
}

/// An expression by random numbers, of a matrix of floats, one of another dtype, one that is repeated, and a mask.
struct Expression {
  std::vector<unsigned> choices;

  struct Writer {
    const std::vector<unsigned>& choices;
    const Tensor &a, &b, &c, &m;
    std::size_t at = 0;
    std::string text{};

    unsigned next(unsigned n) { return choices[at++ % choices.size()] % n; }
    Tensor call(const char* name, int depth, Tensor (*f)(const Tensor&)) {
      text += name;
      text += '(';
      const Tensor x = value(depth - 1);
      text += ')';
      return f(x);
    }
    Tensor value(int depth) {
      switch (next(depth > 0 ? 16 : 4)) {
        case 0: return text += 'a', a;
        case 1: return text += 'b', floats(b);
        case 2: return text += 'c', c;
        case 3: return text += 'm', floats(m);
        case 4: return call("exp", depth, [](const Tensor& x) { return tt::exp(x); });
        case 5: return call("relu", depth, [](const Tensor& x) { return tt::relu(x); });
        case 6: return call("softmax", depth, [](const Tensor& x) { return tt::softmax(x, -1); });
        case 7: return call("centred", depth, [](const Tensor& x) { return x - x.mean({-1}, true); });
        case 8: return call("i32", depth, [](const Tensor& x) { return floats((x * 10).to(DType::i32)); });
        case 9: return call("i64", depth, [](const Tensor& x) { return floats((x * 10).to(DType::i64)); });
        case 10: return call("bf16", depth, [](const Tensor& x) { return floats(x.to(DType::bf16)); });
        case 11: return call("sqrt_abs", depth, [](const Tensor& x) { return tt::sqrt(tt::abs(x)); });
        default: break;
      }
      const unsigned op = next(4);
      text += "+*?>"[op];
      text += '(';
      const Tensor x = value(depth - 1);
      text += ", ";
      const Tensor y = value(depth - 1);
      text += ')';
      return op == 0 ? x + y : op == 1 ? x * y : op == 2 ? tt::where(m, x, y) : floats(x > y);
    }
    Tensor whole() {
      const Tensor x = value(3);
      const unsigned end = next(6);
      static constexpr const char* names[] = {"", ", sum", ", sums of rows", ", sums over the first axis", ", largest of rows", ", stored as bf16"};
      text += names[end];
      switch (end) {
        case 1: return x.sum();
        case 2: return x.sum(-1);
        case 3: return x.sum(0);
        case 4: return x.amax(-1);
        case 5: return x.to(DType::bf16);
        default: return x;
      }
    }
  };
  Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& m) const { return Writer{choices, a, b, c, m}.whole(); }
  std::string text(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& m) const {
    Writer w{choices, a, b, c, m};
    (void)w.whole();
    return w.text;
  }
};
void random_programs(int programs, unsigned seed) {
  std::mt19937 g(seed);
  constexpr DType dtypes[] = {DType::f32, DType::f64, DType::i32, DType::i64, DType::bf16, DType::f16, DType::u8, DType::i8, DType::i16, DType::boolean};
  int slow = 0;
  for (int k = 0; k < programs; ++k) {
    Expression e;
    for (int i = 0; i < 64; ++i) e.choices.push_back(static_cast<unsigned>(g()));
    Tensor a = tt::rand({512, 512}), c = tt::rand({512, 1}), m = tt::rand({512, 512}) > 0.5;
    if (g() % 2) a = tt::rand({8, 8, 64, 64}), c = tt::rand({8, 1, 64, 64}), m = tt::rand({8, 1, 64, 64}) > 0.5;
    const DType d = dtypes[g() % std::size(dtypes)];
    const Tensor b = (tt::rand(a.shape()) * 3).to(d);
    slow += compare(std::string("b of ") + tt::name(d) + ", rank " + std::to_string(a.dim()) + ": " + e.text(a, b, c, m), e, true, a, b, c, m);
  }
  std::printf("%d of %d random programs took more than 1.25 times as long compiled\n", slow, programs);
}

}  // namespace

/// Sums down columns as a static program beside the compiled function of Tensors.
template <int Rows, int Columns>
void static_columns() {
  const auto x = std::make_unique<tt::Array<float, Rows, Columns>>();
  for (int i = 0; i < Rows * Columns; ++i) x->data()[i] = static_cast<float>(i % 97) * 0.01f;
  tt::Array<float, Columns> sums;
  const auto f = [](const auto& a) { return tt::sum(a * a + 1, 0); };
  const auto fused = tt::fuse(f);
  const auto compiled = tt::compile(f, {.wait = true});
  const Tensor t = tt::from_span<float>(std::span<const float>(x->data(), static_cast<std::size_t>(Rows) * Columns), {Rows, Columns});
  const double a = bench::microseconds([&] { sums = fused(*x); }, 15, 0.25), b = bench::microseconds([&] { (void)compiled(t); }, 15, 0.25);
  std::printf("%s %6.2f %9.1f %9.1f  static beside compiled, sums of the columns of %d x %d\n", a > 1.25 * b ? "slow" : "    ", a / b, a, b, Rows, Columns);
}

int main(int argc, char** argv) {
  tt::set_num_threads(1);
  static_columns<64, 64>();
  static_columns<256, 512>();
  static_columns<1024, 1024>();
  static_columns<4096, 64>();
  static_columns<4096, 8>();
  named_ops();
  random_programs(argc > 1 ? std::atoi(argv[1]) : 100, argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
}
