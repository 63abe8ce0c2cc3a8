// Random numbers from a generator, which gives a seed for each call. They are functions of that and of their place (Philox): the same on
// every device. Names and meanings are PyTorch's, the numbers are not.
//   tt::manual_seed(7);   tt::Tensor x = tt::rand({2, 3});      tt::Generator g(1);   tt::Tensor y = tt::randn({4}, g);
#pragma once
#include <atomic>

#include "tt/dispatch/factories.hpp"
#include "tt/functional/random_ops.hpp"
#include "tt/ops/operators.hpp"

namespace tt {

/// Where seeds come from: the k-th one is a function of the generator's seed and k. Threads may share one.
class Generator {
 public:
  struct State {
    std::uint64_t seed = 0, draws = 0;
  };
  explicit Generator(std::uint64_t seed = default_seed) : seed_(seed) {}

  /// Begins anew.
  Generator& manual_seed(std::uint64_t seed) {
    set_state({seed, 0});
    return *this;
  }
  std::uint64_t initial_seed() const { return seed_; }
  State get_state() const { return {seed_, draws_}; }
  void set_state(const State& s) {
    seed_ = s.seed;
    draws_ = s.draws;
  }
  /// For one call. In a captured function the graph ends here, so that every call draws anew.
  std::int64_t next_seed(const char* op, SourceLine at) {
    if (detail::capture_mode) [[unlikely]] detail::capture_mode->varies(op, at);
    std::uint64_t z = seed_ + (draws_.fetch_add(1, std::memory_order_relaxed) + 1) * 0x9e3779b97f4a7c15u;  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::int64_t>((z ^ (z >> 31)) >> 1);
  }

 private:
  static constexpr std::uint64_t default_seed = 67280421310721u;  // PyTorch's
  std::atomic<std::uint64_t> seed_, draws_{0};
};
inline Generator& default_generator() {
  static Generator g;
  return g;
}
/// Of the default generator.
inline Generator& manual_seed(std::uint64_t seed) { return default_generator().manual_seed(seed); }

/// Uniform in [0, 1).
template <class = void>
Tensor rand(const IntList& shape, Generator& g, TensorOptions o = {}, SourceLine at = here()) { return rand(shape, g.next_seed("rand", at), o, at); }
template <class = void>
Tensor rand(const IntList& shape, TensorOptions o = {}, SourceLine at = here()) { return rand(shape, default_generator(), o, at); }
template <std::same_as<DType> D>
Tensor rand(const IntList& shape, D dtype, SourceLine at = here()) { return rand(shape, TensorOptions{.dtype = dtype}, at); }
/// Normal, of mean 0 and variance 1.
template <class = void>
Tensor randn(const IntList& shape, Generator& g, TensorOptions o = {}, SourceLine at = here()) { return randn(shape, g.next_seed("randn", at), o, at); }
template <class = void>
Tensor randn(const IntList& shape, TensorOptions o = {}, SourceLine at = here()) { return randn(shape, default_generator(), o, at); }
template <std::same_as<DType> D>
Tensor randn(const IntList& shape, D dtype, SourceLine at = here()) { return randn(shape, TensorOptions{.dtype = dtype}, at); }
/// As many, of the shape and dtype of `x`.
template <class = void>
Tensor rand_like(const Tensor& x, Generator& g = default_generator(), SourceLine at = here()) { return rand_like(x, g.next_seed("rand_like", at), at); }
template <class = void>
Tensor randn_like(const Tensor& x, Generator& g = default_generator(), SourceLine at = here()) { return randn_like(x, g.next_seed("randn_like", at), at); }
/// Whole numbers from low to high - 1; i64 unless said. Throws Error when there are none.
template <class = void>
Tensor randint(std::int64_t low, std::int64_t high, const IntList& shape, Generator& g = default_generator(), TensorOptions o = {.dtype = DType::i64}, SourceLine at = here()) {
  if (high <= low) TT_THROW(Error(Text("tt::randint: there is no number from ") << low << " to below " << high << "." << at));
  const Tensor u = rand(shape, g.next_seed("randint", at), {.dtype = DType::f64, .device = o.device}, at);
  return (tt::floor(u * (static_cast<double>(high) - static_cast<double>(low))).to(DType::i64, at) + low).to(o.dtype, at);
}
template <class = void>
Tensor randint(std::int64_t high, const IntList& shape, Generator& g = default_generator(), TensorOptions o = {.dtype = DType::i64}, SourceLine at = here()) {
  return randint(0, high, shape, g, o, at);
}
/// 1 with the probability that is the element of `p` in its place, else 0; of the dtype of `p`.
template <class = void>
Tensor bernoulli(const Tensor& p, Generator& g = default_generator(), SourceLine at = here()) {
  if (!is_floating(p.dtype())) TT_THROW(Error(Text("tt::bernoulli: dtype is not accepted: ") << name(p.dtype()) << "." << at));
  return (rand(p.shape(), g.next_seed("bernoulli", at), {.dtype = DType::f64, .device = p.device()}, at) < p).to(p.dtype(), at);
}

}  // namespace tt
