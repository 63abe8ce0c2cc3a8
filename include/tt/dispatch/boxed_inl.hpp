// Definitions of boxed.hpp.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tt/dispatch/boxed.hpp"

namespace tt {

#if defined(TT_COMPILED)
template <class>
int register_all_ops();
TT_INLINE void register_algorithms();
#endif

namespace detail {

/// A default is written as in C++: its text to the end, or it is none.
template <class T, class Parse>
bool read_default(std::string_view text, T& value, const Parse& parse) {
  char copy[32] = {};
  if (text.size() >= sizeof(copy)) return false;
  std::memcpy(copy, text.data(), text.size());
  char* end = nullptr;
  value = parse(copy, &end);
  return end == copy + text.size();
}
inline bool read_default(std::string_view text, std::int64_t& value) {
  return read_default(text, value, [](const char* from, char** end) { return std::strtoll(from, end, 10); });
}

inline bool read_default(std::string_view text, double& value) {
  return read_default(text, value, [](const char* from, char** end) { return std::strtod(from, end); });
}
/// "[1, 2]", "[]"
inline bool read_default(std::string_view text, IntList& list) {
  if (!text.starts_with('[') || !text.ends_with(']')) return false;
  for (text = text.substr(1, text.size() - 2); !text.empty();) {
    const std::size_t end = text.find(',');
    std::int64_t number = 0;
    if (!read_default(text.substr(0, end), number)) return false;
    list.push_back(number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return true;
}

TT_INLINE const char* push_boxed(Attributes& to, const SchemaReader& schema, const BoxedValue* value) {
  constexpr const char* wrong_default = "the schema's default is of another type";
  const std::string_view type = schema.type, left_out = schema.left_out;
  if (type.ends_with('?')) {  // whether it is given, and what
    const bool none = value ? value->is_none() : left_out == "None";
    to.push(!none);
    if (none) return to.push(0), nullptr;
    return push_boxed(to, {{}, type.substr(0, type.size() - 1), schema.name, left_out}, value);
  }
  if (type == "dtype") {
    if (!value) {
      for (int d = 0; d < dtype_count; ++d)
        if (left_out == name(static_cast<DType>(d))) return to.push(d), nullptr;
      return left_out.empty() ? "no value" : wrong_default;
    }
    if (!value->is_dtype()) return "a dtype is expected";
    to.push(value->integer());
    return nullptr;
  }
  if (!value && left_out.empty()) return "no value";
  if (type.starts_with("int[")) {
    if (value && !value->is_list() && !value->is_integer()) return "a list of integers is expected";
    IntList list;
    std::int64_t number = 0;
    if (value) list = value->is_list() ? value->list() : IntList{value->integer()};
    else if (read_default(left_out, number)) list.push_back(number);
    else if (!read_default(left_out, list)) return wrong_default;
    const int most = type[4] == ']' ? 0 : type[4] - '0';  // "int[2]": two numbers, or one for both
    const bool fits = most == 0 || list.size() == 1 || list.size() == most || (list.size() == 0 && !left_out.empty());
    if (!fits) return most == 1 ? "one integer is expected" : "one integer or two are expected";
    to.push(list);
  } else if (type == "float") {
    if (value && !value->is_number()) return "a number is expected";
    double number = value ? value->real() : 0;
    if (!value && !read_default(left_out, number)) return wrong_default;
    to.push(std::bit_cast<std::int64_t>(number));
  } else if (type == "bool") {
    if (value && !value->is_boolean()) return "true or false is expected";
    const bool truth = left_out == "true" || left_out == "True";  // as in C++, of registered functions; as in PyTorch
    if (!value && !truth && left_out != "false" && left_out != "False") return wrong_default;
    to.push(value ? value->integer() : truth);
  } else {
    if (value && !value->is_integer()) return "an integer is expected";
    std::int64_t number = value ? value->integer() : 0;
    if (!value && !read_default(left_out, number)) return wrong_default;
    to.push(number);
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
    TT_THROW(Error(t << ": takes (" << op.schema << ")." << at));
  };
  const int given = static_cast<int>(positional.size());
  const BoxedValue* v = positional.begin();
  Attributes attributes;
  if (op.optional > 0) attributes.push(0);  // which of the Tensors are given
  SmallVec<TensorOperand, few_arguments> operand;
  int next = 0, place = 0;
  std::size_t used = 0;
  for (SchemaReader s{op.schema}; s.next();) {
    const BoxedValue* value = next < given ? &v[next++] : nullptr;
    for (const NamedValue& n : named) {
      if (s.name != n.name) continue;
      if (value) fail("two values", s.name);
      value = &n.value;
      ++used;
    }
    if (!s.is_operand()) {
      if (const char* wrong = push_boxed(attributes, s, value)) fail(wrong, s.name);
      continue;
    }
    const std::int64_t bit = std::int64_t{1} << place++;
    if (s.type == "Tensor?" && (!value || value->is_none() || (value->is_tensor() && !value->tensor().defined()))) continue;
    if (double number = 0; !value && !s.left_out.empty() && s.type == "Scalar" && read_default(s.left_out, number)) {
      operand.push_back(TensorOperand(number, at));
      continue;
    }
    if (!value) fail("no value", s.name);
    if (op.optional > 0) attributes.value[0] |= bit;
    const bool several = s.type == "Tensor[]";
    if (!value->is_tensor() && (several || !value->is_number())) fail("a Tensor is expected", s.name);
    operand.push_back(value->operand(at));
    while (several && next < given && v[next].is_tensor()) operand.push_back(v[next++].operand(at));
  }
  if (next < given) fail("too many arguments");
  if (used != named.size()) fail("an argument has a name that the schema does not have");

  const int tensors = operand.size();
  if (op.body || op.primitive != Op::input) {
    *result = call_elementwise(op, operand.data(), tensors, attributes, at);
    return;
  }
  SmallVec<Tensor, few_arguments> made(tensors);
  SmallVec<const Tensor*, few_arguments> argument(tensors);
  for (int k = 0; k < tensors; ++k) {
    made[k] = operand[k].tensor ? *operand[k].tensor : operand[k].number(DType::boolean);
    argument[k] = &made[k];
    if (!made[k].defined()) Dispatcher::undefined(op, k, at);
  }
  if (op.front) {
    Call c{&op, argument.data(), tensors, &attributes, result, at, {}};
    op.front(c);
    return;
  }
  if (op.is_view) {  // kernels of views trust their numbers: the graph checks them
    Graph g = record_call(op, attributes, Signature(argument.data(), tensors, attributes, SizeSet::everything()));
    g.failure.where = at;
    if (g.failure) TT_THROW(Error(describe(g.failure)));
  }
  call_operator_into(op, argument.data(), tensors, attributes, at, result);
}

/// In tt::compiled every operator of the library is at hand.
inline void register_library() {
#if defined(TT_COMPILED)
  register_all_ops<void>();
  register_algorithms();
#endif
}
inline Operator& operator_called(const char* name) {
  if (!Dispatcher::get().lookup(name)) register_library();
  return Dispatcher::get().find(name);
}

}  // namespace detail

TT_INLINE std::vector<OpSchema> ops() {
  detail::register_library();
  std::vector<OpSchema> list;
  Dispatcher::get().each([&](const Operator& op) {
    if (op.name()[0] != '_') list.push_back({op.name(), op.schema, op.results});
  });
  std::sort(list.begin(), list.end(), [](const OpSchema& a, const OpSchema& b) { return std::strcmp(a.name, b.name) < 0; });
  return list;
}

TT_INLINE Tensor call(const char* name, std::initializer_list<BoxedValue> positional, std::initializer_list<NamedValue> named,
                      SourceLine at) {
  const Operator& op = detail::operator_called(name);
  if (op.results != 1)
    TT_THROW(Error(Text("tt::call: ") << name << ": has " << op.results << " results. Use tt::call_results?" << at));
  Tensor result;
  detail::call_boxed(op, positional, named, at, &result);
  return result;
}

TT_INLINE std::vector<Tensor> call_results(const char* name, std::initializer_list<BoxedValue> positional, std::initializer_list<NamedValue> named,
                                           SourceLine at) {
  const Operator& op = detail::operator_called(name);
  std::vector<Tensor> result(static_cast<std::size_t>(op.results));
  detail::call_boxed(op, positional, named, at, result.data());
  return result;
}

}  // namespace tt
