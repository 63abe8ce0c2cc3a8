// The Tensors in a value: a Tensor, a number (none), structs whose members are visible, arrays, pairs, tuples, lists of these.
//   struct Net { tt::Tensor w, b; };   Net net;   detail::each_leaf(net, [](tt::Tensor& t) { ... });
// Arguments of grad, compile and load are walked through here, in order of declaration.
#pragma once
#include <bit>
#include <vector>

#include "tt/core/bit_set.hpp"
#include "tt/core/members.hpp"
#include "tt/core/small_vec.hpp"
#include "tt/core/tensor.hpp"

namespace tt::detail {

/// Does a value consist of numbers, and if `Tensors` is true of Tensors, alone?
template <class T, bool Tensors>
constexpr bool is_made_of_leaves();
template <bool Tensors, class T>
inline constexpr bool all_are_made_of_leaves = false;
template <bool Tensors, class... T>
inline constexpr bool all_are_made_of_leaves<Tensors, std::tuple<T&...>> = (is_made_of_leaves<std::remove_cv_t<T>, Tensors>() && ...);
template <class T, bool Tensors>
constexpr bool is_made_of_leaves() {
  if constexpr (std::is_same_v<T, Tensor>) return Tensors;
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_empty_v<T>) return true;
  else if constexpr (ParameterStruct<T>) return all_are_made_of_leaves<Tensors, decltype(leaves(std::declval<T&>()))>;
  else if constexpr (requires { std::tuple_size<T>::value; })
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (is_made_of_leaves<std::remove_cv_t<std::tuple_element_t<I, T>>, Tensors>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  else if constexpr (requires(T& a) { std::begin(a); std::end(a); })
    return is_made_of_leaves<std::remove_cvref_t<decltype(*std::begin(std::declval<T&>()))>, Tensors>();
  else if constexpr (PlainStruct<T>) return all_are_made_of_leaves<Tensors, decltype(with_members(std::declval<T&>(), Tie{}))>;
  else return false;
}
/// Can each_leaf walk through a T?
template <class T>
constexpr bool has_leaves() {
  return is_made_of_leaves<T, true>();
}

/// f(each Tensor), in order; numbers are skipped.
template <class A, class F>
void each_leaf(A& a, const F& f) {
  using T = std::remove_cv_t<A>;
  if constexpr (std::is_same_v<T, Tensor>) f(a);
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_empty_v<T>) return;
  else if constexpr (ParameterStruct<T>) for_each_member([&](auto& leaf) { each_leaf(leaf, f); }, a);
  else if constexpr (requires { std::tuple_size<T>::value; }) std::apply([&](auto&... x) { (each_leaf(x, f), ...); }, a);
  else if constexpr (requires { std::begin(a); std::end(a); }) for (auto& x : a) each_leaf(x, f);
  else if constexpr (PlainStruct<T>) with_members(a, [&](auto&... m) { (each_leaf(m, f), ...); });
  else static_assert(std::is_void_v<T>, "tt::compile: arguments and results are Tensors, numbers, and structs and lists of them");
}

/// The Tensors in values, in order, as a list that needs no further template.
struct Leaves {
  SmallVec<Tensor*, 16> tensor;
  BitSet constant;  ///< indices of the Tensors in constant values, which do not change

  template <class A>
  void add(A& a, bool is_constant) {
    each_leaf(a, [&]<class T>(T& t) {
      static_assert(!std::is_const_v<T> || std::is_const_v<A>, "tt: the Tensors of this argument are constant in it, and are replaced while the function runs: pass a "
                                                               "std::vector<tt::Tensor>, and no std::span<const tt::Tensor> or struct with a const member");
      if (is_constant) constant.set(tensor.size());
      tensor.push_back(const_cast<Tensor*>(&t));
    });
  }
  std::vector<Tensor> values() const {
    std::vector<Tensor> list;
    for (const Tensor* t : tensor) list.push_back(*t);
    return list;
  }
  /// Replaces the Tensors in the values.
  void assign(const std::vector<Tensor>& list) const {
    for (int k = 0; k < tensor.size(); ++k) *tensor[k] = list[static_cast<std::size_t>(k)];
  }
};
template <class... A>
Leaves leaves_in(A&... a) {
  Leaves all;
  (all.add(a, std::is_const_v<A>), ...);
  return all;
}

/// f(bits of a number, is it floating) for each number, in order; for lists also their length.
template <class A, class F>
void each_number(const A& a, const F& f) {
  if constexpr (std::is_same_v<A, Tensor> || std::is_empty_v<A>) return;
  else if constexpr (std::is_floating_point_v<A>) f(std::bit_cast<std::int64_t>(static_cast<double>(a)), true);
  else if constexpr (std::is_integral_v<A> || std::is_enum_v<A>) f(static_cast<std::int64_t>(a), false);
  else if constexpr (ParameterStruct<A>) for_each_member([&](const auto& leaf) { each_number(leaf, f); }, a);
  else if constexpr (requires { std::tuple_size<A>::value; }) std::apply([&](const auto&... x) { (each_number(x, f), ...); }, a);
  else if constexpr (requires { std::begin(a); std::end(a); }) {
    std::int64_t length = 0;
    for (const auto& x : a) {
      each_number(x, f);
      ++length;
    }
    f(length, false);
  } else if constexpr (PlainStruct<A>) {
    with_members(a, [&](const auto&... m) { (each_number(m, f), ...); });
  }
}

/// Copies everything but Tensors from `from` to `to`; false: a list of Tensors has another length in `to`.
template <class A>
bool take_numbers(A& to, const A& from) {
  if constexpr (std::is_same_v<A, Tensor> || ParameterStruct<A> || std::is_empty_v<A>) return true;
  else if constexpr (is_made_of_leaves<A, false>()) {
    if constexpr (std::is_copy_assignable_v<A>) to = from;
    return true;
  } else if constexpr (requires { std::tuple_size<A>::value; }) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (take_numbers(std::get<I>(to), std::get<I>(from)) && ...);
    }(std::make_index_sequence<std::tuple_size_v<A>>{});
  } else if constexpr (requires { std::begin(to); std::end(to); }) {
    auto x = std::begin(to);
    auto y = std::begin(from);
    bool right = true;
    for (; right && x != std::end(to) && y != std::end(from); ++x, ++y) right = take_numbers(*x, *y);
    return right && x == std::end(to) && y == std::end(from);
  } else if constexpr (PlainStruct<A>) {
    bool right = true;
    with_members(to, [&](auto&... x) { with_members(from, [&](const auto&... y) { right = (take_numbers(x, y) && ...); }); });
    return right;
  } else {
    return true;
  }
}

}  // namespace tt::detail
