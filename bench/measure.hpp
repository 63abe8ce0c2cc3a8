// What the benchmarks share: inputs, errors in units in the last place against a double reference,
// and the timed loop. Every row is called op/size/contender; bench/table.sh turns the times of one
// run into ratios, which is what to read: absolute times drift.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// L1, L2, L3 and memory: elements of one operand.
struct Size {
  const char* name;
  std::int64_t elements;
};
inline constexpr std::int64_t in_l1 = 2048, in_l2 = 32768, in_l3 = 1 << 20, in_memory = 1 << 24;
inline constexpr Size sizes[] = {
    {"L1", in_l1}, {"L2", in_l2}, {"L3", in_l3}, {"DRAM", in_memory}};

/// How many elements of a result are compared with the reference.
inline constexpr std::int64_t compared = 32768;

/// Uniform in [low, high), the same in every run.
inline void fill(std::span<float> x, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  const float scale = (high - low) / 4294967296.0f;
  for (float& v : x) v = low + scale * static_cast<float>(random());
}

/// The distance of two floats that are both near x, and never below `floor`'s.
inline double ulp_of(double x, double floor) {
  int exponent = 0;
  std::frexp(std::max(std::abs(x), floor), &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

/// The largest error of `got`, in ulp of the exact value, of `floor` where that is larger.
inline double max_ulp(std::span<const double> exact, const float* got, double floor = 0) {
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - exact[i]) / ulp_of(exact[i], floor);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

/// Times `work` and counts `bytes` of traffic for each call.
template <class Work>
void repeat(benchmark::State& state, std::int64_t bytes, const Work& work) {
  for ([[maybe_unused]] auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

inline std::string row(const std::string& op, const std::string& size, const char* contender) {
  return op + '/' + size + '/' + contender;
}

}  // namespace bench
