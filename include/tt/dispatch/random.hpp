// Random numbers. A generator gives a seed to each call; numbers are functions of seed and index (Philox), the same on every device. Names and meanings are
// PyTorch's, the numbers are not. In a captured function, draws from the default generator are steps of its graph: each call draws anew, in the order of the
// function as written.
//   tt::manual_seed(7);   tt::Tensor x = tt::rand({2, 3});      tt::Generator g(1);   tt::Tensor y = tt::randn({4}, g);
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <vector>

#include "tt/dispatch/argument_checks.hpp"
#include "tt/dispatch/example_run.hpp"
#include "tt/dispatch/factories.hpp"
#include "tt/dispatch/shared_ranges.hpp"
#include "tt/functional/random_ops.hpp"
#include "tt/ops/operators.hpp"

namespace tt {

/// A source of seeds: the k-th seed is a function of the generator's seed and k. Threads may share a generator.
class Generator {
 public:
  struct State {
    std::uint64_t seed = 0, draws = 0;
  };
  explicit Generator(std::uint64_t seed = default_seed) : seed_(seed) {}

  /// Restarts the sequence. In a captured function this, get_state and set_state end the graph, so that they run at every call.
  Generator& manual_seed(std::uint64_t seed, SourceLine at = here()) {
    set_state({seed, 0}, at);
    return *this;
  }
  std::uint64_t initial_seed() const { return seed_; }
  State get_state(SourceLine at = here()) const {
    if (detail::capture_mode) [[unlikely]] detail::capture_mode->break_graph("get_state", at);
    return {seed_, draws_};
  }
  void set_state(const State& s, SourceLine at = here()) {
    if (detail::capture_mode) [[unlikely]] detail::capture_mode->break_graph("set_state", at);
    seed_ = s.seed;
    draws_ = s.draws;
  }
  /// The seed for one call. In a captured function it ends the graph, so that every call draws anew.
  std::int64_t next_seed(const char* op, SourceLine at) { return next_seed(op, at, detail::example_run); }

 private:
  std::int64_t next_seed(const char* op, SourceLine at, detail::ExampleRun* d) {
    using Kind = detail::ExampleRun::Kind;
    if (d) [[unlikely]] {
      if (d->kind == Kind::error) TT_THROW(Error(Text("tt::vmap: the function draws random numbers (") << op << "). Say randomness = \"same\" or \"different\" in the options?" << at));
      if (d->kind == Kind::same && !d->first && d->next < d->seeds.size()) return d->seeds[d->next++];
      const std::int64_t seed = next_seed(op, at, d->outer);
      if (d->kind == Kind::same) d->seeds.push_back(seed), ++d->next;
      return seed;
    }
    if (detail::capture_mode) [[unlikely]] detail::capture_mode->varies(op, at);
    std::uint64_t z = seed_ + (draws_.fetch_add(1, std::memory_order_relaxed) + 1) * 0x9e3779b97f4a7c15u;  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::int64_t>((z ^ (z >> 31)) >> 1);
  }

