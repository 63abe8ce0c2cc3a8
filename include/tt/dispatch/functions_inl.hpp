// Definitions of functions.hpp: all names.
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/functions.hpp"
#include "tt/dispatch/shape_names_inl.hpp"

namespace tt {
namespace detail {

TT_INLINE void register_functions() {
  static const bool once = [] {
    register_shape_functions();
    return true;
  }();
  (void)once;
}

}  // namespace detail
}  // namespace tt
