// Images that a program draws itself: bars, crosses, a ring, a box, each shifted, of its own size and
// brightness, under noise. The class is what was drawn. The same seed gives the same images everywhere.
//   shapes::Images seen = shapes::draw(1024, random);   // images (1024, 16, 16, 1), labels (1024)
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../common/random.hpp"

namespace shapes {

inline constexpr int side = 16, pixels = side * side, classes = 6;

struct Images {
  std::vector<float> pixel;          ///< count x 16 x 16, 0 is paper and 1 ink, under noise of +-0.4
  std::vector<std::int64_t> label;   ///< 0 to 5
  int count() const { return static_cast<int>(label.size()); }
};

namespace detail {

/// How far (x, y) is from the lines of a shape of size r around (0, 0).
inline double distance(int label, double x, double y, double r) {
  const auto bar = [r](double along, double across) { return std::max(std::abs(across), std::abs(along) - r); };
  const double u = (x + y) * std::sqrt(0.5), v = (x - y) * std::sqrt(0.5);
  switch (label) {
    case 0: return bar(x, y);                              // lying
    case 1: return bar(y, x);                              // standing
    case 2: return std::min(bar(x, y), bar(y, x));         // upright cross
    case 3: return std::min(bar(u, v), bar(v, u));         // diagonal cross
    case 4: return std::abs(std::sqrt(x * x + y * y) - r); // ring
    default: return std::abs(std::max(std::abs(x), std::abs(y)) - r);  // box
  }
}

}  // namespace detail

inline Images draw(int count, examples::Random& random) {
  const auto between = [&](double least, double most) { return least + (most - least) * random(); };
  Images out;
  for (int k = 0; k < count; ++k) {
    const int label = static_cast<int>(random() * classes);
    const double x0 = between(5.5, 9.5), y0 = between(5.5, 9.5), size = between(3.5, 5.5), ink = between(0.7, 1.0);
    out.label.push_back(label);
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const double covered = std::clamp(1.3 - detail::distance(label, x - x0, y - y0, size), 0.0, 1.0);
        out.pixel.push_back(static_cast<float>(ink * covered + between(-0.4, 0.4)));
      }
  }
  return out;
}

}  // namespace shapes
