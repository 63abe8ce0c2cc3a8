// The compiled build of the rest of the vocabulary: the definition of each operator that no other one needs.
#define TT_BUILD TT_PART_further
#include "tt/autograd/history.hpp"  // Tensor::requires_grad
#include "tt/dispatch/all_ops.hpp"
#include "tt/functional/parse.hpp"
