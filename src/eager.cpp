// The compiled build of dispatch/eager.hpp: calls of operators, and the definition of each operator of the library. A separate file, as it
// takes about as long to compile as the rest of dispatch/.
#define TT_BUILD TT_PART_eager
#include "tt/autograd/history.hpp"  // Tensor::requires_grad
#include "tt/dispatch/all_ops.hpp"

template int tt::register_all_ops<void>();  // for calls by name
