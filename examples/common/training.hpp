// What programs that train show: how far they are, and what a step took.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace examples {

/// A bar and `text` where stdout is a terminal, else the text now and then.
inline void show_progress(int done, int all, const char* text) {
  static const bool terminal = isatty(STDOUT_FILENO);
  const bool last = done == all;
  if (!terminal && done != 1 && !last && done % std::max(all / 8, 1) != 0) return;
  constexpr const char* full = "########################################";
  constexpr int width = 40;
  const int filled = static_cast<int>(std::int64_t{width} * done / all);
  if (terminal) std::printf("\r  [%.*s%*s] ", filled, full, width - filled, "");
  std::printf("  %s%s%s", text, terminal ? "\033[K" : "", terminal && !last ? "" : "\n");
  std::fflush(stdout);
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace examples
