// Random numbers that are the same on every machine and with every standard library.
#pragma once
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace examples {

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random {
  std::uint64_t state;

  /// 0 <= x < 1
  double operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
};

inline void shuffle(std::vector<int>& order, Random& random) {
  for (std::size_t n = order.size(); n > 1; --n)
    std::swap(order[n - 1], order[static_cast<std::size_t>(random() * static_cast<double>(n))]);
}

/// 0, 1, ... count - 1
inline std::vector<int> first_numbers(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace examples
