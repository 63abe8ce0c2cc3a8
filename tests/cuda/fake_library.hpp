// What the fakes of NVIDIA's libraries share: counts for tests, objects behind handles, and a stop at what is wrong. A fake
// names itself before it includes this: #define FAKE_NAME "fake cuDNN".
#pragma once
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, FAKE_NAME ": %s\n", why);
  std::abort();
}
void require(bool holds, const char* why) {
  if (!holds) stop(why);
}

std::map<std::string, long> counts;
std::mutex counts_mutex;
void count(const char* what, long more = 1) {
  const std::lock_guard lock(counts_mutex);
  counts[what] += more;
}
long counted(const char* what) {
  const std::lock_guard lock(counts_mutex);
  return counts[what];
}

/// Objects that handles lead to are counted while they are alive.
template <class T>
int create(void** to, const T& value = {}) {
  *to = new T(value);
  count("alive");
  return 0;
}
template <class T>
int destroy(void* p) {
  delete static_cast<T*>(p);
  count("alive", -1);
  return 0;
}

}  // namespace
