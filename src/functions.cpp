// The compiled build of dispatch/functions.hpp: functions composed of operators, and their names.
#define TT_BUILD TT_PART_functions
#include "tt/autograd/history.hpp"  // Tensor::requires_grad
#include "tt/dispatch/algorithms.hpp"
#include "tt/dispatch/functions.hpp"

template void tt::detail::register_functions<void>();  // for calls by name
