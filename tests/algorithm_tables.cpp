// Built once for each Thrust that is there; with g++ also for OpenMP.
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#include "algorithm_tables.hpp"

#include <string>

#include "tt/backends/thrust_algorithms.hpp"
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace backend = tt::backend;

std::vector<const backend::AlgorithmTable*> algorithm_tables() {
  std::vector<const backend::AlgorithmTable*> tables{&backend::thrust_table<backend::CppSystem>};
#if defined(_OPENMP)
  omp_set_num_threads(3);  // no power of two
  tables.push_back(&backend::thrust_table<backend::OmpSystem>);
#endif
  return tables;
}

const char* thrust_version() {
  static const std::string text = std::to_string(THRUST_MAJOR_VERSION) + '.' + std::to_string(THRUST_MINOR_VERSION);
  return text.c_str();
}
