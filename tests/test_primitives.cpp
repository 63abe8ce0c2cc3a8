// Every elementwise primitive: SIMD against scalars bit for bit. A new primitive adds no line here.
#include "op_samples.hpp"

using namespace op_samples;

TEST_CASE_TEMPLATE("SIMD primitives give the bits of their scalar form", T, float, double,
                   std::int32_t, std::int64_t) {
  for_each_primitive<T>([]<class F>(tt::TypeList<F>) { check_against_scalar<F, T>(); });
}
