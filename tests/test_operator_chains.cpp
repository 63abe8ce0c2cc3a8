// Random programs of all recorded operators: chains of calls by name, in all dtypes. What one call gives is brought to the shape and dtype of one of the Tensors that the next was
// recorded with, and takes its place, through views and layouts. What the eager program gives, the compiled one gives in the same bits; gradients, forward mode and vmap agree;
// what eager refuses is refused, or computed, by the others. TT_CHAINS=n runs n programs, TT_CHAIN=k the one of seed k, both n from k on.
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

/// A call, which of its Tensors the chain flows into, and which of its results flows on.
struct Link {
  Case call;
  int place = -1;  ///< -1: it has none, and its numbers are added
  int result = 0, layout = 0;
  Tensor like;                      ///< what was recorded there
  std::int64_t least = 0, most = 1;  ///< of integers there
  bool has_extremes = false, is_definite = false;  ///< of floats there
};
using Chain = std::vector<Link>;

/// The elements of any Tensor as n floats between -1 and 1, or integers in a range: repeated or cut, and shifted by where they stand, so that matrices of them have full rank.
Tensor adapted(const Tensor& x, const Link& l) {
  const Tensor& like = l.like;
  const bool floats = like.is_floating_point();
  Tensor flat = x.is_floating_point() ? x.reshape({-1}) : x.to(floats ? DType::f64 : DType::i64).reshape({-1});
  const std::int64_t n = like.numel(), have = flat.numel();
  if (have == 0) return floats ? tt::zeros_like(like) + 0.5 : tt::zeros_like(like) + l.least;
  if (have < n) flat = flat.repeat({(n + have - 1) / have});
  if (flat.numel() != n) flat = flat.slice(0, 0, n);
  const Tensor place = tt::arange(n), shift = tt::remainder(place * place, 17);
  if (floats || x.is_floating_point()) flat = tt::nan_to_num(tt::sin(flat + shift.to(flat.dtype()) * 0.37), 0.25);
  if (l.has_extremes)
    for (int k = 0; const double v : {HUGE_VAL, -HUGE_VAL, -0.0, 1e4, std::nan("")}) flat = tt::where(tt::remainder(place, 7) == k++, v, flat).to(flat.dtype());
  if (floats) {
    const Tensor y = flat.to(like.dtype()).reshape(like.shape());
    return l.is_definite ? tt::matmul(y, y.mT()) + tt::eye(y.size(-1), y.dtype()) : y;
  }
  const std::int64_t count = l.most - l.least + 1;
  if (x.is_floating_point()) flat = tt::floor((flat.to(DType::f64) + 1) * (0.4999 * static_cast<double>(count))).to(DType::i64);
  return (tt::remainder(tt::remainder(flat, count) + shift * std::max<std::int64_t>(1, count / 17), count) + l.least).to(like.dtype()).reshape(like.shape());
}
/// The same elements otherwise in memory.
Tensor laid_out(const Tensor& x, int layout) {
  const int rank = x.dim();
  if (layout == 1 && rank > 1) return x.transpose(0, rank - 1).contiguous().transpose(0, rank - 1);
  if (layout == 2 && rank > 0) return tt::cat({x, x}, rank - 1).slice(rank - 1, 0, x.size(rank - 1));
  if (layout == 3) return tt::stack({x, x}, -1).select(-1, 1);
  if (layout == 4 && x.numel() > 0) {  // in no multiple of a vector
    const Tensor flat = x.reshape({-1});
    return tt::cat({flat.slice(0, 0, 1), flat}).slice(0, 1, x.numel() + 1).reshape(x.shape());
  }
  return x;
}
Tensor run(const Link& l, const Tensor& x) {
  Case own = l.call;
  const Tensor in = adapted(x, l);
  int k = 0;
  each_tensor(own, [&](const Tensor& t) { return k++ == l.place ? laid_out(in, l.layout) : t; });
  const Tensors r = results(own);
  const std::size_t which = static_cast<std::size_t>(l.result);
  const Tensor out = which < r.size() && r[which].defined() ? r[which] : r[0];
  return l.place < 0 ? out + in : out;
}
Tensor run(const Chain& chain, const Tensor& x) {
  Tensor t = x;
  for (const Link& l : chain) t = run(l, t);
  return t;
}
DType result_of(const Link& l) { return l.call.results[static_cast<std::size_t>(l.result)].dtype(); }
bool has_floats_only(const Chain& chain) {
  return std::all_of(chain.begin(), chain.end(), [](const Link& l) { return l.like.is_floating_point() && tt::is_floating(result_of(l)); });
}
bool has_integers_only(const Chain& chain) {
  return std::none_of(chain.begin(), chain.end(), [](const Link& l) { return l.like.is_floating_point() || tt::is_floating(result_of(l)); });
}
/// How far apart two orders of the same sums may lie: 16-bit floats say too little.
double allowed_of(const Chain& chain) {
  double most = 1e-7;
  for (const Link& l : chain)
    for (const DType d : {l.like.dtype(), result_of(l)}) most = std::max(most, d == DType::f64 || !tt::is_floating(d) ? 1e-7 : d == DType::f32 ? 2e-3 : 0.1);
  return most;
}
std::string text_of(const Chain& chain) {
  std::string s;
  for (const Link& l : chain) s += l.call.name + "." + tt::name(l.like.dtype()) + (l.place > 0 ? "@" + std::to_string(l.place) : "") + (l.result ? "#" + std::to_string(l.result) : "") + (l.layout ? "/" + std::to_string(l.layout) : "") + (l.has_extremes ? "!" : l.is_definite ? "+" : "") + " ";
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
/// Equal bits, but for which NaN it is.
bool same(const Tensor& a, const Tensor& b) {
  if (same_bits(a, b)) return true;
  if (!a.is_floating_point() || a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  const Tensor x = tt::isnan(a), y = tt::isnan(b);
  return same_bits(x, y) && same_bits(a.masked_fill(x, 0), b.masked_fill(y, 0));
}
/// What a way of running it gives, or that it fails.
template <class F>
std::optional<Tensor> tried(const F& f, std::string& error) {
  try {
    return f();
  } catch (const tt::InternalError&) {
    throw;
  } catch (const tt::Exception& e) {
    error = e.what();
    return std::nullopt;
  }
}

/// The cases of an operator, by dtype of the first Tensor, or of the result where there is none.
struct Recorded {
  std::string name;
  std::vector<Case> cases[tt::dtype_count];
};
struct Library {
  std::vector<Recorded> operators;
  Library() {
    Cases all("tests/data/operators.txt");
    for (Case c; all.next(c);) {
      if (operators.empty() || operators.back().name != c.name) operators.push_back({c.name, {}});
      for (Tensor& t : c.leaves) t.requires_grad_(false);
      const Tensors given = tensors_of(c);
      const Tensor& first = given.empty() ? c.results[0] : given[0];
      if (first.numel() <= 2000) operators.back().cases[static_cast<int>(first.dtype())].push_back(c);
    }
  }
};
const Library& library() {
  static const Library l;
  return l;
}

/// A little more, by which what depends on rounding is another number.
Tensor beside(const Tensor& x, double allowed) { return x * (1 + (allowed < 1e-6 ? 1e-11 : allowed < 0.01 ? 1e-5 : 1e-2)); }
/// Where a small step changes much, rounding does too: nothing can be compared.
double of_small_steps(double allowed) { return allowed > 0.01 ? allowed / 2 : allowed / 10; }
/// Eager does not ask where nothing flows.
bool no_derivative(const std::string& error) { return contains(error, "has no derivative") || contains(error, "has no second derivative"); }

/// Two examples at once.
template <class F>
std::string wrong_batch(const F& f, const Chain& chain, const Tensor& x, const Tensor& eager, double allowed) {
  const tt::NoGrad off;
  std::string error, ignored;
  const Tensor second = x.is_floating_point() ? x * 0.5 : x.reshape({-1}).flip({0}).reshape(x.shape());
  const auto other = tried([&] { return f(second); }, ignored);
  if (!other || !(other->shape() == eager.shape())) return "";
  const auto both = tried([&] { return tt::vmap(tt::frozen(f))(tt::stack({x, second})); }, error);
  if (!both) return "vmap fails: " + error;
  const Tensor one = both->select(0, 0), two = both->select(0, 1);
  const auto compiled = tried([&] { return tt::compile(tt::frozen(tt::vmap(tt::frozen(f))))(tt::stack({x, second})); }, error);
  if (!compiled) return "compiled vmap fails: " + error;
  if (!same(*compiled, *both)) return "compiled vmap gives other bits";
  if (has_integers_only(chain)) return same_bits(one, eager) && same_bits(two, *other) ? "" : "vmap gives other integers";
  if (close(one, eager, allowed) && close(two, *other, allowed)) return "";
  for (const bool first : {true, false})
    if (x.is_floating_point()) {
      const auto near = tried([&] { return f(beside(first ? x : second, allowed)); }, ignored);
      if (!near || !close(*near, first ? eager : *other, of_small_steps(allowed))) return "";
    }
  return "vmap gives something else";
}
template <class F>
std::string wrong_gradient(const F& loss, const Tensor& x, double allowed, bool writes_places) {
  std::string error, other;
  const auto slope_of = [](const auto& g, Tensor leaf) {
    const Tensor y = g(leaf.requires_grad_());
    if (y.requires_grad()) y.backward();
    return leaf.grad();
  };
  const auto slope = tried([&] { return slope_of(loss, x.clone()); }, error);
  const auto near = tried([&] { return slope_of(loss, beside(x, allowed)); }, other);
  if (slope && (!near || !close(*near, *slope, of_small_steps(allowed)) || (slope->defined() && !(slope->abs().amax().item() < 1e6)))) return "";
  const auto compiled = tried([&] { return slope_of(tt::compile(tt::frozen(loss)), x.clone()); }, other);
  if (slope && !compiled && no_derivative(other)) return "";
  if (slope.has_value() != compiled.has_value()) return "gradient: " + (slope ? "compiled fails: " + other : "eager fails: " + error);
  if (!slope) return "";
  if (!close(*compiled, *slope, allowed)) return "compiled has another gradient";
  if (slope->defined()) {
    const Tensor v = flow_into(x);
    const auto forward = tried([&] { return std::get<1>(tt::jvp(tt::frozen(loss), x, v)); }, error);
    if (!forward) return "jvp fails: " + error;
    const Tensor flow = slope->to(DType::f64) * v.to(DType::f64);
    const double a = forward->item(), b = flow.sum().item(), size = flow.abs().sum().item();  // size: of what cancels
    if (!writes_places && std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) > allowed * (1 + size)) return "jvp is " + std::to_string(a) + ", and grad " + std::to_string(b);
  }
  const auto through = tried([&] {
    const Tensor both = slope_of([&](const Tensor& t) { return tt::vmap(tt::frozen(loss))(t).sum(); }, tt::stack({x, x}));
    return both.defined() ? both.select(0, 1) : Tensor();
  }, error);
  if (!through && !no_derivative(error)) return "gradient through vmap fails: " + error;
  return !through || close(*through, *slope, allowed) ? "" : "gradient through vmap is another one";
}
/// What is wrong with a program, or nothing. A program whose eager runs differ draws numbers, and is left out, as is one that fails on both ways.
std::string wrong(const Chain& chain, const Tensor& x, int& compared) {
  std::string error, other;
  const auto f = [chain](const Tensor& t) { return run(chain, t); };
  std::optional<Tensor> eager;
  {
    const tt::NoGrad off;
    eager = tried([&] { return f(x); }, error);
    const auto again = tried([&] { return f(x); }, other);
    if (eager && again && !same(*eager, *again)) return "";
    const auto compiled = tt::compile(tt::frozen(f));
    for (int call = 0; call < 2; ++call) {
      const auto got = tried([&] { return compiled(x); }, other);
      if (!eager && got) return "";  // what nothing is done with is left out, with its failures
      if (eager && !got) return "compiled fails: " + other;
      if (eager && !same(*got, *eager)) return "compiled gives other bits";
    }
  }
  if (!eager) return "";
  ++compared;
  if (x.numel() == 0 || eager->numel() == 0) return "";
  const double allowed = allowed_of(chain);
  if (const std::string what = wrong_batch(f, chain, x, *eager, allowed); !what.empty()) return what;
  const bool is_smooth = std::none_of(chain.begin(), chain.end(), [](const Link& l) { return l.has_extremes; });
  if (!is_smooth || !has_floats_only(chain) || !x.is_floating_point() || !eager->is_floating_point()) return "";
  // of a place that is written twice the tangent is that of the last value, and each value gets the gradient: PyTorch's, both
  const bool writes_places = std::any_of(chain.begin(), chain.end(), [](const Link& l) {
    return contains(l.call.name, "max_unpool") || contains(l.call.name, "put") || contains(l.call.name, "scatter") || contains(l.call.name, "index_copy");
  });
  return wrong_gradient([chain](const Tensor& t) {
    const Tensor y = run(chain, t);
    return (y * flow_into(y)).sum();
  }, x, allowed, writes_places);
}

/// The same call with six elements where there is one without axes, and three where an axis has none.
Case grown(Case c) {
  each_tensor(c, [](const Tensor& t) {
    if (t.dim() == 0) return t.reshape({1}).repeat({6});
    if (t.numel() != 0) return t;
    tt::IntList shape;
    for (const std::int64_t n : t.shape()) shape.push_back(n == 0 ? 3 : n);
    return tt::ones(shape, t.dtype());
  });
  return c;
}
/// As many elements as integers say would be too many.
bool makes_as_many(const std::string& name) {
  return name == "bincount" || name == "repeat_interleave" || name == "nn.functional.one_hot" || name == "linspace" || name == "logspace";
}
/// Mostly the range that was recorded, which the operator allows.
void draw_range(Dice& dice, Link& l, bool is_grown) {
  const Tensor& t = l.like;
  if (t.is_floating_point() || t.dtype() == DType::boolean || t.numel() == 0) return;
  l.least = t.amin().item<std::int64_t>();
  l.most = t.amax().item<std::int64_t>() + (is_grown ? 2 : 0);
  if (dice.below(6) != 0 || makes_as_many(l.call.name)) return;
  const int bits = 8 * static_cast<int>(tt::size_of(t.dtype()));
  l.most = (std::int64_t{1} << std::min(bits - 1, 60)) - 1;
  l.least = -l.most - 1;
  if (t.dtype() == DType::u8) l.least = 0, l.most = 255;
}
/// A link of dtypes that `allows` takes, if the operator has one.
template <class F>
std::optional<Link> link_of(Dice& dice, const Recorded& op, const F& allows) {
  const auto any = [&](const auto& all) { return all[static_cast<std::size_t>(dice.below(static_cast<int>(all.size())))]; };
  const auto& cases = op.cases[dice.below(tt::dtype_count)];
  if (cases.empty()) return std::nullopt;
  Link l;
  l.call = any(cases);
  const bool is_grown = dice.below(2) == 0;
  if (is_grown) l.call = grown(l.call);
  l.layout = dice.below(5);
  const Tensors given = tensors_of(l.call);
  std::vector<int> places, results;
  for (int k = 0; k < static_cast<int>(given.size()); ++k)
    if (allows(given[static_cast<std::size_t>(k)].dtype())) places.push_back(k);
  for (int k = 0; k < static_cast<int>(l.call.results.size()); ++k)
    if (const Tensor& r = l.call.results[static_cast<std::size_t>(k)]; r.defined() && allows(r.dtype())) results.push_back(k);
  if ((places.empty() && !given.empty()) || results.empty()) return std::nullopt;
  l.place = given.empty() ? -1 : dice.below(4) == 0 ? any(places) : places[0];
  l.result = any(results);
  l.like = given.empty() ? l.call.results[static_cast<std::size_t>(l.result)] : given[static_cast<std::size_t>(l.place)];
  draw_range(dice, l, is_grown && !given.empty());
  const bool is_square = l.like.is_floating_point() && l.like.dim() > 1 && l.like.size(-1) == l.like.size(-2) && l.like.size(-1) > 0;
  l.is_definite = dice.below(3) == 0 && is_square;
  l.has_extremes = dice.below(12) == 0 && l.like.is_floating_point() && !l.is_definite;
  return l;
}
Chain chain_of(std::uint64_t seed, Tensor& x) {
  Dice dice{seed};
  const auto& all = library().operators;
  Chain chain;
  const int length = 1 + dice.below(4), kind = dice.below(5);  // of wide floats, of floats, of what is whole, of anything
  const auto allows = [kind](DType d) { return kind == 0 ? d == DType::f32 || d == DType::f64 : kind == 1 ? tt::is_floating(d) : kind == 2 ? !tt::is_floating(d) : true; };
  while (static_cast<int>(chain.size()) < length)
    if (const auto l = link_of(dice, all[static_cast<std::size_t>(dice.below(static_cast<int>(all.size())))], allows)) chain.push_back(*l);
  x = chain[0].like.clone();
  return chain;
}

}  // namespace

