// Operators and kernels from ordinary functions.
//   tt::Tensor blend(const tt::Tensor& a, const tt::Tensor& b, double t) { return a * (1 - t) + b * t; }
//   const auto op = tt::register_operator("blend", blend, "t");
//   op(x, y, 0.3);   tt::call("blend", {x, y, 0.3});   tt::call("blend", {x, y}, {{"t", 0.3}});
//   tt::register_kernel("blend", tt::backend_key(npu), npu_blend);   // another kernel for one backend
// The function takes Tensors first, then double, integers, bool, DType and IntList, and returns a Tensor. Ops it calls are dispatched in turn: a function made
// of tt's ops has derivatives and works on every device.
#pragma once
#include <bit>
#include <utility>

#include "tt/dispatch/boxed.hpp"

namespace tt {
namespace detail {

/// The schema's name of an argument type.
template <class A>
constexpr const char* schema_type() {
  static_assert(std::is_same_v<A, Tensor> || std::is_same_v<A, IntList> || std::is_same_v<A, DType> || std::is_arithmetic_v<A>,
                "tt: a registered function takes Tensors, then double, integers, bool, DType and IntList");
  if constexpr (std::is_same_v<A, Tensor>) return "Tensor";
  else if constexpr (std::is_same_v<A, IntList>) return "int[]";
  else if constexpr (std::is_same_v<A, DType>) return "dtype";
  else return std::is_floating_point_v<A> ? "float" : std::is_same_v<A, bool> ? "bool" : "int";
}
/// "Tensor input, float t, int n" from the types and the names "t, n"; unnamed arguments are called "argument" and their number.
template <class... A>
const char* make_schema(std::string_view names) {
  Text t;
  int place = 0, tensors = 0;
  const auto add = [&](const char* type) {
    if (++place; std::strcmp(type, "Tensor") == 0) return static_cast<void>(++tensors);
    const std::size_t end = names.find(',');
    std::string_view name = names.substr(0, end);
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    t << (t.empty() ? "" : ", ") << type << ' ';
    for (char c : name) t << c;
    if (name.empty()) t << "argument" << place - 1;
  };
  (add(schema_type<A>()), ...);
  return schema_of(tensors, {t.begin(), static_cast<std::size_t>(t.size())});
}

/// Do the types of a function match an operator's schema?
template <class... A>
bool fits_schema(const Operator& op) {
  SchemaReader s{op.schema};
  const auto fits = [&](std::string_view type) { return s.next() && (s.type == type || (type == "Tensor" && s.type == "Tensor?") || (type == "int[]" && s.type.starts_with("int["))); };
  return (fits(schema_type<A>()) && ...) && !s.next();
}

template <class A>
void push_argument(Attributes& to, const A& value) {
  if constexpr (std::is_floating_point_v<A>) to.push(std::bit_cast<std::int64_t>(static_cast<double>(value)));
  else if constexpr (std::is_same_v<A, IntList>) to.push(value);
  else if constexpr (!std::is_same_v<A, Tensor>) to.push(static_cast<std::int64_t>(value));
}
/// An argument of a call; `at` is its index among Tensors or attributes, -1 for an optional Tensor not given.
template <class A>
decltype(auto) read_argument(const Call& c, int at) {
  if constexpr (std::is_same_v<A, Tensor>) {
    static const Tensor left_out;
    return at < 0 ? left_out : c[at];
  }
  else if constexpr (std::is_same_v<A, IntList>) return c.attrs().list(at);
  else if constexpr (std::is_floating_point_v<A>) return static_cast<A>(std::bit_cast<double>(c.attrs().value[at]));
  else return static_cast<A>(c.attrs().value[at]);
}
/// Calls the function that `context` points to.
template <class... A>
void function_kernel(Call& c, void* context) {
  // The index of each argument: of Tensors among those given (-1: not given), of others among the attributes.
  int at[sizeof...(A)], k = 0, tensors = 0, given = 0, next = c.op->optional > 0 ? 1 : 0;
  const auto place = [&](bool tensor, bool list) {
    if (tensor) {
      const bool there = c.op->optional == 0 || c.attrs().value[0] >> tensors & 1;
      ++tensors;
      at[k++] = there ? given++ : -1;
    } else {
      at[k++] = next;
      next += list ? 1 + static_cast<int>(c.attrs().value[next]) : 1;
    }
  };
  (place(std::is_same_v<std::remove_cvref_t<A>, Tensor>, std::is_same_v<std::remove_cvref_t<A>, IntList>), ...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    c.result[0] = reinterpret_cast<Tensor (*)(A...)>(context)(read_argument<std::remove_cvref_t<A>>(c, at[I])...);
  }(std::index_sequence_for<A...>{});
}

}  // namespace detail

/// A registered operator as a C++ function.
template <class... A>
struct FunctionOperator {
  Operator* op = nullptr;

  Tensor operator()(A... a, SourceLine at = here()) const {
    const Tensor* argument[sizeof...(A)];
    Attributes attributes;
    int tensors = 0;
    const auto put = [&](const auto& x) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor>) argument[tensors++] = &x;
      else detail::push_argument(attributes, x);
    };
    (put(a), ...);
    return detail::call_operator(*op, argument, tensors, attributes, at);
  }
};

/// Defines an operator that runs `function` on every backend. names: of the arguments after the Tensors, "t, n=10", with defaults for calls by name.
/// Throws Error when the name has another definition.
template <class... A>
FunctionOperator<A...> register_operator(const char* name, Tensor (*function)(A...), const char* names = "") {
  constexpr int tensors = (0 + ... + std::is_same_v<std::remove_cvref_t<A>, Tensor>);
  constexpr bool tensor[] = {std::is_same_v<std::remove_cvref_t<A>, Tensor>...};
  static_assert(tensors > 0 && tensor[tensors - 1], "tt: Tensors come first, at least one");
  auto* context = reinterpret_cast<void*>(function);
  return {&Dispatcher::get().define(name, context, [&](Operator& op) {
    op.set_schema(detail::make_schema<std::remove_cvref_t<A>...>(names));
    op.set_backend_kernel(&detail::function_kernel<A...>, context);
    for (int k = most_devices; k < dispatch_key_count; ++k) op.set_fall_through(static_cast<DispatchKey>(k));  // ops that it calls are dispatched themselves
  })};
}
/// Sets an operator's kernel for one key; throws Error when its types do not match the operator's schema.
template <class... A>
void register_kernel(const char* name, DispatchKey key, Tensor (*function)(A...), SourceLine at = here()) {
  Operator& op = Dispatcher::get().find(name);
  if (!detail::fits_schema<std::remove_cvref_t<A>...>(op))
    TT_THROW(Error(Text("tt::register_kernel: ") << name << ": the function takes other arguments than the operator: "
                                                 << '(' << op.schema << ")." << at));
  op.set_kernel(key, &detail::function_kernel<A...>, reinterpret_cast<void*>(function));
}

}  // namespace tt
