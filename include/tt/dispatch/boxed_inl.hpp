// Definitions of boxed.hpp.
#pragma once
#include "tt/dispatch/boxed.hpp"

namespace tt {
namespace detail {

TT_INLINE const char* push_boxed(Attributes& to, std::string_view type, const BoxedValue* value, std::int64_t left_out) {
  if (type == "int[]") {
    if (value && !value->is_list() && (!value->is_number() || value->is_real())) return "a list of integers is expected";
    to.push(!value ? IntList{} : value->is_list() ? value->list() : IntList{value->integer()});
  } else if (type == "dtype") {
    if (!value || !value->is_dtype()) return "a dtype is expected";
    to.push(value->integer());
  } else if (type == "float") {
    if (value && !value->is_number()) return "a number is expected";
    to.push(std::bit_cast<std::int64_t>(value ? value->real() : static_cast<double>(left_out)));
  } else {
    if (value && (!value->is_number() || value->is_real())) return "an integer is expected";
    to.push(value ? value->integer() : left_out);
  }
  return nullptr;
}

TT_INLINE void call_boxed(const Operator& op, std::initializer_list<BoxedValue> positional,
                       std::initializer_list<NamedValue> named, SourceLine at, Tensor* result) {
  const auto fail = [&](const char* what, std::string_view argument = {}) {
    Text t = Text("tt::call: ") << op.name() << ": " << what;
    if (!argument.empty()) {
      t << " for ";
      for (char c : argument) t << c;
    }
    t << ": takes ";
    if (op.variadic) t << "1 to " << max_arguments;
    else t << op.arguments;
    TT_THROW(Error(t << (op.arguments == 1 && !op.variadic ? " Tensor" : " Tensors") << " and (" << op.attribute_names << ")." << at));
  };
  const int given = static_cast<int>(positional.size());
  const BoxedValue* v = positional.begin();
  int tensors = op.arguments;
  if (op.variadic)
    for (tensors = 0; tensors < given && v[tensors].is_tensor();) ++tensors;
  if (given < tensors || tensors == 0) fail("too few arguments");
  if (tensors > max_arguments) fail("too many Tensors");
  for (int k = 0; k < tensors; ++k)
    if (!v[k].is_tensor() && !v[k].is_number()) fail("a Tensor is expected");

  Attributes attributes;
  int next = tensors;
  std::size_t used = 0;
  for (SchemaReader s{op.attribute_names, {}, {}}; s.next();) {
    const BoxedValue* value = next < given ? &v[next++] : nullptr;
    for (const NamedValue& n : named) {
      if (s.name != n.name) continue;
      if (value) fail("two values", s.name);
      value = &n.value;
      ++used;
    }
    if (const char* wrong = push_boxed(attributes, s.type, value, s.left_out)) fail(wrong, s.name);
  }
  if (next < given) fail("too many arguments");
  if (used != named.size()) fail("an argument has a name that the schema does not have");

  TensorOperand operand[max_arguments];
  for (int k = 0; k < tensors; ++k) operand[k] = v[k].operand(at);
  if (op.body || op.primitive != Op::input) {
    *result = call_elementwise(op, operand, tensors, attributes, at);
    return;
  }
  Tensor made[max_arguments];
  const Tensor* argument[max_arguments];
  for (int k = 0; k < tensors; ++k) {
    made[k] = operand[k].tensor ? *operand[k].tensor : operand[k].number(DType::boolean);
    argument[k] = &made[k];
    if (!made[k].defined()) Dispatcher::undefined(op, k, at);
  }
  if (op.is_view) {  // kernels of views trust their numbers: the graph checks them
    Graph g = record_call(op, attributes, Signature(argument, tensors, attributes, all_sizes));
    g.failure.where = at;
    if (g.failure) TT_THROW(Error(describe(g.failure)));
  }
  call_operator_into(op, argument, tensors, attributes, at, result);
}

}  // namespace detail

TT_INLINE Tensor call(const char* name, std::initializer_list<BoxedValue> positional, std::initializer_list<NamedValue> named,
                      SourceLine at) {
  const Operator& op = Dispatcher::get().find(name);
  if (op.results != 1)
    TT_THROW(Error(Text("tt::call: ") << name << ": has " << op.results << " results. Use tt::call_results?" << at));
  Tensor result;
  detail::call_boxed(op, positional, named, at, &result);
  return result;
}

TT_INLINE std::vector<Tensor> call_results(const char* name, std::initializer_list<BoxedValue> positional, std::initializer_list<NamedValue> named,
                                           SourceLine at) {
  const Operator& op = Dispatcher::get().find(name);
  std::vector<Tensor> result(static_cast<std::size_t>(op.results));
  detail::call_boxed(op, positional, named, at, result.data());
  return result;
}

}  // namespace tt
