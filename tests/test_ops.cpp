// Every op of ElementwiseOps, from the list: SIMD against scalars bit for bit. A new op adds no line here.
#include "op_samples.hpp"

using namespace op_samples;

TEST_CASE_TEMPLATE("SIMD ops give the bits of their scalar form", T, float, double) {
  for_each_op(tt::ElementwiseOps{}, []<class F>(tt::TypeList<F>) { check_against_scalar<F, T>(); });
}
