// The compiled build of dispatch/linalg.hpp: linear algebra through LAPACK.
#define TT_BUILD TT_PART_linalg
#include "tt/autograd/history.hpp"  // Tensor::requires_grad
#include "tt/dispatch/function_methods.hpp"
#include "tt/dispatch/linalg.hpp"

template void tt::detail::register_linalg<void>();  // for calls by name
