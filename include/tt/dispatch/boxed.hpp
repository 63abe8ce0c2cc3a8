// Calls by name, with arguments as values: for interpreters, loaded graphs and tests.
//   tt::call("softmax", {x, tt::IntList{1}})        tt::call("sum", {x}, {{"dim", {0}}, {"keepdim", true}})
// Needs <tt/dispatch/all_ops.hpp>, or tt::compiled, for every operator to be registered.
#pragma once
#include <string_view>

#include "tt/dispatch/methods.hpp"

namespace tt {

/// An argument of a boxed call.
class BoxedValue {
 public:
  BoxedValue(const Tensor& t) : tensor_(t), kind_(Kind::tensor) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  BoxedValue(T v) : number_(static_cast<double>(v)), integer_(static_cast<std::int64_t>(v)),
        kind_(std::is_floating_point_v<T> ? Kind::real : Kind::integer) {}
  BoxedValue(const IntList& l) : list_(l), kind_(Kind::list) {}
  BoxedValue(std::initializer_list<std::int64_t> l) : list_(l), kind_(Kind::list) {}
  BoxedValue(DType d) : integer_(static_cast<int>(d)), kind_(Kind::integer) {}

  bool is_tensor() const { return kind_ == Kind::tensor; }
  const Tensor& tensor() const { return tensor_; }
  bool is_number() const { return kind_ == Kind::integer || kind_ == Kind::real; }
  bool is_real() const { return kind_ == Kind::real; }
  double real() const { return number_; }
  std::int64_t integer() const { return integer_; }
  bool is_list() const { return kind_ == Kind::list; }
  const IntList& list() const { return list_; }

 private:
  enum class Kind { tensor, integer, real, list };
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

/// The attributes of an operator's schema, one after the other: "int[] dim, bool keepdim".
struct SchemaReader {
  std::string_view rest;
  std::string_view type, name;
  bool next() {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ',')) rest.remove_prefix(1);
    if (rest.empty()) return false;
    const std::size_t space = rest.find(' '), comma = rest.find(',');
    type = rest.substr(0, space);
    name = rest.substr(space + 1, (comma == std::string_view::npos ? rest.size() : comma) - space - 1);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma);
    return true;
  }
};

}  // namespace detail

/// Calls the operator of this name; positional values first, then named ones. What is left out is 0,
/// false or {} (all axes).
inline Tensor call(const char* name, std::initializer_list<BoxedValue> positional,
                   std::initializer_list<NamedValue> named = {}, SourceLine at = here()) {
  const Operator& op = Dispatcher::get().find(name);
  const auto fail = [&](const char* what) {
    TT_THROW(Error(Text("tt::call: ") << name << ": " << what << ": takes " << op.arguments << " Tensors and ("
                                      << op.attribute_names << ")." << at));
  };
  if (static_cast<int>(positional.size()) < op.arguments) fail("too few arguments");
  const BoxedValue* v = positional.begin();
  Tensor made[max_arguments];
  const Tensor* argument[max_arguments];
  DType beside = DType::boolean;
  for (int k = 0; k < op.arguments; ++k)
    if (v[k].is_tensor()) beside = promote(beside, v[k].tensor().dtype());
  for (int k = 0; k < op.arguments; ++k) {
    if (v[k].is_list()) fail("a list where a Tensor is expected");
    made[k] = v[k].is_tensor() ? v[k].tensor()
              : v[k].is_real() ? detail::number_tensor(beside, v[k].real())
                               : detail::number_tensor(beside, v[k].integer());
    argument[k] = &made[k];
  }
  Attributes attributes;
  int next = op.arguments;
  std::size_t used = 0;
  for (detail::SchemaReader s{op.attribute_names, {}, {}}; s.next();) {
    const BoxedValue* value = next < static_cast<int>(positional.size()) ? &v[next++] : nullptr;
    for (const NamedValue& n : named)
      if (s.name == n.name) {
        value = &n.value;
        ++used;
      }
    if (s.type == "int[]") {
      if (!value) attributes.push(IntList{});
      else if (value->is_list()) attributes.push(value->list());
      else if (value->is_number()) attributes.push(IntList{value->integer()});
      else fail("a Tensor where a list is expected");
    } else {
      if (value && !value->is_number()) fail("a number is expected");
      attributes.push(value ? value->integer() : 0);
    }
  }
  if (next < static_cast<int>(positional.size())) fail("too many arguments");
  if (used != named.size()) fail("an argument has a name that the schema does not have");
  return detail::call_operator(op, argument, op.arguments, attributes, at);
}

}  // namespace tt
