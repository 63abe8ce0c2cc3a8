// Every op of FurtherOps in Array expressions: SIMD against scalars bit for bit. A new op adds no line here.
#include "op_samples.hpp"

using namespace op_samples;

TEST_CASE_TEMPLATE("further SIMD ops give the bits of their scalar form", T, float, double) {
  for_each_op(tt::FurtherOps{}, []<class F>(tt::TypeList<F>) {
    if constexpr (F::info.arity <= 3) check_against_scalar<F, T>();
  });
}
