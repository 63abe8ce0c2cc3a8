// Static plans as kernels of nvcc, from lambdas that say nothing of devices. Also built by g++ behind the
// CPU shim (test_cuda_static.cpp): the results have the bits of tt::fuse on the CPU.
#include "static_cases.hpp"
