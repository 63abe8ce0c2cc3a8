// Functions of Tensors made of operators: shapes, parts, joins, and forms of operators that PyTorch has beside them. Names, arguments, defaults and meanings are
// PyTorch's. Views share memory with their operand, as PyTorch's do. They are captured, differentiated and batched as the operators they call.
//   auto [a, b] = ...;   tt::chunk(x, 2)   tt::movedim(x, 0, -1)   tt::roll(x, 1, 0)   tt::linspace(0, 1, 5)
#pragma once
#include "tt/dispatch/join_ops.hpp"
#include "tt/dispatch/views.hpp"

namespace tt {
namespace detail {

/// So that tt::call finds these functions.
TT_INLINE void register_functions();

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(functions)
#include "tt/dispatch/functions_inl.hpp"
#endif
