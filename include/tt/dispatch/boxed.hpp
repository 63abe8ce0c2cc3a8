// Calls of operators by name, with arguments as values: for interpreters, loaded graphs and tests.
//   tt::call("softmax", {x, 1})        tt::call("sum", {x}, {{"dim", {0}}, {"keepdim", true}})       tt::call("mse_loss", {x, y}, {{"reduction", "sum"}})
//   tt::call_results("sort", {x})      values and indices        tt::call("relu_", {x})      in place        tt::call("add", {x, y}, {{"out", z}})
// With tt::compiled every operator is found; else only operators that were called before, and all after tt::register_all_ops()
// of <tt/dispatch/all_ops.hpp>.
#pragma once
#include <bit>
#include <cstdlib>
#include <string>
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
  BoxedValue(const Size& s) : BoxedValue(std::int64_t{s}) {}
  BoxedValue(const IntList& l) : list_(l), kind_(Kind::list) {}
  BoxedValue(std::initializer_list<std::int64_t> l) : list_(l), kind_(Kind::list) {}
  BoxedValue(const std::vector<Tensor>& l) : tensors_(l), kind_(Kind::tensors) {}
  BoxedValue(const std::vector<double>& l) : reals_(l), kind_(Kind::reals) {}
  BoxedValue(DType d) : integer_(static_cast<int>(d)), kind_(Kind::dtype) {}
  BoxedValue(const char* word) : text_(word), kind_(Kind::text) {}
  BoxedValue(std::string_view word) : text_(word), kind_(Kind::text) {}
  BoxedValue(NoneType) : kind_(Kind::left_out) {}

  bool is_none() const { return kind_ == Kind::left_out; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  const Tensor& tensor() const { return tensor_; }
  bool is_number() const { return kind_ == Kind::boolean || kind_ == Kind::integer || kind_ == Kind::real; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_integer() const { return kind_ == Kind::integer; }
  double real() const { return number_; }
  std::int64_t integer() const { return integer_; }
  bool is_list() const { return kind_ == Kind::list; }
  const IntList& list() const { return list_; }
  bool is_tensors() const { return kind_ == Kind::tensors; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  bool is_reals() const { return kind_ == Kind::reals; }
  const std::vector<double>& reals() const { return reals_; }
  bool is_dtype() const { return kind_ == Kind::dtype; }
  bool is_text() const { return kind_ == Kind::text; }
  const std::string& text() const { return text_; }
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
  enum class Kind { left_out, tensor, boolean, integer, real, list, tensors, reals, dtype, text };
  Tensor tensor_;
  double number_ = 0;
  std::int64_t integer_ = 0;
  IntList list_;
  std::vector<Tensor> tensors_;
  std::vector<double> reals_;
  std::string text_;
  Kind kind_;
};
struct NamedValue {
  const char* name;
  BoxedValue value;
};

/// The arguments and results of an operator.
struct OpSchema {
  const char *name, *arguments;
  int results;  ///< -1: the number depends on the call
  /// In PyTorch's schema language: "softmax(Tensor input, int dim) -> Tensor".
  friend Text& operator<<(Text& out, const OpSchema& s) {
    out << s.name << '(' << s.arguments << ") -> ";
    if (s.results < 0) return out << "Tensor[]";
    for (int k = 0; k < s.results; ++k) out << (k ? ", " : s.results > 1 ? "(" : "") << "Tensor";
    return out << (s.results > 1 ? ")" : "");
  }
  friend Text& operator<<(Text&& out, const OpSchema& s) { return out << s; }
};
/// All operators and functions that calls by name find, in the order of names, without internal ones, whose names begin with an
/// underscore. An overloaded name is listed several times.
TT_INLINE std::vector<OpSchema> ops();

/// Calls the operator of this name, as the function of that name does; positional values first, then named ones. Arguments that are left
/// out get the schema's defaults. Of an overloaded name the first overload whose schema fits is called. A name that ends with _ writes the
/// result into the first Tensor, and a Tensor named "out" (a list of them for several results) is written and returned; elementwise ops
/// make no temporary then. Its shape has to be the result's (nothing is resized, as PyTorch does with a warning), its dtype at least of the
/// result's kind. PyTorch's names with dots are found too: "linalg.inv" is linalg_inv, "nn.functional.relu" is relu. Throws Error when a
/// value does not fit the schema, or one is missing.
TT_INLINE Tensor call(const char* name, std::initializer_list<BoxedValue> positional,
                   std::initializer_list<NamedValue> named = {}, SourceLine at = here());
/// The same for an operator of any number of results.
TT_INLINE std::vector<Tensor> call_results(const char* name, std::span<const BoxedValue> positional, std::span<const NamedValue> named = {},
                                           SourceLine at = here());
inline std::vector<Tensor> call_results(const char* name, std::initializer_list<BoxedValue> positional,
                                        std::initializer_list<NamedValue> named = {}, SourceLine at = here()) {
  return call_results(name, std::span(positional.begin(), positional.size()), std::span(named.begin(), named.size()), at);
}

namespace detail {

/// A function that calls by name find, beside the operators; it calls operators itself. Several may have one name.
struct NamedFunction {
  const char *name, *schema;
  int results;
  /// Takes a value for each argument of the schema, and one more that is not read, in place of the caller's line.
  std::vector<Tensor> (*run)(const BoxedValue* const* value, SourceLine at);
  int arguments;  ///< that it reads
  NamedFunction* behind = nullptr;
};
inline NameTable<NamedFunction> named_functions;

/// Converts a boxed value to a function's parameter type.
template <class A>
struct Unboxed {
  static A from(const BoxedValue& v, SourceLine at) {
    if constexpr (std::is_same_v<A, BoxedValue>) return v;
    else if constexpr (std::is_same_v<A, Tensor>) return v.tensor();
    else if constexpr (std::is_same_v<A, TensorOperand>) return v.operand(at);
    else if constexpr (std::is_same_v<A, bool>) return v.integer() != 0;
    else if constexpr (std::is_same_v<A, IntList>) return v.is_list() ? v.list() : v.is_none() ? IntList() : IntList{v.integer()};
    else if constexpr (std::is_same_v<A, std::vector<Tensor>>) return v.tensors();
    else if constexpr (std::is_same_v<A, std::vector<double>>) return v.reals();
    else if constexpr (std::is_same_v<A, std::string>) return v.text();
    else if constexpr (std::is_floating_point_v<A>) return static_cast<A>(v.real());
    else if constexpr (std::is_same_v<A, int>) return saturated<int>(v.integer());
    else return static_cast<A>(v.integer());
  }
};
template <class A>
struct Unboxed<Optional<A>> {
  static Optional<A> from(const BoxedValue& v, SourceLine at) {
    if (v.is_none()) return {};
    return Optional<A>(Unboxed<A>::from(v, at));
  }
};
/// A Tensor or a number that may be left out.
struct OptionalOperand {
  TensorOperand value;
  Tensor tensor;
  bool given = false;
};
template <>
struct Unboxed<OptionalOperand> {
  static OptionalOperand from(const BoxedValue& v, SourceLine at) {
    if (v.is_none() || (v.is_tensor() && !v.tensor().defined())) return {};
    return {v.operand(at), v.is_tensor() ? v.tensor() : Tensor(), true};
  }
};
/// The results of a function as a list: of one Tensor, a list of Tensors, or a struct of them.
template <class R>
std::vector<Tensor> as_results(R&& r) {
  using Plain = std::remove_cvref_t<R>;
  if constexpr (std::is_same_v<Plain, Tensor>) return {r};
  else if constexpr (std::is_same_v<Plain, std::vector<Tensor>>) return static_cast<R&&>(r);
  else {
    std::vector<Tensor> all;
    with_members(r, [&](const auto&... t) { (all.push_back(t), ...); });
    return all;
  }
}
template <class R>
constexpr int number_of_results() {
  if constexpr (std::is_same_v<R, Tensor>) return 1;
  else if constexpr (std::is_same_v<R, std::vector<Tensor>>) return -1;
  else return count_members<R>();
}
/// From a word: "cpu", "cuda:1", or the name of a registered device.
template <>
struct Unboxed<Device> {
  static Device from(const BoxedValue& v, SourceLine at) {
    if (Device d; find_device(v.text(), d)) return d;
    TT_THROW(Error(Text("tt::call: there is no device ") << v.text().c_str() << "." << at));
  }
};
template <>
struct Unboxed<SourceLine> {
  static SourceLine from(const BoxedValue&, SourceLine at) { return at; }
};
template <class F, class R, class... A>
NamedFunction named_function(const char* name, const char* schema, R (F::*)(A...) const) {
  return {name, schema, number_of_results<R>(), [](const BoxedValue* const* value, SourceLine at) {
            return [&]<std::size_t... I>(std::index_sequence<I...>) {
              return as_results(F{}(Unboxed<std::remove_cvref_t<A>>::from(*value[I], at)...));
            }(std::index_sequence_for<A...>{});
          }, (0 + ... + !std::is_same_v<std::remove_cvref_t<A>, SourceLine>)};
}
TT_INLINE void add_function(const NamedFunction& f);
/// The name as it is registered: PyTorch's may have dots, or be an alias.
TT_INLINE std::string registered_name(std::string_view name);

}  // namespace detail

/// Makes ops known by name that have not been called yet.
///   tt::register_ops<Squash, RmsNorm>();
template <class... F>
void register_ops() { (static_cast<void>(operator_entry<F>()), ...); }
/// Registers an overload of a name for calls by name: a lambda without state that takes the schema's arguments, then the caller's line, and
/// returns a Tensor, a struct of Tensors or a vector of them. Operators that it calls are dispatched as usual. Throws Error when the schema has another number
/// of arguments, or the name is none.
///   tt::register_function("halves", "Tensor input, int dim=0", [](const Tensor& x, int dim, SourceLine) { return tt::chunk(x, 2, dim); });
template <class F>
void register_function(const char* name, const char* schema, F) {
  detail::add_function(detail::named_function<F>(name, schema, &F::operator()));
}

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/boxed_inl.hpp"
#endif
