// Functions of Tensors made of operators: forms of operators that PyTorch has beside them. They are captured, differentiated and batched as the operators they call.
#pragma once
#include "tt/dispatch/dropout_functions.hpp"
#include "tt/dispatch/function_forms.hpp"
#include "tt/dispatch/grid_functions.hpp"
#include "tt/dispatch/index_functions.hpp"
#include "tt/dispatch/linear_algebra.hpp"
#include "tt/dispatch/masked_functions.hpp"
#include "tt/dispatch/network_functions.hpp"
#include "tt/dispatch/reduction_functions.hpp"
#include "tt/dispatch/sequence_functions.hpp"
#include "tt/dispatch/shape_functions.hpp"
#include "tt/dispatch/special_functions.hpp"
#include "tt/dispatch/view_updates.hpp"
#include "tt/dispatch/window_functions.hpp"

namespace tt {
namespace detail {

/// So that tt::call finds all functions that are not operators.
template <class = void>  // instantiated only where it is called
void register_functions();

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/functions_inl.hpp"
#endif