  static constexpr std::uint64_t default_seed = 67280421310721u;  // PyTorch's
  std::atomic<std::uint64_t> seed_, draws_{0};
};
inline Generator& default_generator() {
  static Generator g;
  return g;
}
/// Restarts the default generator.
inline Generator& manual_seed(std::uint64_t seed, SourceLine at = here()) { return default_generator().manual_seed(seed, at); }

namespace detail {
/// A draw in a captured function's graph: the default generator's next seeds, as many as `input` has elements, at each call, in the function's order.
template <class = void>
struct DrawSeed {
  struct Options {};
  static constexpr OpInfo info{.name = "_draw_seed", .effect = true, .arguments = "input"};
  static Sym like(const Sym& x, const Options&) { return {x.graph, x.graph->constant(DType::i64, 0, x.shape())}; }
  static void kernel(Call& c, const Options&) {
    c.result[0] = Tensor(DType::i64, c[0].impl().shape, c[0].is_meta() ? c[0].device() : Device{});
    if (c[0].is_meta()) return;
    for (std::int64_t k = 0; k < c[0].impl().numel; ++k) c.result[0].data_ptr<std::int64_t>()[k] = default_generator().next_seed("rand", c.at);
  }
};
/// Can this draw be a step of the graph? Other generators are C++ variables; devices take seeds by value; draws in bodies of branches and loops, and in nested
/// vmaps, end the graph.
inline bool records_draws(const Generator& g, const TensorOptions& o) {
  return capture_mode && (example_run ? example_run->kind != ExampleRun::Kind::error && example_run->region == DispatchState::of_this_thread().capture : capture_mode->records_effects()) && &g == &default_generator() &&
         is_host(o.device) && !o.requires_grad;
}
template <class = void>
Tensor recorded_seed(SourceLine at) {
  if (!example_run) return call_with<DrawSeed<>>(at, {}, zeros({}, TensorOptions{}, at));
  const auto k = static_cast<int>(example_run->next++);
  return example_run->recorded_seeds.defined() ? example_run->recorded_seeds.select(0, k, at) : zeros({}, {.dtype = DType::i64}, at);
}
/// A generator's next seed as a Tensor, for ops that take one; in a captured function the default generator's is drawn at each call.
template <class = void>
Tensor next_seed(const Device& device, const char* op, SourceLine at, Generator& g = default_generator()) {
  if (records_draws(g, on_device(DType::i64, device))) return recorded_seed(at);
  const Tensor seed = full({}, Size(g.next_seed(op, at)), {.dtype = DType::i64}, at);
  return is_host(device) ? seed : seed.to(device);
}
template <class Fn>
Tensor draw(const IntList& shape, Generator& g, const TensorOptions& o, const char* op, SourceLine at);
template <class Fn>
Tensor draw_like(const Tensor& x, Generator& g, const char* op, SourceLine at) {
  if (records_draws(g, on_device(x.dtype(), x.device()))) [[unlikely]] return call_structured<Fn>(at, x, recorded_seed(at));
  if (x.device().type != DeviceType::cpu) return draw<Fn>(x.shape(at), g, on_device(x.dtype(), x.device()), op, at);
  return call_structured<Fn>(at, x, g.next_seed(op, at));
}
/// Throws Error unless there are integers in [low, high), and the dtype holds them all.
inline void need_bounds(DType d, std::int64_t low, std::int64_t high, const char* op, SourceLine at) {
  if (high <= low) TT_THROW(Error(Text("tt::") << op << ": there is no number from " << low << " to below " << high << "." << at));
  for (const std::int64_t n : {low, high - 1}) {
    const bool within = d == DType::boolean ? n == 0 || n == 1 : d == DType::f16 ? n >= -65504 && n <= 65504 : holds(d, n) && (n >= 0 || is_floating(d) || is_signed(d));
    if (!within) TT_THROW(Error(describe({.mistake = Mistake::number_out_of_range, .op = op, .dtype = d, .number = n, .where = at})));
  }
}
inline void need_drawn_dtype(DType d, const char* op, SourceLine at) {
  if (!is_floating(d)) TT_THROW(Error(Text("tt::") << op << ": of " << name(d) << ". A floating dtype?" << at));
}
template <class Fn>
Tensor draw(const IntList& shape, Generator& g, const TensorOptions& o, const char* op, SourceLine at) {
  need_drawn_dtype(o.dtype, op, at);
  if (records_draws(g, o)) [[unlikely]] return draw_like<Fn>(zeros(shape, o, at), g, op, at);
  const std::int64_t seed = g.next_seed(op, at);
  if constexpr (std::is_same_v<Fn, RandLike>) return rand(shape, seed, o, at);
  else return randn(shape, seed, o, at);
}
}  // namespace detail

/// Uniform in [0, 1).
template <class = void>
Tensor rand(const IntList& shape, Generator& g, TensorOptions o = {}, SourceLine at = here()) { return detail::draw<RandLike>(shape, g, o, "rand", at); }
template <class = void>
Tensor rand(const IntList& shape, TensorOptions o = {}, SourceLine at = here()) { return rand(shape, default_generator(), o, at); }
template <std::same_as<DType> D>
Tensor rand(const IntList& shape, D dtype, SourceLine at = here()) { return rand(shape, TensorOptions{.dtype = dtype}, at); }
/// Normal, with mean 0 and variance 1.
template <class = void>
Tensor randn(const IntList& shape, Generator& g, TensorOptions o = {}, SourceLine at = here()) { return detail::draw<RandnLike>(shape, g, o, "randn", at); }
template <class = void>
Tensor randn(const IntList& shape, TensorOptions o = {}, SourceLine at = here()) { return randn(shape, default_generator(), o, at); }
template <std::same_as<DType> D>
Tensor randn(const IntList& shape, D dtype, SourceLine at = here()) { return randn(shape, TensorOptions{.dtype = dtype}, at); }
/// Sizes without braces. An integer behind a list in braces is a seed: rand({4}, 7).
template <SizeOrInteger A, SizeOrInteger B, SizeOrInteger... N>
Tensor rand(const A& a, const B& b, const N&... more) { return rand(IntList{a, b, more...}, TensorOptions{}, SourceLine{}); }
template <SizeOrInteger A, SizeOrInteger B, SizeOrInteger... N>
Tensor randn(const A& a, const B& b, const N&... more) { return randn(IntList{a, b, more...}, TensorOptions{}, SourceLine{}); }
/// The same, in the shape and dtype of `x`.
template <class = void>
Tensor rand_like(const Tensor& x, Generator& g = default_generator(), SourceLine at = here()) { return detail::draw_like<RandLike>(x, g, "rand_like", at); }
template <class = void>
Tensor randn_like(const Tensor& x, Generator& g = default_generator(), SourceLine at = here()) { return detail::draw_like<RandnLike>(x, g, "randn_like", at); }
/// Integers in [low, high); i64 by default. Throws Error when there are none.
template <class = void>
Tensor randint(std::int64_t low, std::int64_t high, const IntList& shape, Generator& g = default_generator(), TensorOptions o = {}, SourceLine at = here()) {
  o.dtype = o.dtype.or_else(DType::i64);
  detail::need_bounds(o.dtype, low, high, "randint", at);
  (void)shape_of(shape, "randint", at);
  const Tensor like = zeros({}, detail::on_device(DType::i64, o.device), at).expand(shape, at);
  const auto range = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  return call_with<RandintLike>(at, {low, range}, like, detail::next_seed(o.device, "randint", at, g)).to(o.dtype, at);
}
template <class = void>
Tensor randint(std::int64_t low, std::int64_t high, const IntList& shape, TensorOptions o, SourceLine at = here()) { return randint(low, high, shape, default_generator(), o, at); }
template <class = void>
Tensor randint(std::int64_t high, const IntList& shape, TensorOptions o, SourceLine at = here()) { return randint(0, high, shape, o, at); }
template <class = void>
Tensor randint(std::int64_t high, const IntList& shape, Generator& g = default_generator(), TensorOptions o = {}, SourceLine at = here()) {
  return randint(0, high, shape, g, o, at);
}
/// 1 with the probability given by the element of `p`, else 0; in the dtype of `p`.
template <class = void>
Tensor bernoulli(const Tensor& p, Generator& g = default_generator(), SourceLine at = here()) {
  detail::need_floating("bernoulli", p, at);
  if (!detail::capture_mode && is_host(p.device()) && !p.is_meta() && p.numel(at) > 0) {
    const Tensor seen = p.detach(), low = seen.amin({}, false, at), high = seen.amax({}, false, at);
    if (!(low.item<double>(at) >= 0 && high.item<double>(at) <= 1)) TT_THROW(Error(Text("tt::bernoulli: a probability is outside of 0 and 1.") << at));
  }
  return (detail::draw<RandLike>(p.shape(at), g, detail::on_device(DType::f64, p.device()), "bernoulli", at) < p).to(p.dtype(), at);
}

/// Normal numbers with these means and standard deviations, broadcast to a common shape.
template <class = void>
Tensor normal(const Tensor& mean, const Tensor& std, Generator& g = default_generator(), SourceLine at = here()) {
  const Tensor both = mean.detach() + std.detach();
  return randn_like(both, g, at) * std + mean;
}
/// Normal numbers with one mean and one standard deviation.
template <class = void>
Tensor normal(double mean, double std, const IntList& shape, Generator& g = default_generator(), TensorOptions o = {}, SourceLine at = here()) {
  if (!(std >= 0)) TT_THROW(Error(Text("tt::normal: the standard deviation is negative or NaN.") << at));
  return randn(shape, g, o, at) * std + mean;
}
template <class> Tensor& Tensor::uniform_(double from, double to, Generator& g, SourceLine at) {
  if (!(from <= to)) TT_THROW(Error(Text("tt::uniform_: `to` is below `from`.") << at));
  return copy_(rand(shape(at), g, detail::on_device(dtype(), device()), at) * (to - from) + from, at);
}
template <class> Tensor& Tensor::uniform_(double from, double to, SourceLine at) { return uniform_(from, to, default_generator(), at); }
namespace detail {
/// Throws Error unless a parameter of a distribution is valid (`right`).
inline void need_parameter(bool right, const char* op, const char* parameter, double value, const char* needed, SourceLine at) {
  if (right) return;
  char number[32];
  std::snprintf(number, sizeof number, "%g", value);
  TT_THROW(Error(Text("tt::") << op << ": " << parameter << " is " << number << ", not " << needed << "." << at));
}
}  // namespace detail
template <class> Tensor& Tensor::normal_(double mean, double std, Generator& g, SourceLine at) {
  detail::need_parameter(std >= 0, "normal_", "std", std, "0 or more", at);
  return copy_(randn(shape(at), g, detail::on_device(dtype(), device()), at) * std + mean, at);
}
template <class> Tensor& Tensor::normal_(double mean, double std, SourceLine at) { return normal_(mean, std, default_generator(), at); }
namespace detail {
/// Exponentially distributed, above 0, in the shape of `x`. Narrow floats are drawn as f32: in 16 bits there would be few distinct results.
template <class = void>
Tensor exponential_like(const Tensor& x, double lambd, Generator& g, SourceLine at) {
  need_parameter(lambd > 0, "exponential", "lambd", lambd, "above 0", at);
  const DType d = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor u = tt::maximum(rand(x.shape(at), g, on_device(d, x.device()), at), full({}, 0x1p-25, on_device(d, x.device()), at), at);  // a 0 would give 0
  return (-tt::log1p(-u, at) / lambd).to(x.dtype(), at);
}
/// The number of trials until the first success, with probability p.
template <class = void>
Tensor geometric_like(const Tensor& x, double p, Generator& g, SourceLine at) {
  need_parameter(p > 0 && p < 1, "geometric", "p", p, "between 0 and 1", at);
  return (tt::floor(tt::log1p(-rand(x.shape(at), g, on_device(DType::f32, x.device()), at), at) / __builtin_log1p(-p), at) + 1).to(x.dtype(), at);
}
template <class = void>
Tensor log_normal_like(const Tensor& x, double mean, double std, Generator& g, SourceLine at) {
  need_parameter(std > 0, "log_normal", "std", std, "above 0", at);
  return tt::exp(randn_like(x.detach(), g, at) * std + mean, at);
}
template <class = void>
Tensor cauchy_like(const Tensor& x, double median, double sigma, Generator& g, SourceLine at) {
  constexpr double pi = 3.141592653589793;
  need_parameter(sigma > 0, "cauchy", "sigma", sigma, "above 0", at);
  return tt::tan((rand_like(x.detach(), g, at) - 0.5) * pi, at) * sigma + median;
}
}  // namespace detail
template <class> Tensor& Tensor::exponential_(double lambd, Generator& g, SourceLine at) { return detail::need_drawn_dtype(dtype(), "exponential_", at), copy_(detail::exponential_like(*this, lambd, g, at), at); }
template <class> Tensor& Tensor::exponential_(double lambd, SourceLine at) { return exponential_(lambd, default_generator(), at); }
template <class> Tensor& Tensor::geometric_(double p, Generator& g, SourceLine at) { return copy_(detail::geometric_like(*this, p, g, at), at); }
template <class> Tensor& Tensor::geometric_(double p, SourceLine at) { return geometric_(p, default_generator(), at); }
template <class> Tensor& Tensor::log_normal_(double mean, double std, Generator& g, SourceLine at) { return detail::need_drawn_dtype(dtype(), "log_normal_", at), copy_(detail::log_normal_like(*this, mean, std, g, at), at); }
template <class> Tensor& Tensor::log_normal_(double mean, double std, SourceLine at) { return log_normal_(mean, std, default_generator(), at); }
template <class> Tensor& Tensor::cauchy_(double median, double sigma, Generator& g, SourceLine at) { return detail::need_drawn_dtype(dtype(), "cauchy_", at), copy_(detail::cauchy_like(*this, median, sigma, g, at), at); }
template <class> Tensor& Tensor::cauchy_(double median, double sigma, SourceLine at) { return cauchy_(median, sigma, default_generator(), at); }
template <class> Tensor& Tensor::random_(std::int64_t from, std::int64_t to, Generator& g, SourceLine at) {
  detail::need_bounds(dtype(), from, to, "random_", at);
  return copy_(randint(from, to, shape(at), g, detail::on_device(DType::i64, device()), at), at);
}
template <class> Tensor& Tensor::random_(std::int64_t from, std::int64_t to, SourceLine at) { return random_(from, to, default_generator(), at); }
template <class> Tensor& Tensor::random_(std::int64_t to, Generator& g, SourceLine at) { return random_(0, to, g, at); }
namespace detail {
/// All integers of this many bits are exact in the dtype; at most 53.
constexpr int whole_digits(DType d) {
  switch (d) {
    case DType::boolean: return 1;
    case DType::bf16: return 8;
    case DType::f16: return 11;
    case DType::f32: return 24;
    case DType::f64:
    case DType::i64: return 53;
    default: return 8 * size_of(d) - (tt::is_signed(d) ? 1 : 0);
  }
}
}  // namespace detail
template <class> Tensor& Tensor::random_(SourceLine at) { return random_(default_generator(), at); }
template <class> Tensor& Tensor::random_(Generator& g, SourceLine at) {
  return random_(0, (std::int64_t{1} << detail::whole_digits(dtype())) + (is_floating(dtype()) ? 1 : 0), g, at);
}
template <class> Tensor& Tensor::bernoulli_(double p, Generator& g, SourceLine at) {
  detail::need_parameter(p >= 0 && p <= 1, "bernoulli_", "p", p, "from 0 to 1", at);
  return copy_((rand(shape(at), g, detail::on_device(DType::f64, device()), at) < p).to(dtype(), at), at);
}
template <class> Tensor& Tensor::bernoulli_(double p, SourceLine at) { return bernoulli_(p, default_generator(), at); }

namespace detail {
/// Of operators that random.hpp calls with Tensors that fit: a call by name, or a graph that was read, may give others.
inline void need_drawn(const Call& c, bool fits) {
  for (int k = 0; k < c.arguments; ++k) fits = fits && c[k].dtype() == DType::f64;
  if (!fits) TT_THROW(Error(Text("tt::") << c.op->name() << ": Tensors of f64 whose shapes go together are expected." << c.at));
}
/// A drawn number, or 0 where it is not from 0 to below 1.
inline double drawn_number(double u) { return u >= 0 && u < 1 ? u : 0; }
/// The whole numbers below n, shuffled by n uniform numbers (n,) of f64: exchanges from the end on (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm P).
template <class = void>
struct Shuffled {
  struct Options {};
  static constexpr OpInfo info{.name = "_shuffled", .arguments = "drawn"};
  static Sym like(const Sym& drawn, const Options&) { return {drawn.graph, drawn.graph->constant(DType::i64, 0, drawn.shape())}; }
  static void kernel(Call& c, const Options&) {
    need_drawn(c, c[0].dim() == 1);
    const std::int64_t n = c[0].impl().numel;
    c.result[0] = Tensor(DType::i64, c[0].impl().shape, c[0].device());
    if (c[0].is_meta()) return;
    const Tensor u = c[0].contiguous();
    auto* const p = c.result[0].data_ptr<std::int64_t>();
    const auto* const drawn = u.data_ptr<double>();
    for (std::int64_t k = 0; k < n; ++k) p[k] = k;
    const auto other = [drawn](std::int64_t k) { return static_cast<std::int64_t>(drawn_number(drawn[k]) * static_cast<double>(k + 1)); };
    constexpr std::int64_t ahead = 24;  // so many exchanges ahead memory is fetched
    for (std::int64_t k = n - 1; k > 0; --k) {
      if (k > ahead) __builtin_prefetch(p + other(k - ahead), 1);
      std::swap(p[k], p[other(k)]);
    }
  }
};
}  // namespace detail
/// The whole numbers below n in a random order: (n,) of i64. Throws Error where n is negative.
template <class = void>
Tensor randperm(SizeArgument n, Generator& g = default_generator(), SourceLine at = here()) {
  if (n.size < 0) TT_THROW(Error(Text("tt::randperm: n is negative: ") << n.size.value() << "." << at));
  return call_with<detail::Shuffled<>>(at, {}, detail::draw<RandLike>({n.size}, g, {.dtype = DType::f64}, "randperm", at));
}
namespace detail {
/// Running sums of `Rows` rows of n numbers, interleaved. Returns the first row with a negative, infinite or NaN number, or -1.
template <int Rows>
int running_sums(const double* from, std::int64_t n, double* to) {
  double all[Rows] = {}, least[Rows] = {};
  for (std::int64_t j = 0; j < n; ++j)
    for (int r = 0; r < Rows; ++r) {
      const double v = from[r * n + j];
      to[r * n + j] = all[r] += v;
      least[r] = v < least[r] ? v : least[r];
    }
  for (int r = 0; r < Rows; ++r)
    if (least[r] < 0 || all[r] - all[r] != 0) return r;
  return -1;
}
/// Columns of rows of weights (m, n), one for each uniform number of (m, num_samples), with chances as the weights.
template <class = void>
struct DrawnColumns {
  struct Options {
    bool replacement = false;
  };
  static constexpr OpInfo info{.name = "_drawn_columns", .arguments = "input, drawn"};
  static Sym like(const Sym&, const Sym& drawn, const Options&) { return {drawn.graph, drawn.graph->constant(DType::i64, 0, drawn.shape())}; }
  static void kernel(Call& c, const Options& o) {
    need_drawn(c, c[0].dim() == 2 && c[1].dim() == 2 && c[0].size(0) == c[1].size(0));
    c.result[0] = Tensor(DType::i64, c[1].impl().shape, c[1].device());
    if (c[1].is_meta()) return;
    const Tensor given = c[0].contiguous(), u = c[1].contiguous();
    const Tensor w = o.replacement ? given : given.clone();  // drawn ones have no weight any more
    const std::int64_t rows = w.size(0), n = w.size(1), num_samples = u.size(1);
    double* const weight = w.template data_ptr<double>();
    const double* const drawn = u.template data_ptr<double>();
    auto* const to = c.result[0].data_ptr<std::int64_t>();
    constexpr std::int64_t together = 4;  // rows, whose sums do not wait for each other
    in_ranges(rows, n * (o.replacement ? 4 : num_samples), [&](std::int64_t first, std::int64_t end) {
      std::vector<double> room(static_cast<std::size_t>(together * n));
      double* const sums = room.data();
      const auto sum = [&](std::int64_t row, bool several) {
        const double* const from = weight + row * n;
        if (const int wrong = several ? running_sums<together>(from, n, sums) : running_sums<1>(from, n, sums); wrong >= 0)
          TT_THROW(Error(Text("tt::multinomial: a weight is negative, infinite or NaN, or their sum is infinite, in row ") << row + wrong << "." << c.at));
      };
      const auto draw = [&](std::int64_t row, std::int64_t k, const double* its) {
        const double all = n > 0 ? its[n - 1] : 0;
        if (!(all > 0)) TT_THROW(Error(Text("tt::multinomial: fewer weights than ") << num_samples << " are above 0 in row " << row << "." << c.at));
        std::int64_t chosen = std::upper_bound(its, its + n, drawn[row * num_samples + k] * all) - its;
        if (chosen == n) chosen = std::lower_bound(its, its + n, all) - its;  // the last that has a weight
        to[row * num_samples + k] = chosen;
        if (!o.replacement) weight[row * n + chosen] = 0;
      };
      for (std::int64_t row = first; row < end;) {
        const bool several = o.replacement && end - row >= together;
        const std::int64_t count = several ? together : 1;
        for (std::int64_t k = 0; k < num_samples; ++k) {
          if (k == 0 || !o.replacement) sum(row, several);
          for (std::int64_t j = 0; j < count; ++j) draw(row + j, k, sums + j * n);
        }
        row += count;
      }
    });
  }
};
}  // namespace detail
/// Indices into rows of weights, drawn with probabilities proportional to the weights: (n,) or (m, n) to (num_samples,) or (m, num_samples), i64. Computed on
/// the host.
template <class = void>
Tensor multinomial(const Tensor& weights, std::int64_t num_samples, bool replacement = false, Generator& g = default_generator(), SourceLine at = here()) {
  const int rank = weights.dim();
  if (rank < 1 || rank > 2 || !is_floating(weights.dtype()) || num_samples < 1)
    TT_THROW(Error(Text("tt::multinomial: ") << num_samples << " of weights " << name(weights.dtype()) << ' ' << weights.shape() << ". A vector or a matrix of floating numbers?" << at));
  const Tensor w = weights.detach().cpu(at).to(DType::f64, at).reshape({rank == 2 ? weights.size(0, at) : Size(1), weights.size(-1, at)}, at);
  const Tensor r = call_with<detail::DrawnColumns<>>(at, {replacement}, w, detail::draw<RandLike>({w.size(0, at), num_samples}, g, {.dtype = DType::f64}, "multinomial", at));
  return (rank == 2 ? r : r.reshape({num_samples}, at)).to(weights.device(), false, at);
}
namespace detail {
/// Poisson variates of rates, each of a sequence of its own that begins with a uniform number.
template <class = void>
struct PoissonCounts {
  struct Options {};
  static constexpr OpInfo info{.name = "_poisson_counts", .arguments = "rate, drawn"};
  static Sym like(const Sym& rate, const Sym&, const Options&) { return rate; }
  static void kernel(Call& c, const Options&) {
    need_drawn(c, c[0].shape() == c[1].shape());
    c.result[0] = Tensor(DType::f64, c[0].impl().shape, c[0].device());
    if (c[0].is_meta()) return;
    const Tensor rates = c[0].contiguous(), seeds = c[1].contiguous();
    for (std::int64_t k = 0; k < rates.numel(); ++k) {
      const double rate = rates.data_ptr<double>()[k];
      if (!(rate >= 0) || rate == INFINITY) TT_THROW(Error(Text("tt::poisson: a rate is negative, infinite or NaN.") << c.at));
      c.result[0].data_ptr<double>()[k] = count(rate, static_cast<std::uint64_t>(drawn_number(seeds.data_ptr<double>()[k]) * 0x1p53));
    }
  }