TEST_CASE("random chains of operators mean the same on all ways") {
  const char* const count = std::getenv("TT_CHAINS");
  const char* const from = std::getenv("TT_CHAIN");
  const int first = from ? std::atoi(from) : 0, programs = count ? std::atoi(count) : from ? 1 : is_sanitized ? 60 : 400;
  int compared = 0;
  std::map<std::string, int> drawn;
  for (int seed = first; seed < first + programs; ++seed) {
    Tensor x;
    const Chain chain = chain_of(static_cast<std::uint64_t>(seed) * 7919 + 777, x);
    for (const Link& l : chain) ++drawn[tt::name(l.like.dtype())];

    std::string what;
    try {
      what = wrong(chain, x, compared);
    } catch (const std::exception& e) {
      what = std::string("throws ") + e.what();
    }
    const std::string said = std::to_string(seed) + ": " + text_of(chain) + ": " + what;
    CHECK_MESSAGE(what.empty(), doctest::String(said.c_str()));
  }
  std::string text;
  for (const auto& [dtype, n] : drawn) text += " " + dtype + " " + std::to_string(n);
  MESSAGE(compared << " programs were compared; places:" << text);
  if (from) return;
  CHECK(compared > programs / 2);
  CHECK(drawn.size() == tt::dtype_count);
}

TEST_CASE("chains are drawn from every recorded operator") {
  std::map<std::string, bool> recorded;
  Cases all("tests/data/operators.txt");
  for (Case c; all.next(c);) recorded[c.name] = false;
  for (const Recorded& op : library().operators)
    for (const std::vector<Case>& of_dtype : op.cases) recorded[op.name] = recorded[op.name] || !of_dtype.empty();
  for (const auto& [name, is_there] : recorded) CHECK_MESSAGE(is_there, doctest::String(name.c_str()));
}
