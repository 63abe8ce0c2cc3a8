// Random functions made of statements, eager beside compiled: ops with kernels of their own, changes in place, views, Tensors that become other views, graph breaks, gradients
// inside. Results and arguments have the eager call's bits, gradients its values, and forward mode goes with those. Of 50,000 programs some found four faults when this was written; TT_FUZZ sets how many run.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "sanitizers.hpp"
#include "tensors.hpp"
#include "tt/dispatch/memory_order.hpp"

namespace {

using tt::Tensor;
using Values = std::vector<Tensor>;

Tensor zeros_of(const Tensor& x) { return tt::zeros_like(x).to(tt::DType::i64); }
bool alike(const Tensor& x, const Tensor& y) { return x.shape() == y.shape(); }

/// What a statement does with value x, and perhaps y; new values go behind the others.
using Statement = void (*)(Values& v, Tensor x, const Tensor& y);
constexpr Statement statements[] = {
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x * 2 + 1); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.tanh()); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim() > 1) v.push_back(x.transpose(-1, -2) + 1); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.contiguous()); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.clamp(-1, 1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(tt::where(x > 0, x, x * 0.1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.pow(2)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.masked_fill(x > 0.5, 0.25)); },
    [](Values& v, Tensor x, const Tensor& y) { if (alike(x, y)) v.push_back(x * y); },
    [](Values& v, Tensor x, const Tensor& y) { if (x.dim() == 2 && y.dim() == 2 && x.size(1) == y.size(0)) v.push_back(x.matmul(y)); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim() && x.size(0) > 2) v.push_back(x * 2); else v.push_back(x * 4); },
    // reductions, order, places
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.sum({-1}, true)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.mean()); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.var({-1})); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.prod(-1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.logsumexp({-1})); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.softmax(-1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.argmax(-1).to(tt::DType::f32)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.cumsum(-1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.cumprod(-1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.sort(-1).values); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.topk(1, -1).values); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim()) v.push_back(x.index_select(0, tt::zeros({2}, {.dtype = tt::DType::i64}))); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim()) v.push_back(x.gather(-1, zeros_of(x))); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim()) v.push_back(x.scatter_add(-1, zeros_of(x), x)); },
    // views and copies
    [](Values& v, Tensor x, const Tensor&) { if (x.dim()) v.push_back(x.select(0, 0)); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim()) v.push_back(x.slice(-1, 0, 1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.reshape({-1})); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.reshape({-1, 1})); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.transpose(0, -1)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.unsqueeze(0)); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim() > 1) v.push_back(x.movedim({0}, {-1})); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim() == 2) v.push_back(x.diagonal()); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.expand({2, -1, -1}).sum({0})); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim() == 1) v.push_back(x.repeat({2})); },
    [](Values& v, Tensor x, const Tensor&) { if (x.dim()) v.push_back(tt::cat({x, x * 2}, 0)); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.flip({0})); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.roll({1}, {-1})); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.clone()); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x.detach()); },
    [](Values& v, Tensor x, const Tensor&) { v.push_back(x); },
    [](Values& v, Tensor, const Tensor&) { if (v.size() > 3) v.erase(v.begin() + 2); },
    // changes in place
    [](Values&, Tensor x, const Tensor&) { x.add_(1); },
    [](Values&, Tensor x, const Tensor&) { x.mul_(0.5); },
    [](Values&, Tensor x, const Tensor&) { x.zero_(); },
    [](Values&, Tensor x, const Tensor&) { x.exp_().clamp_(-2, 2); },
    [](Values&, Tensor x, const Tensor&) { x.cumsum_(-1); },
    [](Values&, Tensor x, const Tensor&) { x.masked_fill_(x < -1, -1.0); },
    [](Values&, Tensor x, const Tensor& y) { if (alike(x, y)) x.add_(y); },
    [](Values&, Tensor x, const Tensor& y) { if (alike(x, y)) x.copy_(y); },
    [](Values&, Tensor x, const Tensor&) { if (x.dim()) x.select(0, 0).add_(2); },
    [](Values&, Tensor x, const Tensor&) { if (x.dim()) x.slice(0, 0, 1).fill_(3); },
    [](Values&, Tensor x, const Tensor&) { if (x.dim()) x.index_put_({tt::zeros({1}, {.dtype = tt::DType::i64})}, 0.5); },
    [](Values& v, Tensor x, const Tensor&) {
      if (x.dim() == 0) return;
      Tensor first = x.chunk(2, 0)[0];
      first.mul_(2);
      v.push_back(first);
    },
    [](Values&, Tensor x, const Tensor&) { x.t_(); },
    [](Values&, Tensor x, const Tensor&) { x.unsqueeze_(0); },
    [](Values&, Tensor x, const Tensor&) { x.squeeze_(); },
    // where a graph ends, and gradients inside
    [](Values& v, Tensor x, const Tensor&) { v.push_back((x.sum() > 1).item<bool>() ? x * 3 : x - 1); },
    [](Values&, Tensor x, const Tensor& y) { if (x.dim()) x.scatter_(-1, zeros_of(x), y.sum().item<float>() > 0 ? 1.0 : 2.0); },
    [](Values& v, Tensor x, const Tensor&) {
      const Tensor t = x.detach().clone().requires_grad_();
      v.push_back(tt::grad({(t * t).sum()}, {t})[0]);
    },
};

struct Program {
  struct Line {
    unsigned statement, x, y;  ///< values by number, from the first on, again and again
  };
  std::vector<Line> lines;
  bool returns_all = false;  ///< else the last value, and one in the middle twice

