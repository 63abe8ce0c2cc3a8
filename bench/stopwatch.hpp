// Times of single calls, for programs that print tables of their own.
//   const double us = bench::microseconds([&] { (void)f(x); }, 15);
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

/// Of `runs` calls behind some that are not counted: that which a part `quantile` of them undercuts.
template <class F>
double microseconds(const F& f, int runs, double quantile = 0.5) {
  for (int k = 0; k < 5; ++k) f();
  std::vector<double> us;
  for (int k = 0; k < runs; ++k) {
    const auto begun = std::chrono::steady_clock::now();
    f();
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count());
  }
  std::sort(us.begin(), us.end());
  return us[static_cast<std::size_t>(quantile * static_cast<double>(runs))];
}

}  // namespace bench
