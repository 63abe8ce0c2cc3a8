// Definitions of functions.hpp, and their names.
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/functions.hpp"

namespace tt {
namespace detail {

TT_INLINE void register_functions() {
}

}  // namespace detail
}  // namespace tt
