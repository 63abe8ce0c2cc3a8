// Registers every operator of the library, so that each can be found by name.
#pragma once
#include "tt/dispatch/image_ops.hpp"
#include "tt/dispatch/register.hpp"

namespace tt {
namespace detail {

template <class... F>
void register_ops(TypeList<F...>) { ((void)operator_entry<F>(), ...); }
template <Op... K>
void register_primitives() { ((void)operator_entry<K>(), ...); }

}  // namespace detail

/// Every operator of the library is registered after this; returns how many there are in all.
template <class = void>  // instantiated only where it is called
int register_all_ops() {
  detail::register_ops(ElementwiseOps{});
  operator_entry<Philox>();
  detail::register_primitives<Op::add, Op::sub, Op::mul, Op::div, Op::min, Op::max, Op::fma, Op::neg, Op::abs, Op::sqrt,
                              Op::floor, Op::ceil, Op::round, Op::trunc, Op::bit_and, Op::bit_or, Op::bit_xor,
                              Op::shift_left, Op::shift_right, Op::shift_right_logical, Op::lt, Op::le, Op::eq, Op::ne,
                              Op::logical_and, Op::logical_or, Op::logical_not, Op::where>();
  reduction_operator<detail::SumFn>();
  reduction_operator<detail::MeanFn>();
  reduction_operator<detail::VarFn>();
  reduction_operator<detail::AmaxFn>();
  reduction_operator<detail::AminFn>();
  reduction_operator<detail::ArgmaxFn>();
  reduction_operator<detail::SoftmaxFn>();
  reduction_operator<detail::LogSoftmaxFn>();
  reduction_operator<detail::LogsumexpFn>();
  function_operator<detail::MatmulFn, 2>();
  function_operator<detail::CrossEntropyFn, 2>();
  function_operator<detail::MseLossFn, 2>();
  function_operator<detail::RandLikeFn, 2>();
  function_operator<detail::RandnLikeFn, 2>();
  detail::reshape_operator();
  detail::permute_operator();
  detail::expand_operator();
  detail::slice_operator();
  detail::detach_operator();
  detail::unfold_operator();
  detail::pad_operator();
  detail::conv2d_operator();
  detail::conv2d_bias_operator();
  detail::max_pool2d_operator();
  detail::avg_pool2d_operator();
  detail::copy_operator();
  detail::to_operator();
  detail::bitcast_operator();
  int count = 0;
  Dispatcher::get().each([&](const Operator&) { ++count; });
  return count;
}

}  // namespace tt
