// Calls by name, with arguments as values: for interpreters, loaded graphs and tests.
//   tt::call("softmax", {x, 1})        tt::call("sum", {x}, {{"dim", {0}}, {"keepdim", true}})
//   tt::call_results("sort", {x})                   values and indices
// With tt::compiled every operator is found; else those that were called before, and all after tt::register_all_ops() of
// <tt/dispatch/all_ops.hpp>.
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
  BoxedValue(const Size& s) : BoxedValue(std::int64_t{s}) {}
  BoxedValue(const IntList& l) : list_(l), kind_(Kind::list) {}
  BoxedValue(std::initializer_list<std::int64_t> l) : list_(l), kind_(Kind::list) {}
  BoxedValue(DType d) : integer_(static_cast<int>(d)), kind_(Kind::dtype) {}
  BoxedValue(None) : kind_(Kind::left_out) {}

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
  enum class Kind { left_out, tensor, boolean, integer, real, list, dtype };
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

/// Puts a value behind the others, as the schema says; what is wrong with it, or null.
TT_INLINE const char* push_boxed(Attributes& to, const SchemaReader& schema, const BoxedValue* value);

/// Calls `op`, which has as many results as there is room for.
TT_INLINE void call_boxed(const Operator& op, std::initializer_list<BoxedValue> positional,
                       std::initializer_list<NamedValue> named, SourceLine at, Tensor* result);

}  // namespace detail

/// What an operator is given and gives.
struct OpSchema {
  const char *name, *arguments;
  int results;
  /// In PyTorch's schema language: "softmax(Tensor input, int dim) -> Tensor".
  friend Text& operator<<(Text& out, const OpSchema& s) {
    out << s.name << '(' << s.arguments << ") -> ";
    for (int k = 0; k < s.results; ++k) out << (k ? ", " : s.results > 1 ? "(" : "") << "Tensor";
    return out << (s.results > 1 ? ")" : "");
  }
  friend Text& operator<<(Text&& out, const OpSchema& s) { return out << s; }
};
/// The operators that calls by name find, in the order of their names; without those of our own, which begin with an underscore.
TT_INLINE std::vector<OpSchema> ops();

/// Calls the operator of this name, as the function of that name does; positional values first, then named ones. What is left
/// out is what the schema says. Throws Error when a value does not fit the schema, or one is missing.
TT_INLINE Tensor call(const char* name, std::initializer_list<BoxedValue> positional,
                   std::initializer_list<NamedValue> named = {}, SourceLine at = here());
/// The same for an operator of any number of results.
TT_INLINE std::vector<Tensor> call_results(const char* name, std::initializer_list<BoxedValue> positional,
                                        std::initializer_list<NamedValue> named = {}, SourceLine at = here());

}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/boxed_inl.hpp"
#endif
