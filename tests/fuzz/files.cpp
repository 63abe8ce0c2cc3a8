// Hostile files for libFuzzer: .npy, .npz, .safetensors and the text of graphs. A fault is a crash, a finding of the sanitizers, or another exception than tt's.
//   tests/fuzz/run.sh [executions]      builds it with clang and ASan, UBSan and TT_DEBUG, and runs it on files that it writes first
// The first byte says which reader gets the others.
#include <tt/tt.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <sys/mman.h>

#include "tt/functional/parse.hpp"
#include "tt/graph/check.hpp"
#include "tt/io/numpy.hpp"
#include "tt/io/safetensors.hpp"

namespace {

/// A file in memory with these bytes, by the path that /proc has for it.
const std::string& path_of(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return path;
}
void read(int reader, const std::uint8_t* data, std::size_t size) {
  switch (reader) {
    case 0: (void)tt::load_npy(path_of(data, size).c_str()); return;
    case 1: (void)tt::load_npz(path_of(data, size).c_str()); return;
    case 2: (void)tt::safetensors::load_file(path_of(data, size).c_str()); return;
    default: {
      const tt::Graph g = tt::parse(std::string(reinterpret_cast<const char*>(data), size));
      if ((tt::check)(g) && !(tt::parse(tt::to_string(g)) == g)) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    read(data[0] % 4, data + 1, size - 1);
  } catch (const tt::Exception&) {  // a refusal
  }
  return 0;
}
