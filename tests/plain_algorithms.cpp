// The algorithms in a program without tt::compiled: one file brings Thrust.
#include <doctest/doctest.h>

#include "tt/backends/host_algorithms.hpp"
#include "tt/dispatch/algorithms.hpp"
#include "tt/tt.hpp"

TEST_CASE("header-only algorithms") {
  const tt::Tensor x = tt::tensor({{3.0, 1.0, 2.0}, {4.0, 6.0, 5.0}});
  const auto [values, indices] = tt::topk(x, 2);
  CHECK(values.elements<float>()[3] == 5);
  CHECK(indices.elements<std::int64_t>()[0] == 0);
  CHECK(tt::cumsum(x, 1).elements<float>()[2] == 6);
  CHECK(tt::unique(x > 2, true, false, true).counts.elements<std::int64_t>()[0] == 2);
}
