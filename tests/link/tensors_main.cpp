// Files with Tensors, header-only, built for different CPUs in one program. The linker keeps one copy of the interpreter,
// that of the file it meets first: what this file has runs for all files and is right. An op that only another file has
// is an error in words, each time. Built twice, with the plain file first and with it last (TT_PLAIN_LAST), which has
// nothing that the other one has not.
#include <cstdio>

#include "tensors.hpp"

namespace {

int failures = 0;

void check(const std::string& got, const std::string& want, const char* what) {
  if (got == want) return;
  std::printf("FAILED: %s: '%s', not '%s'\n", what, got.c_str(), want.c_str());
  ++failures;
}

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 77;
  std::string refused;
#if !TT_PLAIN_LAST
  refused = "tt: files with Tensors are built for different CPUs, " + shared::isa_avx2() + " and " + shared::isa_plain() +
            ". Build them with the same flags, or link tt::compiled?\n";
#endif
  for (int round = 0; round < 2; ++round) {  // an error leaves everything as it was
    check(shared::ops_plain(), "", "ops of both files, called in the plain one");
    check(shared::ops_avx2(), "", "ops of both files, called in the other one");
    check(shared::erf_avx2(), refused, "an opaque op of the other file");
    check(shared::matmul_avx2(), refused, "a product of the other file");
  }
  std::printf("%s, %s: %s\n", shared::isa_plain().c_str(), shared::isa_avx2().c_str(), failures ? "FAILED" : "all right");
  return failures != 0;
}
