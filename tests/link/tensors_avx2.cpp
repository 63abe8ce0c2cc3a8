// Built with -mavx2 -mfma. Has every op of the other file, and two more.
#include "tensor_ops.hpp"

namespace shared {

std::string isa_avx2() { return tt::backend::isa_name; }
std::string ops_avx2() { return ops(ramp_plain(37)); }
tt::Tensor ramp_avx2(int n) { return ramp(n); }
std::string erf_avx2() {
  double sum = 0;
  for (int i = 0; i < 37; ++i) sum += std::erf(i % 7 * 0.25);
  return failure("erf", sum, [] { return tt::erf(ramp(37)).sum().item(); });
}
std::string matmul_avx2() {
  return failure("matmul", 64, [] { return tt::matmul(tt::ones({4, 4}), tt::ones({4, 4})).sum().item(); });
}

}  // namespace shared