 private:
  /// Products of uniform numbers until they are below e^-rate (Knuth, 3.4.1).
  static double count(double rate, std::uint64_t state) {
    const auto uniform = [&] {  // splitmix64
      state += 0x9e3779b97f4a7c15u;
      std::uint64_t z = state;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    };
    double events = 0;
    for (double rest = rate; rest > 0; rest -= 500) {  // a sum of smaller ones, whose e^-rate does not vanish
      const double limit = __builtin_exp(-(rest < 500 ? rest : 500));
      double product = uniform();
      while (product > limit) events += 1, product *= uniform();
    }
    return events;
  }
};
}  // namespace detail
/// Numbers of events with these rates, of the shape and dtype of `rate`. Computed on the host. Throws Error where a rate is negative, infinite or NaN.
template <class = void>
Tensor poisson(const Tensor& rate, Generator& g = default_generator(), SourceLine at = here()) {
  detail::need_floating("poisson", rate, at);
  const Tensor rates = rate.detach().cpu(at).to(DType::f64, at);
  const Tensor drawn = detail::draw<RandLike>({rates.numel(at)}, g, {.dtype = DType::f64}, "poisson", at).reshape(rates.shape(at), at);
  return call_with<detail::PoissonCounts<>>(at, {}, rates, drawn).to(rate.dtype(), at).to(rate.device(), false, at);
}

// ---- overloads with scalars in place of Tensors, and methods
template <class = void> Tensor bernoulli(const Tensor& x, double p, Generator& g = default_generator(), SourceLine at = here()) { return empty_like(x).bernoulli_(p, g, at); }
template <class = void> Tensor normal(const Tensor& mean, double std = 1, Generator& g = default_generator(), SourceLine at = here()) {
  detail::need_parameter(std >= 0, "normal", "std", std, "0 or more", at);
  return normal(mean, full({}, std, detail::on_device(mean.dtype(), mean.device()), at), g, at);
}
template <class = void> Tensor normal(double mean, const Tensor& std, Generator& g = default_generator(), SourceLine at = here()) { return normal(full({}, mean, detail::on_device(std.dtype(), std.device()), at), std, g, at); }
template <class> Tensor& Tensor::bernoulli_(const Tensor& p, Generator& g, SourceLine at) { return copy_(tt::bernoulli(p.expand(shape(at), at), g, at), at); }
template <class> Tensor& Tensor::bernoulli_(const Tensor& p, SourceLine at) { return bernoulli_(p, default_generator(), at); }
template <class> Tensor Tensor::bernoulli(Generator& g, SourceLine at) const { return tt::bernoulli(*this, g, at); }
template <class> Tensor Tensor::bernoulli(double p, SourceLine at) const { return tt::bernoulli(*this, p, default_generator(), at); }
template <class> Tensor Tensor::bernoulli(double p, Generator& g, SourceLine at) const { return tt::bernoulli(*this, p, g, at); }
template <class> Tensor Tensor::multinomial(std::int64_t num_samples, bool replacement, Generator& g, SourceLine at) const { return tt::multinomial(*this, num_samples, replacement, g, at); }

}  // namespace tt
