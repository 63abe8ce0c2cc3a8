// The compiled build of the remaining vocabulary: the definitions of operators on which no other operator depends.
#define TT_BUILD TT_PART_further
#include "tt/autograd/history.hpp"  // Tensor::requires_grad
#include "tt/dispatch/all_ops.hpp"
#include "tt/functional/parse.hpp"
