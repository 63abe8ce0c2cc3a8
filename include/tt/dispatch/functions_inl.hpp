// Definition of functions.hpp: registration of all names.
#pragma once
#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/dropout_functions_inl.hpp"
#include "tt/dispatch/functions.hpp"
#include "tt/dispatch/grid_functions_inl.hpp"
#include "tt/dispatch/linear_algebra_inl.hpp"
#include "tt/dispatch/masked_functions_inl.hpp"
#include "tt/dispatch/network_functions_inl.hpp"
#include "tt/dispatch/sequence_functions_inl.hpp"
#include "tt/dispatch/special_functions_inl.hpp"
#include "tt/dispatch/view_updates_inl.hpp"
#include "tt/dispatch/window_functions_inl.hpp"

namespace tt {
namespace detail {

template <class>
void register_functions() {
  static const bool once = [] {
    register_shape_functions();
    register_elementwise_names();
    register_reduction_names();
    register_index_names();
    register_linear_algebra_names();
    register_network_names();
    register_dropout_names();
    register_grid_names();
    register_masked_names();
    register_sequence_names();
    register_special_names();
    register_view_updates();
    register_window_names();
    operator_entry<Cumprod<>>();
    operator_entry<Logcumsumexp<>>();
    return true;
  }();
  (void)once;
}

}  // namespace detail
}  // namespace tt
