// Calls by name, with arguments as values: for interpreters, loaded graphs and tests.
//   tt::call("softmax", {x, tt::IntList{1}})        tt::call("sum", {x}, {{"dim", {0}}, {"keepdim", true}})
//   tt::call_results("sort", {x})                   values and indices
// Needs <tt/dispatch/all_ops.hpp>, or tt::compiled, for every operator to be registered.
#pragma once
#include <bit>
#include <string_view>
#include <vector>

#include "tt/dispatch/methods.hpp"

namespace tt {

/// An argument of a boxed call.
class BoxedValue {
 public:
  BoxedValue(const Tensor& t) : tensor_(t), kind_(Kind::tensor) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  BoxedValue(T v) : number_(static_cast<double>(v)), integer_(std::is_integral_v<T> ? static_cast<std::int64_t>(v) : 0),
        kind_(std::is_same_v<T, bool> ? Kind::boolean : std::is_floating_point_v<T> ? Kind::real : Kind::integer) {}
  BoxedValue(const IntList& l) : list_(l), kind_(Kind::list) {}
  BoxedValue(std::initializer_list<std::int64_t> l) : list_(l), kind_(Kind::list) {}
  BoxedValue(DType d) : integer_(static_cast<int>(d)), kind_(Kind::dtype) {}

  bool is_tensor() const { return kind_ == Kind::tensor; }
  const Tensor& tensor() const { return tensor_; }
  bool is_number() const { return kind_ == Kind::boolean || kind_ == Kind::integer || kind_ == Kind::real; }
  bool is_real() const { return kind_ == Kind::real; }
  double real() const { return number_; }
  std::int64_t integer() const { return integer_; }
  bool is_list() const { return kind_ == Kind::list; }
  const IntList& list() const { return list_; }
  bool is_dtype() const { return kind_ == Kind::dtype; }
  /// A Tensor or number, as the unboxed form of an op takes it.
  detail::TensorOperand operand(SourceLine at) const {
    switch (kind_) {
      case Kind::tensor: return {tensor_, at};
      case Kind::boolean: return {integer_ != 0, at};
      case Kind::real: return {number_, at};
      default: return {integer_, at};
    }
  }

 private:
  enum class Kind { tensor, boolean, integer, real, list, dtype };
  Tensor tensor_;
  double number_ = 0;
  std::int64_t integer_ = 0;
  IntList list_;
  Kind kind_;
};
struct NamedValue {
  const char* name;
  BoxedValue value;
};

namespace detail {

/// The attributes of an operator's schema, one after the other: "int dim=-1, bool keepdim".
struct SchemaReader {
  std::string_view rest;
  std::string_view type, name;
  std::int64_t left_out = 0;  ///< what a number is that is not given
  bool next() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ',')) rest.remove_prefix(1);
    if (rest.empty()) return false;
    const std::size_t space = rest.find(' '), comma = rest.find(',');
    type = rest.substr(0, space);
    name = rest.substr(space + 1, (comma == std::string_view::npos ? rest.size() : comma) - space - 1);
    const std::size_t equals = name.find('=');
    const std::string_view value = equals == std::string_view::npos ? "0" : name.substr(equals + 1);
    left_out = value == "true" ? 1 : value.front() == '-' ? -(value[1] - '0') : value.front() - '0';
    name = name.substr(0, equals);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma);
    return true;
  }
};

/// Puts a value behind the others, as the schema's type says; what is wrong with it, or null.
inline const char* push_boxed(Attributes& to, std::string_view type, const BoxedValue* value, std::int64_t left_out) {
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

/// Calls `op`, which has as many results as there is room for.
inline void call_boxed(const Operator& op, std::initializer_list<BoxedValue> positional,
                       std::initializer_list<NamedValue> named, SourceLine at, Tensor* result) {
  const auto fail = [&](const char* what, std::string_view argument = {}) {
    Text t = Text("tt::call: ") << op.name() << ": " << what;
    if (!argument.empty()) {
      t << " for ";
      for (char c : argument) t << c;
    }
    TT_THROW(Error(t << ": takes " << op.arguments << (op.arguments == 1 ? " Tensor" : " Tensors") << " and ("
                     << op.attribute_names << ")." << at));
  };
  const int given = static_cast<int>(positional.size());
  const BoxedValue* v = positional.begin();
  if (given < op.arguments) fail("too few arguments");
  for (int k = 0; k < op.arguments; ++k)
    if (!v[k].is_tensor() && !v[k].is_number()) fail("a Tensor is expected");

  Attributes attributes;
  int next = op.arguments;
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
  for (int k = 0; k < op.arguments; ++k) operand[k] = v[k].operand(at);
  if (op.body || op.primitive != Op::input) {
    *result = call_elementwise(op, operand, op.arguments, attributes, at);
    return;
  }
  Tensor made[max_arguments];
  const Tensor* argument[max_arguments];
  for (int k = 0; k < op.arguments; ++k) {
    made[k] = operand[k].tensor ? *operand[k].tensor : operand[k].number(DType::boolean);
    argument[k] = &made[k];
    if (!made[k].defined()) Dispatcher::undefined(op, k, at);
  }
  if (op.is_view) {  // kernels of views trust their numbers: the graph checks them
    Graph g = record_call(op, attributes, Signature(argument, op.arguments, attributes, true));
    g.failure.where = at;
    if (g.failure) TT_THROW(Error(describe(g.failure)));
  }
  call_operator_into(op, argument, op.arguments, attributes, at, result);
}

}  // namespace detail

/// Calls the operator of this name; positional values first, then named ones. What is left out is what the schema
/// says, else 0, false or {} (all axes). Throws Error when a value does not fit the schema.
inline Tensor call(const char* name, std::initializer_list<BoxedValue> positional,
                   std::initializer_list<NamedValue> named = {}, SourceLine at = here()) {
  const Operator& op = Dispatcher::get().find(name);
  if (op.results != 1)
    TT_THROW(Error(Text("tt::call: ") << name << ": has " << op.results << " results. Use tt::call_results?" << at));
  Tensor result;
  detail::call_boxed(op, positional, named, at, &result);
  return result;
}
/// The same for an operator of any number of results.
inline std::vector<Tensor> call_results(const char* name, std::initializer_list<BoxedValue> positional,
                                        std::initializer_list<NamedValue> named = {}, SourceLine at = here()) {
  const Operator& op = Dispatcher::get().find(name);
  std::vector<Tensor> result(static_cast<std::size_t>(op.results));
  detail::call_boxed(op, positional, named, at, result.data());
  return result;
}

}  // namespace tt
