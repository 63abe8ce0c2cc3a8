// All functions of Tensors that are composed of operators. They are captured, differentiated and batched as the operators they call.
//   tt::chunk(x, 2)   tt::dropout(x, 0.1)   tt::scatter(x, 1, index, src)
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

/// Registers all functions that are not operators for calls by name (tt::call).
template <class = void>  // instantiated only where it is called
void register_functions();

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/functions_inl.hpp"
#endif