  explicit Program(std::mt19937& g) : lines(2 + g() % 10), returns_all(g() % 2 == 0) {
    for (Line& l : lines) l = {static_cast<unsigned>(g() % std::size(statements)), static_cast<unsigned>(g() % 64), static_cast<unsigned>(g() % 64)};
  }
  Values operator()(const Tensor& a, const Tensor& b) const {
    Values v{a, b};
    for (const Line& l : lines) {
      const Tensor y = v[l.y % v.size()];
      statements[l.statement](v, v[l.x % v.size()], y);
      if (v.size() > 9) v.erase(v.begin() + 2);
    }
    return returns_all ? v : Values{v.back(), v[v.size() / 2], v[v.size() / 2]};
  }
};

/// One NaN is as good as another, and a zero as one with a sign.
bool same_values(const Tensor& a, const Tensor& b) { return same_bits(a, b) || (a.dtype() == b.dtype() && alike(a, b) && tt::allclose(a, b, 0, 0, true)); }
/// Do they lie in the same order of axes? Not asked where elements lie apart: a view of what a compiled function made is a Tensor of its own.
bool lie_alike(const Tensor& want, const Tensor& got) {
  if (!tt::detail::MemoryOrder(want).has_no_gaps(want)) return true;
  for (int d = 0; d < want.dim() && want.numel() > 0; ++d)
    if (want.size(d) != 1 && want.stride(d) != got.stride(d)) return false;
  return true;
}
bool near(const Tensor& a, const Tensor& b) { return a.defined() == b.defined() && (!a.defined() || (alike(a, b) && tt::allclose(a, b, 1e-4, 1e-4, true))); }

/// What a call does: its results, its arguments behind it, the gradient of the first one, or what it says.
struct Outcome {
  Values results;
  Tensor a, b, gradient;
  std::string error;
};
/// How the arguments are given.
struct Form {
  bool taped = false, a_transposed = false, b_transposed = false;
};
Tensor copied(const Tensor& x, bool transposed) { return transposed ? x.t().clone().t() : x.clone(); }
template <class F>
Outcome call(const F& f, const Tensor& a, const Tensor& b, const Form& form) {
  Outcome o;
  Tensor leaf = copied(a, form.a_transposed);
  if (form.taped) leaf.requires_grad_();
  o.a = form.taped ? leaf * 1 : leaf;
  o.b = copied(b, form.b_transposed);
  try {
    o.results = f(o.a, o.b);
    Tensor sum;
    for (const Tensor& t : o.results)
      if (t.requires_grad()) sum = sum.defined() ? sum + (t * t).sum() : (t * t).sum();
    if (sum.defined()) sum.backward();
    if (form.taped) o.gradient = leaf.grad();
  } catch (const tt::Exception& e) {
    o.error = e.what();
  }
  return o;
}
/// The same sum's derivative along `v`, a direction of the first argument, in forward mode.
double forward(const Program& p, const Tensor& a, const Tensor& b, const Form& form, const Tensor& v) {
  const tt::DualLevel level;
  double sum = 0;
  for (const Tensor& t : p(tt::make_dual(copied(a, form.a_transposed), v) * 1, copied(b, form.b_transposed)))
    if (const auto [y, dy] = tt::unpack_dual(t); dy.defined()) sum += 2 * (y * dy).sum().item<double>();
  return sum;
}
/// Where one of them saved what the other did not, a later change in place is an error in one only.
bool changed_after(const Outcome& o) { return o.error.find("was changed in place") != std::string::npos; }

}  // namespace

TEST_CASE("functions of random statements do compiled what they do eager") {
  const char* const asked = std::getenv("TT_FUZZ");
  const int programs = asked ? std::atoi(asked) : is_sanitized ? 500 : 1500;
  int refused = 0;
  for (int seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    std::mt19937 g(static_cast<unsigned>(seed));
    const Program p(g);
    const auto compiled = tt::compile(tt::frozen([&p](const Tensor& a, const Tensor& b) { return p(a, b); }), {.tier = seed % 200 == 199 ? 1 : 0, .wait = true});
    for (int n = 0; n < 4; ++n) {
      CAPTURE(n);
      const std::int64_t rows = 1 + g() % 3, columns = 1 + g() % 4;
      const Tensor a = tt::randn({rows, columns}, static_cast<int>(g() % 1000)), b = tt::randn({columns, rows}, static_cast<int>(g() % 1000));
      const Form form{g() % 2 == 0, g() % 3 == 0, g() % 4 == 0};
      const Outcome want = call(p, a, b, form), got = call(compiled, a, b, form);
      if (changed_after(want) || changed_after(got)) continue;
      CAPTURE(want.error);
      CAPTURE(got.error);
      REQUIRE(want.error.empty() == got.error.empty());
      refused += !want.error.empty();
      if (!want.error.empty()) continue;
      REQUIRE(want.results.size() == got.results.size());
      for (std::size_t k = 0; k < want.results.size(); ++k) {
        REQUIRE(same_values(want.results[k], got.results[k]));
        REQUIRE(lie_alike(want.results[k], got.results[k]));
      }
      REQUIRE(same_values(want.a, got.a));
      REQUIRE(same_values(want.b, got.b));
      REQUIRE(near(want.gradient, got.gradient));
      bool finite = want.gradient.defined() && tt::isfinite(want.gradient).all().item<bool>();
      for (const Tensor& t : want.results) finite = finite && tt::isfinite(t.detach()).all().item<bool>();
      if (!finite) continue;
      const Tensor v = tt::randn(a.shape(), static_cast<int>(g() % 1000)), flow = want.gradient * v;
      const double along = forward(p, a, b, form, v);
      CAPTURE(along);
      REQUIRE(std::fabs(along - flow.sum().item<double>()) <= 1e-3 * (1 + flow.abs().sum().item<double>()));
    }
  }
  CHECK(refused < 2 * programs);  // most of them run
}
