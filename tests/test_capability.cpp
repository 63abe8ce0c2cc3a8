// Which kernels a program for any processor takes: the best that this one has, up to TT_CPU_CAPABILITY, which CMake sets. What
// they compute is compared in test_fuzz_paths.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>

#include "tt/tt.hpp"

namespace {

using namespace tt;

/// What this processor should get where so much is allowed.
const char* expected(const char* allowed) {
  const auto is = [&](const char* name) { return std::strcmp(allowed, name) == 0; };
  if (is("avx512") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return "AVX-512 without FMA";
  if (!is("default") && __builtin_cpu_supports("avx2")) return "AVX2";
  return "SSE2";
}

TEST_CASE("the best kernels up to what is allowed") {
  const char* allowed = std::getenv("TT_CPU_CAPABILITY");
  if (!allowed) setenv("TT_CPU_CAPABILITY", allowed = "avx512", 1);
  if (std::strcmp(allowed, "avx512") == 0 && std::strcmp(expected(allowed), "AVX-512 without FMA") != 0) {
    MESSAGE("SKIPPED: no AVX-512");
    std::_Exit(77);
  }
  CHECK(std::strcmp(get_cpu_capability(), expected(allowed)) == 0);
  const Tensor x = arange(7.0);  // fewer than a vector, and one that is not full
  CHECK((x * x).sum().item<float>() == 91);
  CHECK(matmul(x.reshape({7, 1}), x.reshape({1, 7})).sum().item<float>() == 441);
}

TEST_CASE("a capability that there is none of") {
  const pid_t child = fork();
  if (child == 0) {
    // In a process of its own: the choice is made once. The test before may have made it, so this one begins anew.
    setenv("TT_CPU_CAPABILITY", "sse9", 1);
    execl("/proc/self/exe", "test_capability", "--test-case=says which there are", "--no-skip", static_cast<char*>(nullptr));
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
TEST_CASE("says which there are" * doctest::skip()) {
  try {
    (void)get_cpu_capability();
    FAIL("no error");
  } catch (const Error& e) {
    CHECK(std::strcmp(e.what(), "tt: TT_CPU_CAPABILITY is \"sse9\": it can be default, avx2 or avx512.") == 0);
  }
}

}  // namespace
