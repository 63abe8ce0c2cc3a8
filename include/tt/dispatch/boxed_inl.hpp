// Definitions of boxed.hpp.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tt/dispatch/boxed.hpp"
#include "tt/dispatch/graph_function_inl.hpp"

namespace tt {

#if defined(TT_COMPILED)
template <class>
int register_all_ops();
TT_INLINE void register_algorithms();
#endif

namespace detail {

/// Parses a default, which is written as in C++. False unless all of the text is read.
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

/// Why a value does not fit an argument of this type; null if it fits. An argument with a default takes an empty list too.
inline const char* wrong_value(std::string_view type, const BoxedValue& v, bool has_default) {
  if (type.ends_with('?'))
    return v.is_none() || (v.is_tensor() && !v.tensor().defined()) ? nullptr : wrong_value(type.substr(0, type.size() - 1), v, has_default);
  if (type == "Tensor[]") return v.is_tensor() || v.is_tensors() ? nullptr : "a Tensor is expected";
  if (type == "Tensor" || type == "Scalar") return v.is_tensor() || v.is_number() ? nullptr : "a Tensor is expected";
  if (type == "dtype") return v.is_dtype() ? nullptr : "a dtype is expected";
  if (type.starts_with("int[")) {
    if (!v.is_list() && !v.is_integer()) return "a list of integers is expected";
    const int most = type[4] == ']' ? 0 : type[4] - '0', n = v.is_list() ? v.list().size() : 1;  // "int[2]": two numbers, or one for both
    if (most == 0 || n == 1 || n == most || (n == 0 && has_default)) return nullptr;
    return most == 1 ? "one integer is expected" : most == 2 ? "one integer or two are expected" : "one integer or three are expected";
  }
  if (type == "float[]") return v.is_reals() || v.is_list() || v.is_number() ? nullptr : "a list of numbers is expected";
  if (type == "float" || type == "number") return v.is_number() ? nullptr : "a number is expected";
  if (type == "bool") return v.is_boolean() ? nullptr : "true or false is expected";
  if (type == "Scalar|str") return v.is_number() || v.is_text() ? nullptr : "a number or a word is expected";
  if (type == "str") return v.is_text() ? nullptr : "a word is expected";
  if (const std::size_t bar = type.find('|'); bar != std::string_view::npos) {
    if (!v.is_text()) return "a word is expected";
    for (std::string_view rest = type;; rest.remove_prefix(rest.find('|') + 1)) {
      if (rest.substr(0, rest.find('|')) == v.text()) return nullptr;
      if (rest.find('|') == std::string_view::npos) return "another word is expected";
    }
  }
  return v.is_integer() ? nullptr : "an integer is expected";
}
/// Is it a type such as "none|mean|sum"?
inline bool is_choice(std::string_view type) { return type.find('|') != std::string_view::npos && !type.starts_with("Scalar"); }
/// The index of `word` among words such as "none|mean|sum".
inline std::int64_t number_of_word(std::string_view words, std::string_view word) {
  for (std::int64_t k = 0;; ++k, words.remove_prefix(words.find('|') + 1))
    if (words.substr(0, words.find('|')) == word) return k;
}
/// The value of a schema's default. Throws Error when it is of another type.
inline BoxedValue default_value(const char* op, std::string_view type, std::string_view text) {
  const bool optional = type.ends_with('?');
  if (optional) type.remove_suffix(1);
  if (text == "None" && optional) return None;
  if (type == "bool") {
    const bool truth = text == "true" || text == "True";  // as in C++, for registered functions; or as in PyTorch
    if (truth || text == "false" || text == "False") return truth;
  } else if (type == "dtype") {
    for (int d = 0; d < dtype_count; ++d)
      if (text == name(static_cast<DType>(d))) return static_cast<DType>(d);
  } else if (type.find('|') != std::string_view::npos || type == "str") {
    return text;
  } else if (type.starts_with("int")) {
    std::int64_t number = 0;
    IntList list;
    if (read_default(text, number)) return number;
    if (type.starts_with("int[") && read_default(text, list)) return list;
  } else if (double number = 0; read_default(text, number)) {
    std::int64_t whole = 0;
    if ((type == "Scalar" || type == "number") && read_default(text, whole)) return whole;
    return number;
  }
  TT_THROW(Error(Text("tt::call: ") << op << ": a default of its schema is of another type."));
}

/// The index of the argument that a call names, or -1. As in PyTorch there are further names: `input` is always the first Tensor of a
/// function, even if its documentation names it differently, and NumPy's names are accepted.
inline int place_of_argument(std::string_view schema, std::string_view called) {
  struct OtherName {
    std::string_view name;
    int place;                    ///< the operand's index, or -1: the argument named `argument`
    std::string_view argument{};
  };
  static constexpr OtherName others[] = {{"input", 0}, {"x", 0}, {"a", 0}, {"x1", 0}, {"input2", 1}, {"input3", 2}, {"n", 1}, {"x2", -1, "other"}, {"tensor", -1, "other"},
                                         {"other", -1, "B"}, {"b", -1, "B"}, {"axis", -1, "dim"}, {"keepdims", -1, "keepdim"}, {"indices", -1, "indices_or_sections"}, {"sections", -1, "indices_or_sections"}};
  int place = 0;
  for (SchemaReader s{schema}; s.next(); ++place)
    if (s.name == called) return place;
  for (const OtherName& o : others) {
    if (o.name != called) continue;
    place = 0;
    for (SchemaReader s{schema}; s.next(); ++place)
      if (o.place < 0 ? s.name == o.argument : s.is_operand() && place == o.place) return place;
  }
  return -1;
}

/// The arguments of a call by name matched with a schema: a value for each argument of the schema, or why they do not fit.
struct BoxedArguments {
  SmallVec<const BoxedValue*, 12> value;   ///< null: left out
  SmallVec<int, 12> more;                  ///< number of further Tensors or integers of a list, after the first
  Text wrong;

