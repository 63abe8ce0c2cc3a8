// Arrays in tests: filled with numbers, compared by bits or with a formula, and gradients held against
// central differences.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tt/core/array.hpp"

namespace arrays {

/// The same numbers below 10,007 for the same seed.
struct Numbers {
  int seed;
  int operator()() { return seed = (seed * 1103 + 12345) % 10007; }
};
/// Numbers of either sign: floating ones up to 5000 / `divisor`, integers up to 20.
template <class A>
A filled(int seed, int divisor = 4000) {
  using T = typename A::value_type;
  Numbers next{seed};
  A a;
  for (T& x : a) {
    const int k = next();
    if constexpr (std::is_floating_point_v<T>) x = static_cast<T>(k - 5000) / static_cast<T>(divisor);
    else if constexpr (std::is_same_v<T, bool>) x = k % 2 == 0;
    else x = static_cast<T>(k % 41 - 20);
  }
  return a;
}

template <class A, class B>
bool same_bits(const A& a, const B& b) {
  static_assert(std::is_same_v<typename A::value_type, typename B::value_type>);
  return a.shape() == b.shape() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(*a.data())) == 0);
}
/// Element i of `a` is f(i), counted in row-major order.
template <class A, class F>
bool each_is(const A& a, F f) {
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (!(a.data()[i] == f(i))) return false;
  return true;
}

/// The largest difference of `gradient` to central differences of `f` by the elements of `x`,
/// relative to the size of the gradient. f and x are of doubles.
template <class F, class A>
double gradient_error(F f, A& x, const A& gradient) {
  double worst = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    double& at = x.data()[i];
    const double was = at, h = 1e-5 * std::fmax(1.0, std::fabs(was));
    at = was + h;
    const double up = f();
    at = was - h;
    const double down = f();
    at = was;
    const double want = (up - down) / (2 * h), got = gradient.data()[i];
    worst = std::fmax(worst, std::fabs(got - want) / std::fmax(1.0, std::fabs(want)));
  }
  return worst;
}
/// The error of a central difference with h = 1e-5 in double: h^2 f''' / 6 + eps f / h.
inline constexpr double difference_error = 1e-8;

}  // namespace arrays
