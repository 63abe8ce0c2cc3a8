// Registers every operator of the library, so that each can be found by name.
#pragma once
#include <cstring>
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

/// f(an operator's entry, its name) for each that a list of types, or of codes, defines.
template <class... F>
void each_entry(const auto& f, TypeList<F...>) { (f(&operator_entry<F>, F::info.name), ...); }
template <std::size_t... I>
void each_primitive_entry(const auto& f, std::index_sequence<I...>) {
  const auto one = [&]<Op K>(std::integral_constant<Op, K>) {
    if constexpr (has_operator(K)) f(&operator_entry<K>, name(K));
  };
  (one(std::integral_constant<Op, static_cast<Op>(I)>{}), ...);
}

void each_defined_operator(const auto& f) {
  each_entry(f, ElementwiseOps{});
  each_entry(f, TypeList<Philox, IntegerPow>{});
  each_primitive_entry(f, std::make_index_sequence<static_cast<std::size_t>(op_count)>{});
  each_entry(f, StructuredOps{});
}
/// The same for the rest of the vocabulary, which no other op of the library needs.
void each_further_operator(const auto& f) {
  each_entry(f, FurtherOps{});
  each_entry(f, InnerOps{});
  each_entry(f, FurtherStructuredOps{});
}
/// The operator of that name among them, or null.
TT_LAZY Operator* further_operator(const char* name);
TT_LAZY void register_further_ops();

#if TT_DEFINES(further)
TT_LAZY_DEFINITION Operator* further_operator(const char* name) {
  Operator* found = nullptr;
  each_further_operator([&](Operator& (*entry)(), const char* own) {
    if (!found && std::strcmp(name, own) == 0) found = &entry();
  });
  return found;
}
TT_LAZY_DEFINITION void register_further_ops() {
  each_further_operator([](Operator& (*entry)(), const char*) { (void)entry(); });
}
#endif

#if defined(TT_COMPILED) && TT_DEFINES(eager)
TT_INLINE Operator& library_operator(const char* name) {
  Operator* found = nullptr;
  each_defined_operator([&](Operator& (*entry)(), const char* own) {
    if (!found && std::strcmp(name, own) == 0) found = &entry();
  });
  if (!found) found = further_operator(name);
  if (!found) TT_THROW(InternalError(Text("tt::compiled has no op called ") << name << "."));
  return *found;
}
#endif

}  // namespace detail

/// Every operator of the library is registered after this; returns how many there are in all.
template <class = void>  // instantiated only where it is called
int register_all_ops() {
  detail::each_defined_operator([](Operator& (*entry)(), const char*) { (void)entry(); });
  detail::register_further_ops();
  detail::register_functions<void>();
  detail::register_linalg<void>();
  detail::reshape_operator();
  detail::permute_operator();
  detail::expand_operator();
  detail::slice_operator();
  detail::detach_operator();
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