  BoxedArguments(std::string_view schema, std::span<const BoxedValue> positional, std::span<const NamedValue> named) { match(schema, positional, named); }
  bool fit() const { return wrong.empty(); }

 private:
  void match(std::string_view schema, std::span<const BoxedValue> positional, std::span<const NamedValue> named) {
    std::size_t next = 0;
    SmallVec<int, 12> place;
    for (const NamedValue& n : named) place.push_back(place_of_argument(schema, n.name));
    const auto fail = [&](const char* what, std::string_view argument = {}) {
      wrong << what;
      if (argument.empty()) return;
      wrong << " for ";
      for (char c : argument) wrong << c;
    };
    for (SchemaReader s{schema}; s.next();) {
      const BoxedValue* v = next < positional.size() ? &positional[next++] : nullptr;
      for (std::size_t k = 0; k < named.size(); ++k) {
        if (place[static_cast<int>(k)] != value.size()) continue;
        if (v) return fail("two values", s.name);
        v = &named[k].value;
      }
      if (!v && s.left_out.empty()) return fail("no value", s.name);
      if (v)
        if (const char* what = wrong_value(s.type, *v, !s.left_out.empty())) return fail(what, s.name);
      int others = 0;
      if (s.type == "Tensor[]" && v && v->is_tensor())
        for (; next < positional.size() && positional[next].is_tensor(); ++next) ++others;
      else if (s.type == "int[]" && v && v->is_integer() && s.rest.find("int") == std::string_view::npos && s.rest.find("Tensor") == std::string_view::npos)  // view(2, 3)
        for (; next < positional.size() && positional[next].is_integer(); ++next) ++others;
      value.push_back(v);
      more.push_back(others);
    }
    if (next < positional.size()) return fail("too many arguments");
    for (std::size_t k = 0; k < named.size(); ++k)
      if (place[static_cast<int>(k)] < 0) return static_cast<void>(wrong << "no argument is called " << named[k].name);
  }
};

/// Appends a value to the attributes, in the form of its schema type.
inline void push_boxed(Attributes& to, std::string_view type, const BoxedValue& v) {
  if (type.ends_with('?')) {  // whether it is given, then the value
    to.push(!v.is_none());
    if (v.is_none()) return to.push(0);
    return push_boxed(to, type.substr(0, type.size() - 1), v);
  }
  if (type.starts_with("int[")) to.push(v.is_list() ? v.list() : IntList{v.integer()});
  else if (type == "float") to.push(std::bit_cast<std::int64_t>(v.real()));
  else if (type.find('|') != std::string_view::npos) to.push(number_of_word(type, v.text()));
  else to.push(v.integer());
}

/// This integer and `more` after it.
inline IntList integers(const BoxedValue* v, int more) {
  IntList list;
  for (int k = 0; k <= more; ++k) list.push_back(v[k].integer());
  return list;
}

/// May all operands be numbers? PyTorch allows that for arithmetic.
inline bool takes_numbers_alone(std::string_view name) {
  for (const std::string_view s : {"add", "sub", "subtract", "mul", "div", "divide", "true_divide", "floor_divide"})
    if (name == s) return true;
  return false;
}
/// The Tensor that gets the result of a call by name, and its name in errors.
struct Destination {
  Tensor target;
  const char* name;
};
/// Calls `op`, whose results fit into `result`. An elementwise op may write into `to` directly; then that Tensor is the result.
TT_INLINE void call_boxed(const Operator& op, const BoxedArguments& given, SourceLine at, Tensor* result, const Destination* to) {
  Attributes attributes;
  if (op.optional > 0) attributes.push(0);  // which of the Tensors are given
  SmallVec<TensorOperand, few_arguments> operand;
  int place = 0, k = 0;
  for (SchemaReader s{op.schema}; s.next(); ++k) {
    const BoxedValue* const v = given.value[k];
    if (!s.is_operand()) {
      push_boxed(attributes, s.type, !v ? default_value(op.name(), s.type, s.left_out) : given.more[k] > 0 ? integers(v, given.more[k]) : *v);
      continue;
    }
    const std::int64_t bit = std::int64_t{1} << place++;
    if (s.type == "Tensor?" && (!v || v->is_none() || (v->is_tensor() && !v->tensor().defined()))) continue;
    if (!v) {
      operand.push_back(default_value(op.name(), s.type, s.left_out).operand(at));
      continue;
    }
    if (op.optional > 0) attributes.value[0] |= bit;
    if (v->is_tensors())
      for (const Tensor& t : v->tensors()) operand.push_back({t, at});
    else
      for (int j = 0; j <= given.more[k]; ++j) operand.push_back(v[j].operand(at));
  }

  const int tensors = operand.size();
  bool numbers_only = place > 0;
  for (const TensorOperand& o : operand) numbers_only = numbers_only && !o.tensor;
  if (numbers_only && !takes_numbers_alone(op.name())) TT_THROW(Error(Text("tt::") << op.name() << ": there is no Tensor." << at));
  if (op.body || op.primitive != Op::input) {
    bool direct = to && to->target.defined() && !capture_mode && !change_is_taped(to->target);
    for (const TensorOperand& o : operand) direct = direct && !(o.tensor && o.tensor->defined() && change_is_taped(to->target, o.tensor));
    *result = direct ? to->target : Tensor();
    if (direct) write_elementwise(op, *result, operand.data(), tensors, attributes, to->name, at);
    else *result = call_elementwise(op, operand.data(), tensors, attributes, at);
    return;
  }
  SmallVec<Tensor, few_arguments> made(tensors);
  SmallVec<const Tensor*, few_arguments> argument(tensors);
  DType floating = DType::boolean;
  for (const TensorOperand& o : operand)
    if (o.tensor) floating = floating_with(floating, *o.tensor);
  for (int j = 0; j < tensors; ++j) {
    made[j] = operand[j].tensor ? *operand[j].tensor : operand[j].number_among(floating);
    if (op.numbers_are_elements) operand[j].need_element_of(made[0].dtype(), op.name(), at);
    argument[j] = &made[j];
    if (!made[j].defined()) Dispatcher::undefined(op, j, at);
  }
  if (op.front) {
    Call c{&op, argument.data(), tensors, &attributes, result, at, {}};
    op.front(c);
    return;
  }
  if (op.is_view) {  // kernels of views trust their attributes: recording the call checks them
    Graph g = record_call(op, attributes, Signature(argument.data(), tensors, attributes, SizeSet::everything()));
    g.failure.where = at;
    if (g.failure) TT_THROW(Error(describe(g.failure)));
  }
  call_operator_into(op, argument.data(), tensors, attributes, at, result);
}
inline std::vector<Tensor> call_boxed(const Operator& op, const BoxedArguments& given, SourceLine at, const Destination* to) {
  std::vector<Tensor> result(static_cast<std::size_t>(op.results));
  call_boxed(op, given, at, result.data(), to);
  return result;
}
#if defined(__cpp_exceptions)
/// Rethrows an error of an inner op under the name of the op that was called: tt::embedding: index_select: ...
template <class E>
[[noreturn]] void throw_under_name(const char* name, const E& e) {
  const std::string_view said = e.what(), own = name;
  const std::string_view rest = said.substr(said.starts_with("tt::") || said.starts_with("tt: ") ? 4 : 0);
  if (said.starts_with("tt::") && rest.starts_with(own) && !rest.substr(own.size()).empty() && rest[own.size()] == ':') throw;
  Text under = Text("tt::") << name << ": ";
  for (const char c : rest) under << c;
  throw E(static_cast<Text&&>(under));
}
#endif
inline std::vector<Tensor> call_boxed(const NamedFunction& f, const BoxedArguments& given, SourceLine at, const Destination*) {
  if (std::string_view(f.schema).starts_with("Scalar input")) {
    bool numbers_only = true;
    for (const BoxedValue* v : given.value) numbers_only = numbers_only && !(v && v->is_tensor());
    if (numbers_only && !takes_numbers_alone(f.name)) TT_THROW(Error(Text("tt::") << f.name << ": there is no Tensor." << at));
  }
  SmallVec<BoxedValue, 12> made;
  SmallVec<const BoxedValue*, 12> value;
  DType floating = DType::boolean;
  for (const BoxedValue* v : given.value)
    if (v && v->is_tensor()) floating = floating_with(floating, v->tensor());
  int k = 0;
  for (SchemaReader s{f.schema}; s.next(); ++k) {
    if (const BoxedValue* const v = given.value[k]; !v) made.push_back(default_value(f.name, s.type, s.left_out));
    else if (is_choice(s.type) && v->is_text()) made.push_back(number_of_word(s.type.substr(0, s.type.find('?')), v->text()));
    else if (s.type == "Tensor[]" && v->is_tensor()) {
      std::vector<Tensor> list;
      for (int j = 0; j <= given.more[k]; ++j) list.push_back(v[j].tensor());
      made.push_back(list);
    } else if (given.more[k] > 0) {
      made.push_back(integers(v, given.more[k]));
    } else if (s.type.starts_with("float[]") && !v->is_reals() && !v->is_none()) {
      std::vector<double> list;
      if (v->is_number()) list.push_back(v->real());
      else
        for (int i = 0; i < v->list().size(); ++i) list.push_back(static_cast<double>(v->list().value(i)));
      made.push_back(list);
    } else if (s.type.starts_with("Tensor") && v->is_number()) made.push_back(v->operand(at).number_among(floating));
    else made.push_back(*v);
    if (is_choice(s.type) && made.back().is_text()) made.back() = number_of_word(s.type.substr(0, s.type.find('?')), made.back().text());
  }
  made.push_back(none);  // in place of the caller's line
  for (const BoxedValue& v : made) value.push_back(&v);
  return f.run(value.data(), at);
}
TT_INLINE void add_function(const NamedFunction& f) {
  int arguments = 0;
  for (SchemaReader s{f.schema}; s.next();) ++arguments;
  if (arguments != f.arguments)
    TT_THROW(Error(Text("tt::register_function: ") << f.name << " takes " << f.arguments << " arguments, and its schema names " << arguments << ": (" << f.schema << ")."));
  if (!is_op_name(f.name)) TT_THROW(Error(Text("tt::register_function: '") << f.name << "' is no name. Letters, digits and _?"));
  for (const NamedFunction* n = named_functions.first(f.name); n; n = named_functions.next(*n))
    if (std::string_view(n->schema) == f.schema) {
      if (n->run == f.run) return;  // by another file, or again
      TT_THROW(Error(Text("tt::register_function: there is ") << f.name << '(' << f.schema << ") already."));
    }
  named_functions.add(new NamedFunction(f));
}

/// With tt::compiled every operator of the library can be registered. False: it has been.
inline bool register_library() {
#if defined(TT_COMPILED)
  static std::atomic<bool> there = false;
  if (there.load(std::memory_order_acquire)) return false;
  register_all_ops<void>();
  register_algorithms();
  there.store(true, std::memory_order_release);
  return true;
#else
  return false;
#endif
}
/// f(operator or function) for each overload of a name, the operator first, then functions in the order of registration, until f returns true.
template <class F>
bool each_meaning(const char* name, const F& f) {
  if (const Operator* op = Dispatcher::get().lookup(name); op && f(*op)) return true;
  SmallVec<const NamedFunction*, 8> found;  // the newest first
  for (const NamedFunction* n = named_functions.first(name); n; n = named_functions.next(*n)) found.push_back(n);
  for (int k = found.size() - 1; k >= 0; --k)
    if (f(*found[k])) return true;
  return false;
}
inline bool is_called(const char* name) {
  return each_meaning(name, [](const auto&) { return true; });
}
/// Second names that PyTorch has for operators.
struct Alias {
  const char *alias, *name;
};
inline constexpr Alias aliases[] = {
    {"absolute", "abs"}, {"arccos", "acos"}, {"arccosh", "acosh"}, {"arcsin", "asin"}, {"arcsinh", "asinh"}, {"arctan", "atan"}, {"arctan2", "atan2"}, {"arctanh", "atanh"},
    {"bitwise_and", "bit_and"}, {"bitwise_or", "bit_or"}, {"bitwise_xor", "bit_xor"}, {"expit", "sigmoid"}, {"fix", "trunc"}, {"less", "lt"}, {"less_equal", "le"},
    {"multiply", "mul"}, {"negative", "neg"}, {"not_equal", "ne"}, {"psi", "digamma"}, {"sgn", "sign"},
    {"gammaln", "lgamma"}, {"linalg_matmul", "matmul"}, {"__and__", "bit_and"}, {"__or__", "bit_or"}, {"__xor__", "bit_xor"}, {"__rand__", "bit_and"}, {"__ror__", "bit_or"}, {"__rxor__", "bit_xor"}, {"__radd__", "add"}, {"__rmul__", "mul"}, {"__rsub__", "rsub"},
    {"__getitem__", "index"}, {"__rmatmul__", "_rmatmul"}, {"__rdiv__", "_rdiv"}, {"__rmod__", "_rmod"}, {"__rpow__", "_rpow"}};

TT_INLINE std::string registered_name(std::string_view name) {
  if (const std::size_t torch = name.rfind("functional."); torch != std::string_view::npos) name.remove_prefix(torch + 11);
  if (name.starts_with("torch.")) name.remove_prefix(6);
  std::string plain(name);
  for (char& c : plain)
    if (c == '.') c = '_';
  if (!is_called(plain.c_str())) register_library();
  const bool in_place = plain.size() > 1 && plain.ends_with('_') && !plain.ends_with("__");
  if (!is_called(plain.c_str()) && plain.starts_with("special_")) plain.erase(0, 8);
  for (const Alias& a : aliases)
    if (plain.substr(0, plain.size() - (in_place ? 1 : 0)) == a.alias) return std::string(a.name) + (in_place ? "_" : "");
  return plain;
}
inline const char* name_of(const Operator& op) { return op.name(); }
inline const char* name_of(const NamedFunction& f) { return f.name; }

/// Results of the first overload that takes these arguments. `to`: see call_boxed.
inline std::vector<Tensor> call_meaning(const char* name, std::span<const BoxedValue> positional, std::span<const NamedValue> named, SourceLine at,
                                        const Destination* to = nullptr) {
  std::vector<Tensor> result;
  Text why;
  int meanings = 0;
  const bool done = each_meaning(name, [&](const auto& meaning) {
    const BoxedArguments given(meaning.schema, positional, named);
    if (given.fit()) {
#if defined(__cpp_exceptions)
      try {
        result = call_boxed(meaning, given, at, to);
      } catch (const Error& e) {
        throw_under_name(name_of(meaning), e);
      } catch (const Unavailable& e) {
        throw_under_name(name_of(meaning), e);
      }
#else
      result = call_boxed(meaning, given, at, to);
#endif
      return true;
    }
    if (meanings++ == 0) why << given.wrong << ": takes (" << meaning.schema << ')';
    else why << " or (" << meaning.schema << ')';
    return false;
  });
  if (!done && meanings > 0 && register_library()) return call_meaning(name, positional, named, at, to);  // of the program's own functions none fits
  if (!done && meanings == 0) (void)Dispatcher::get().find(name);  // throws, and suggests the most similar name
  if (!done) TT_THROW(Error(Text("tt::call: ") << name << ": " << why << "." << at));
  return result;
}

}  // namespace detail

TT_INLINE std::vector<OpSchema> ops() {
  detail::register_library();
  std::vector<OpSchema> list;
  Dispatcher::get().each([&](const Operator& op) {
    if (op.name()[0] != '_') list.push_back({op.name(), op.schema, op.results});
  });
  detail::named_functions.each([&](const detail::NamedFunction& f) { list.push_back({f.name, f.schema, f.results}); });
  std::sort(list.begin(), list.end(), [](const OpSchema& a, const OpSchema& b) {
    const int order = std::strcmp(a.name, b.name);
    return order != 0 ? order < 0 : std::strcmp(a.arguments, b.arguments) < 0;
  });
  return list;
}

namespace detail {
/// Writes the one result of a call to its destination, unless the op has written it there.
inline Tensor write_result(const Destination& to, const std::vector<Tensor>& result, SourceLine at) {
  if (result.size() != 1) TT_THROW(Error(Text("tt::call: ") << to.name << ": has " << static_cast<std::int64_t>(result.size()) << " results." << at));
  Tensor target = to.target;
  if (result[0].is_same(target)) return target;
  check_result(target, result[0], to.name, at);
  return target.copy_(result[0], at);
}
/// Each of several results is written to its Tensor; all are checked before.
inline std::vector<Tensor> write_results(std::vector<Tensor> targets, const std::vector<Tensor>& result, const char* name, SourceLine at) {
  if (result.size() != targets.size())
    TT_THROW(Error(Text("tt::call: ") << name << ": has " << static_cast<std::int64_t>(result.size()) << " results, and " << static_cast<std::int64_t>(targets.size()) << " Tensors to write." << at));
  for (const Tensor& t : targets)
    if (!t.defined()) TT_THROW(Error(Text("tt::call: ") << name << ": a Tensor to write is undefined." << at));
  for (std::size_t k = 0; k < targets.size(); ++k) check_result(targets[k], result[k], name, at);
  for (std::size_t k = 0; k < targets.size(); ++k) targets[k].copy_(result[k], at);
  return targets;
}
}  // namespace detail

TT_INLINE std::vector<Tensor> call_results(const char* name, std::span<const BoxedValue> positional, std::span<const NamedValue> named, SourceLine at) {
  const std::string own = detail::registered_name(name);
  const bool in_place = own.ends_with('_') && !positional.empty() && positional[0].is_tensor() && !detail::is_called(own.c_str());
  for (std::size_t k = 0; k < named.size(); ++k)
    if (std::strcmp(named[k].name, "out") == 0 && (named[k].value.is_tensor() || named[k].value.is_tensors() || named[k].value.is_none())) {
      std::vector<NamedValue> rest(named.begin(), named.end());
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      if (named[k].value.is_tensors()) return detail::write_results(named[k].value.tensors(), call_results(name, positional, rest, at), (own + " (out)").c_str(), at);
      if (named[k].value.is_none() || !named[k].value.tensor().defined()) return call_results(name, positional, rest, at);
      const std::string label = own + " (out)";
      const detail::Destination to{named[k].value.tensor(), label.c_str()};
      return {detail::write_result(to, in_place ? call_results(name, positional, rest, at) : detail::call_meaning(own.c_str(), positional, rest, at, &to), at)};
    }
  if (!in_place) return detail::call_meaning(own.c_str(), positional, named, at);
  const detail::Destination to{positional[0].tensor(), own.c_str()};
  std::vector<BoxedValue> old(positional.begin(), positional.end());
  std::vector<NamedValue> old_named(named.begin(), named.end());
  const auto each = [&](const auto& f) {
    for (BoxedValue& v : old) f(v);
    for (NamedValue& v : old_named) f(v.value);
  };
  bool taped = false;
  each([&](const BoxedValue& v) { taped = taped || (to.target.defined() && v.is_tensor() && v.tensor().defined() && detail::change_is_taped(to.target, &v.tensor())); });
  if (taped) {  // the derivative reads the old elements
    const Tensor copy = detail::copy_for_tape(to.target, at);
    each([&](BoxedValue& v) {
      if (v.is_tensor() && v.tensor().is_same(to.target)) v = copy;
    });
  }
  return {detail::write_result(to, detail::call_meaning(own.substr(0, own.size() - 1).c_str(), old, old_named, at, &to), at)};
}

TT_INLINE Tensor call(const char* name, std::initializer_list<BoxedValue> positional, std::initializer_list<NamedValue> named,
                      SourceLine at) {
  const std::vector<Tensor> result = call_results(name, positional, named, at);
  if (result.size() != 1)
    TT_THROW(Error(Text("tt::call: ") << name << ": has " << static_cast<std::int64_t>(result.size()) << " results. Use tt::call_results?" << at));
  return result[0];
}

}  // namespace tt
