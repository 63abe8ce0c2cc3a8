#include <tt/version.hpp>

#include <cstdio>

int main() {
  std::puts("tt is installed");
  return 0;
}
