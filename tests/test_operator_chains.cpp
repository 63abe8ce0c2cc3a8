// Random programs of all recorded operators: chains of calls by name, each on what the one before gave (brought to the shape and dtype that it was recorded with), through
// views and layouts, in both widths. What the eager program gives, the compiled one gives in the same bits; their gradients, forward mode and vmap agree; a failure is one on
// all ways. TT_CHAINS=n runs n programs, TT_CHAIN=k the one of seed k.
#include "operator_cases.hpp"
#include "sanitizers.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

using namespace operator_cases;

namespace {

struct Dice {
  std::uint64_t state;
  std::uint64_t next() {
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
};

/// A call: of which first result, on which layout.
struct Link {
  Case call;
  int layout = 0;
};
using Chain = std::vector<Link>;

/// Numbers between -1 and 1 of any Tensor in the shape and dtype of `like`: repeated or cut, and shifted by where they stand, so that matrices of them have full rank.
Tensor adapted(const Tensor& x, const Tensor& like) {
  Tensor flat = x.is_floating_point() ? x.reshape({-1}) : x.to(DType::f64).reshape({-1});
  const std::int64_t n = like.numel(), have = flat.numel();
  if (have == 0) return tt::zeros_like(like) + 0.5;
  if (have < n) flat = flat.repeat({(n + have - 1) / have});
  if (flat.numel() != n) flat = flat.slice(0, 0, n);
  const Tensor place = tt::arange(n), shift = tt::remainder(place * place, 17).to(flat.dtype()) * 0.37;
  return tt::nan_to_num(tt::sin(flat + shift), 0.25).to(like.dtype()).reshape(like.shape());
}
/// The same elements otherwise in memory.
Tensor laid_out(const Tensor& x, int layout) {
  const int rank = x.dim();
  if (layout == 1 && rank > 1) return x.transpose(0, rank - 1).contiguous().transpose(0, rank - 1);
  if (layout == 2 && rank > 0) return tt::cat({x, x}, rank - 1).slice(rank - 1, 0, x.size(rank - 1));
  if (layout == 3) return tt::stack({x, x}, -1).select(-1, 1);
  return x;
}
Tensor run(const Chain& chain, const Tensor& x) {
  Tensor t = x;
  for (const Link& l : chain) t = results_of(l.call, laid_out(adapted(t, l.call.leaves[0].detach()), l.layout))[0];
  return t;
}
/// How far apart two orders of the same sums may lie: 16-bit floats say too little.
double allowed_of(const Chain& chain) {
  double most = 1e-7;
  for (const Link& l : chain)
    for (const DType d : {l.call.leaves[0].dtype(), l.call.results[0].dtype()}) most = std::max(most, d == DType::f64 || !tt::is_floating(d) ? 1e-7 : d == DType::f32 ? 2e-3 : 0.1);
  return most;
}
std::string text_of(const Chain& chain) {
  std::string s;
  for (const Link& l : chain) s += l.call.name + (l.layout ? "/" + std::to_string(l.layout) : "") + " ";
  return s;
}
bool close(const Tensor& a, const Tensor& b, double allowed) {
  if (a.defined() != b.defined()) {  // no gradient is one of zeros
    const Tensor& t = a.defined() ? a : b;
    return t.abs().amax().item() == 0;
  }
  if (!a.defined()) return true;
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  if (a.numel() == 0) return true;
  const Tensor x = a.detach().to(DType::f64), y = b.detach().to(DType::f64);
  if (!tt::equal(tt::isnan(x), tt::isnan(y))) return false;
  const Tensor p = tt::nan_to_num(x, 0, 1e30, -1e30), q = tt::nan_to_num(y, 0, 1e30, -1e30);
  return (p - q).abs().amax().item() <= allowed * (1 + q.abs().amax().item());
}
/// What a way of running it gives, or that it fails.
template <class F>
std::optional<Tensor> tried(const F& f, std::string& error) {
  try {
    return f();
  } catch (const tt::Exception& e) {
    error = e.what();
    return std::nullopt;
  }
}

struct Library {
  std::vector<Case> cases;
  Library() {
    Cases all("tests/data/operators.txt");
    for (Case c; all.next(c);) {
      if (!begins_with_floats(c) || c.leaves[0].numel() == 0 || c.leaves[0].numel() > 2000) continue;
      const DType d = c.leaves[0].dtype();
      if (d != DType::f32 && d != DType::f64) continue;
      for (Tensor& t : c.leaves) t.requires_grad_(false);
      cases.push_back(c);
    }
  }
};
const Library& library() {
  static const Library l;
  return l;
}

/// What is wrong with a program, or nothing. A program whose eager runs differ draws numbers, and is left out.
std::string wrong(const Chain& chain, const Tensor& x, int& compared) {
  std::string error, other;
  const auto f = [chain](const Tensor& t) { return run(chain, t); };
  const auto eager = tried([&] { const tt::NoGrad off; return f(x); }, error);
  const auto again = tried([&] { const tt::NoGrad off; return f(x); }, other);
  if (eager && again && !same_bits(*eager, *again)) return "";
  const auto compiled = tt::compile(tt::frozen(f));
  for (int call = 0; call < 2; ++call) {
    const auto got = tried([&] { const tt::NoGrad off; return compiled(x); }, other);
    if (!eager && got) return "";  // what nothing is done with is left out, with its failures
    if (eager && !got) return "compiled fails: " + other;
    if (eager && !same_bits(*got, *eager)) return "compiled gives other bits";
  }
  if (!eager) return "";
  ++compared;
  if (!eager->is_floating_point()) return "";
  const double allowed = allowed_of(chain);
  const auto loss = [chain](const Tensor& t) {
    const Tensor y = run(chain, t);
    return (y * flow_into(y)).sum();
  };
  const auto slope_of = [&x](const auto& g) {
    const Tensor leaf = x.clone().requires_grad_(), y = g(leaf);
    if (y.requires_grad()) y.backward();
    return leaf.grad();
  };
  const auto slope = tried([&] { return slope_of(loss); }, error);
  // Where a small step changes the gradient much, rounding does too: nothing can be compared.
  const auto beside = tried([&] {
    const Tensor leaf = (x * (1 + (allowed > 1e-6 ? 1e-5 : 1e-11))).requires_grad_(), y = loss(leaf);
    if (y.requires_grad()) y.backward();
    return leaf.grad();
  }, other);
  if (slope && (!beside || !close(*beside, *slope, allowed / 10) || (slope->defined() && !(slope->abs().amax().item() < 1e6)))) return "";
  const auto compiled_slope = tried([&] { return slope_of(tt::compile(tt::frozen(loss))); }, other);
  const auto has_none = [](const std::string& e) { return contains(e.c_str(), "has no derivative"); };  // eager does not ask where nothing flows
  if (slope && !compiled_slope && has_none(other)) return "";
  if (slope.has_value() != compiled_slope.has_value()) return "gradient: " + (slope ? "compiled fails: " + other : "eager fails: " + error);
  if (slope && !close(*compiled_slope, *slope, allowed)) return "compiled has another gradient";
  if (slope && slope->defined()) {
    const Tensor v = flow_into(x);
    const auto forward = tried([&] { return std::get<1>(tt::jvp(tt::frozen(loss), x, v)); }, error);
    if (!forward) return "jvp fails: " + error;
    const double a = forward->item(), b = (*slope * v).sum().item();
    const double size = (*slope * v).abs().sum().item();  // of what cancels
    if (std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) > allowed * (1 + size)) return "jvp is " + std::to_string(a) + ", and grad " + std::to_string(b);
  }
  const auto batch = tried([&] { const tt::NoGrad off; return tt::vmap(tt::frozen(f))(tt::stack({x, x * 0.5})); }, error);
  const auto half = tried([&] { const tt::NoGrad off; return f(x * 0.5); }, other);
  if (half && half->shape() == eager->shape()) {
    if (!batch) return "vmap fails: " + error;
    if (!close(batch->select(0, 0), *eager, allowed) || !close(batch->select(0, 1), *half, allowed)) return "vmap gives something else";
    const auto through = tried([&] {
      const Tensor leaf = tt::stack({x, x}).requires_grad_(), y = tt::vmap(tt::frozen(loss))(leaf);
      if (y.requires_grad()) y.sum().backward();
      return leaf.grad().defined() ? leaf.grad().select(0, 1) : Tensor();
    }, error);
    if (slope && !through && !has_none(error)) return "gradient through vmap fails: " + error;
    if (slope && through && !close(*through, *slope, allowed)) return "gradient through vmap is another one";
  }
  return "";
}

Chain chain_of(std::uint64_t seed, Tensor& x) {
  Dice dice{seed};
  const auto& all = library().cases;
  Chain chain;
  const int length = 1 + dice.below(4);
  for (int k = 0; k < length; ++k) chain.push_back({all[static_cast<std::size_t>(dice.below(static_cast<int>(all.size())))], dice.below(4)});
  x = chain[0].call.leaves[0].detach().clone();
  return chain;
}

}  // namespace

TEST_CASE("random chains of operators mean the same on all ways") {
  const char* const count = std::getenv("TT_CHAINS");
  const char* const only = std::getenv("TT_CHAIN");
  const int programs = count ? std::atoi(count) : is_sanitized ? 100 : 400;
  int compared = 0;
  for (int seed = only ? std::atoi(only) : 0, end = only ? seed + 1 : programs; seed < end; ++seed) {
    Tensor x;
    const Chain chain = chain_of(static_cast<std::uint64_t>(seed) * 7919 + 777, x);
    const std::string what = wrong(chain, x, compared), said = std::to_string(seed) + ": " + text_of(chain) + ": " + what;
    CHECK_MESSAGE(what.empty(), doctest::String(said.c_str()));
  }
  if (!only) CHECK(compared > programs / 2);
  MESSAGE(compared << " programs were compared");
}
