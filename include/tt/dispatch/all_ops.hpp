// Registers every operator of the library, so that each can be found by name.
//   tt::register_all_ops();   tt::Dispatcher::get().find("softmax")
#pragma once
#include <type_traits>
#include <utility>

#include "tt/dispatch/function_methods.hpp"
#include "tt/dispatch/image_ops.hpp"
#include "tt/dispatch/index_ops.hpp"
#include "tt/dispatch/join_ops.hpp"
#include "tt/dispatch/linalg.hpp"
#include "tt/dispatch/register.hpp"

namespace tt {
namespace detail {

template <class... F>
void define_operators(TypeList<F...>) { (library_operator<F>(), ...); }
template <std::size_t... I>
void define_primitives(std::index_sequence<I...>) {
  const auto one = []<Op K>(std::integral_constant<Op, K>) {
    if constexpr (has_operator(K)) library_operator<K>();
  };
  (one(std::integral_constant<Op, static_cast<Op>(I)>{}), ...);
}
/// Registers the ops that no other op of the library needs.
TT_LAZY void register_further_ops();

#if TT_DEFINES(eager) || TT_DEFINES(further)
template <class F>
Operator& library_operator() {
  call_if_defined(&backend::use_library_kernels<F>);
  return operator_entry<F>();
}
template <Op K>
Operator& library_operator() {
  call_if_defined(&backend::use_library_kernels<K>);
  return operator_entry<K>();
}
#endif
#if TT_DEFINES(further)
TT_LAZY_DEFINITION void register_further_ops() {
  define_operators(FurtherOps{});
  define_operators(InnerOps{});
  define_operators(FurtherStructuredOps{});
}
#endif

}  // namespace detail

/// Registers every operator of the library; returns the number of operators in all.
template <class = void>  // instantiated only where it is called
int register_all_ops() {
  detail::define_operators(ElementwiseOps{});
  detail::define_operators(TypeList<Philox, IntegerPow>{});
  detail::define_primitives(std::make_index_sequence<static_cast<std::size_t>(op_count)>{});
  detail::define_operators(StructuredOps{});
  detail::register_further_ops();
  detail::register_functions<void>();
  detail::register_linalg<void>();
  detail::reshape_operator();
  detail::permute_operator();
  detail::expand_operator();
  detail::slice_operator();
  detail::detach_operator();
  detail::view_as_operator();
  detail::view_bytes_operator();
  detail::unfold_operator();
  register_index_ops();
  detail::copy_operator();
  detail::to_operator();
  detail::bitcast_operator();
  int count = 0;
  Dispatcher::get().each([&](const Operator&) { ++count; });
  return count;
}

}  // namespace tt
