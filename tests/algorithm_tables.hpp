// The device systems that test_algorithms tries, and how many threads the one of OpenMP has.
#pragma once
#include <vector>

#include "tt/backends/algorithms.hpp"

std::vector<const tt::backend::AlgorithmTable*> algorithm_tables();
const char* thrust_version();
