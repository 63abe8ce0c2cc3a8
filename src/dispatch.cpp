// The compiled build of dispatch/, except eager.hpp: the functions of Tensors besides elementwise ops and reductions.
#define TT_BUILD TT_PART_dispatch
#include "tt/autograd/history.hpp"  // Tensor::requires_grad
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/device_fallback.hpp"
#include "tt/dispatch/image_ops.hpp"
#include "tt/dispatch/index_ops.hpp"
#include "tt/dispatch/join_ops.hpp"
#include "tt/dispatch/methods.hpp"
#include "tt/dispatch/print.hpp"
