// What the files of test_link_tensors say of themselves. No Tensor stands here: main must bring no code of its own.
#pragma once
#include <string>

namespace shared {

std::string isa_plain();
std::string isa_avx2();
/// What went wrong in ops that both files have: empty, or each with its reason.
std::string ops_plain();
std::string ops_avx2();
/// The same for ops that the plain file has not.
std::string erf_avx2();
std::string matmul_avx2();

}  // namespace shared
