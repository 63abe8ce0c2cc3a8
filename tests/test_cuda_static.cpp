// The bodies of static kernels on the CPU, threads as fibres: cuda/static_cases.hpp behind the shim.
#include "cuda/shim.hpp"

#include "cuda/fake.hpp"

namespace {
const bool chosen = (fake::choose_driver(), true);
}

#include "cuda/static_cases.hpp"
