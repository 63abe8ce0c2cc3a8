// Built without any -march.
#include "tensor_ops.hpp"

namespace shared {

std::string isa_plain() { return tt::backend::isa_name; }
std::string ops_plain() { return ops(ramp_avx2(37)); }
tt::Tensor ramp_plain(int n) { return ramp(n); }

}  // namespace shared
