// Eager ops: the same functions on Tensors. Each call goes through the dispatcher; the kernel for
// every backend that tt knows is made from the op's one definition, recorded as a graph of its own.
//   tt::Tensor y = tt::silu(x) + tt::softmax(z, 1);
#pragma once
#include <climits>
#include <utility>

#include "tt/dispatch/graph_function.hpp"
#include "tt/graph/tensor_ops.hpp"
#include "tt/ops/list.hpp"

namespace tt {

/// Whose instructions ops on Tensors run on the CPU, as "AVX2 with FMA": those that the program is built for, or, with
/// tt::compiled, the best that the processor has. The environment's TT_CPU_CAPABILITY (default, avx2, avx512) bounds it.
TT_INLINE const char* get_cpu_capability();

namespace detail {

/// When the first op is called, so that a program without Tensors holds nothing of this.
TT_INLINE void register_kernels();

// ---- from definitions to operators

TT_INLINE void record_primitive(Graph& g, const Operator& op, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_call_of(Graph& g, const Operator& op, std::span<const int> in, const Attributes&, int* out);
/// An axis among attributes, as an int: what is none is out of range as well.
constexpr int axis_given(std::int64_t axis) { return std::in_range<int>(axis) ? static_cast<int>(axis) : axis < 0 ? INT_MIN : INT_MAX; }
template <class Fn>
void record_reduction(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  const IntList dims = a.list(0);
  SmallVec<int, max_rank> dim;
  for (const std::int64_t axis : dims.values()) dim.push_back(axis_given(axis));
  const Sym x{&g, in[0]};
  out[0] = Fn::run(x, axis_bits(x, dim.data(), dim.size(), Fn::name), a.value[1 + dims.size()] != 0).id;
}
template <class Fn, int Arity>
void record_function(Graph& g, const Operator&, std::span<const int> in, const Attributes&, int* out) {
  if constexpr (Arity == 1) out[0] = Fn::record(Sym{&g, in[0]}).id;
  else if constexpr (Arity == 2) out[0] = Fn::record(Sym{&g, in[0]}, Sym{&g, in[1]}).id;
  else out[0] = Fn::record(Sym{&g, in[0]}, Sym{&g, in[1]}, Sym{&g, in[2]}).id;
}

// ---- calls

/// bool, integers, floating numbers: a result is never written to a lower category.
constexpr int category(DType d) { return d == DType::boolean ? 0 : is_integral(d) ? 1 : 2; }

/// PyTorch's result dtype: what has axes decides within its category, then single elements, then numbers.
TT_INLINE DType result_dtype(const Tensor* const* t, int count);

Tensor convert(const Tensor& t, DType to, SourceLine at);

/// Calls an operator with one result.
TT_INLINE Tensor call_operator(const Operator& op, const Tensor* const* argument, int count, const Attributes& attributes,
                            SourceLine at);

/// The same with as many results as the operator has.
TT_INLINE void call_operator_into(const Operator& op, const Tensor* const* argument, int count, const Attributes& attributes,
                                  SourceLine at, Tensor* result);

/// An operand of an elementwise op: a Tensor, or a number that gets its dtype beside the Tensors.
struct TensorOperand {
  const Tensor* tensor = nullptr;
  double real = 0;
  std::int64_t integer = 0;
  DType literal = DType::f64;
  bool fits = true;  ///< a whole number fits an i64
  Extent expression = 0;  ///< of a size of a captured function
  SourceLine where;

  TensorOperand() = default;
  TensorOperand(const Tensor& t, SourceLine at = here()) : tensor(&t), where(at) {}
  TensorOperand(const Size& value, SourceLine at = here()) : TensorOperand(value.value(), at) {
    if (value.is_expression()) [[unlikely]] expression = value.extent();
  }
  template <class A>
    requires std::is_arithmetic_v<A>
  TensorOperand(A value, SourceLine at = here())
      : real(static_cast<double>(value)), integer(std::is_integral_v<A> ? static_cast<std::int64_t>(value) : 0),
        literal(std::is_same_v<A, bool> ? DType::boolean : std::is_floating_point_v<A> ? DType::f64 : DType::i64),
        fits(!std::is_unsigned_v<A> || integer >= 0),
        where(at) {}
  /// A Tensor of the dtype that the number has beside others; throws Error when that cannot hold it.
  Tensor number(DType beside) const {
    const DType d = promote_literal(beside, literal);
    const bool as_real = is_floating(literal) || (is_floating(d) && !fits);
    if (!as_real && (!fits || (d == DType::i32 && integer != static_cast<std::int32_t>(integer))))
      TT_THROW(Error(describe({.mistake = Mistake::number_out_of_range, .op = "constant", .dtype = d, .number = integer, .where = where})));
    Tensor t(d, Shape{});
    t.impl().is_number = true;
    with_dtype(d, [&]<class T>(T) {
      *reinterpret_cast<T*>(t.impl().data) = as_real ? static_cast<T>(real) : static_cast<T>(integer);
    });
    if (!expression.is_constant()) [[unlikely]] capture_mode->made_of_size(t, expression);
    return t;
  }
};

/// An elementwise call: numbers become Tensors, and single elements take the dtype of what has axes.
TT_INLINE Tensor call_elementwise(const Operator& op, const TensorOperand* operand, int count, const Attributes& attributes,
                               SourceLine at);

}  // namespace detail

namespace detail {

/// The library's reductions, and its functions of two Tensors.
using ReductionFns = TypeList<SumFn, MeanFn, VarFn, AmaxFn, AminFn, ArgmaxFn, SoftmaxFn, LogSoftmaxFn, LogsumexpFn>;
using BinaryFns = TypeList<MatmulFn, CrossEntropyFn, MseLossFn, RandLikeFn, RandnLikeFn>;
template <class F, class List>
inline constexpr bool is_in = false;
template <class F, class... L>
inline constexpr bool is_in<F, TypeList<L...>> = (std::is_same_v<F, L> || ...);

#if !TT_DEFINES(eager)
inline constexpr bool uses_library = true;
#else
inline constexpr bool uses_library = false;
#endif
/// An operator that tt::compiled has: files that link it compile no definition of one. Such entries are functions of their
/// own (`Linked`): of functions with one name the linker keeps one, and that of the library has to define the operator. What
/// calls an entry may be either file's: both find the same operator.
TT_INLINE Operator& library_operator(const char* name);

template <class F>
Operator& define_operator() {
  const auto fill = [](Operator& e) {
    e.arguments = F::info.arity;
    e.body = &op_def<F>;
    e.record = &record_call_of;
    enlist(op_def<F>);
  };
  if constexpr (requires { typename F::tt_anonymous; }) {
    static Operator* const own = new Operator(F::info.name);
    fill(*own);
    return *own;
  } else {
    return Dispatcher::get().define(F::info.name, &op_def<F>, fill);
  }
}
/// The operator of this name that is recorded so.
inline Operator& define_recorded(const char* name, int arguments, RecordFunction record, const char* attributes = "",
                                 Op primitive = Op::input, OpFront front = nullptr) {
  return Dispatcher::get().define(name, reinterpret_cast<const void*>(record), [&](Operator& e) {
    e.arguments = arguments;
    e.primitive = primitive;
    e.attribute_names = attributes;
    e.record = record;
    e.front = front;
  });
}

/// Of primitives: max and min of one Tensor are others, see ExtremeFn.
constexpr const char* operator_name(Op k) { return k == Op::max ? "maximum" : k == Op::min ? "minimum" : name(k); }

template <class Fn>
inline constexpr const char* reduction_schema = "int[] dim={}, bool keepdim=false";
template <>
inline constexpr const char* reduction_schema<ArgmaxFn> = "int[1] dim={}, bool keepdim=false";
template <>
inline constexpr const char* reduction_schema<LogsumexpFn> = "int[] dim, bool keepdim=false";
template <>
inline constexpr const char* reduction_schema<SoftmaxFn> = "int[1] dim";
template <>
inline constexpr const char* reduction_schema<LogSoftmaxFn> = "int[1] dim";

template <class Fn>
struct TensorFunction;
template <class Fn, int Arity>
void function_front(Call& c) {
  if constexpr (Arity == 1) c.result[0] = TensorFunction<Fn>::run(c.at, c[0]);
  else if constexpr (Arity == 2) c.result[0] = TensorFunction<Fn>::run(c.at, c[0], c[1]);
  else c.result[0] = TensorFunction<Fn>::run(c.at, c[0], c[1], c[2]);
}

}  // namespace detail

/// The operator of an op definition.
template <class F, bool Linked = detail::uses_library && detail::is_in<F, ElementwiseOps>>
Operator& operator_entry() {
  static Operator& entry = []() -> Operator& {
    if constexpr (Linked) return detail::library_operator(F::info.name);
    else return detail::define_operator<F>();
  }();
  return entry;
}
template <Op K, bool Linked = detail::uses_library>
Operator& operator_entry() {
  static Operator& entry = []() -> Operator& {
    if constexpr (Linked) return detail::library_operator(detail::operator_name(K));
    else return detail::define_recorded(detail::operator_name(K), arity(K), &detail::record_primitive, is_shift(K) ? "int n" : "", K);
  }();
  return entry;
}
template <class Fn, bool Linked = detail::uses_library && detail::is_in<Fn, detail::ReductionFns>>
Operator& reduction_operator() {
  static Operator& entry = []() -> Operator& {
    if constexpr (Linked) return detail::library_operator(Fn::name);
    else return detail::define_recorded(Fn::name, 1, &detail::record_reduction<Fn>, detail::reduction_schema<Fn>);
  }();
  return entry;
}
template <class Fn, int Arity, bool Linked = detail::uses_library && detail::is_in<Fn, detail::BinaryFns>>
Operator& function_operator() {
  static Operator& entry = []() -> Operator& {
    if constexpr (Linked) return detail::library_operator(Fn::name);
    else return detail::define_recorded(Fn::name, Arity, &detail::record_function<Fn, Arity>, "", Op::input, &detail::function_front<Fn, Arity>);
  }();
  return entry;
}

namespace detail {

/// How a function of graph/tensor_ops.hpp is called on Tensors; those that take template arguments
/// say it here or in dispatch/views.hpp.
template <class Fn>
struct TensorFunction {
  template <class... A>
  static Tensor run(SourceLine at, const A&... a) {
    const Tensor list[] = {as_tensor(a)...};
    const Tensor* argument[sizeof...(A)];
    for (unsigned k = 0; k < sizeof...(A); ++k) argument[k] = &list[k];
    return call_operator(function_operator<Fn, sizeof...(A)>(), argument, sizeof...(A), no_attributes, at);
  }
  static Tensor as_tensor(const Tensor& t) { return t; }
  template <class A>
    requires std::is_arithmetic_v<A>
  static Tensor as_tensor(A value) { return TensorOperand(value, {}).number(DType::boolean); }
};

/// Throws Error naming the first label that is no class. Of labels with elements on the host: not while a graph is recorded.
TT_INLINE void check_labels(const Tensor& logits, const Tensor& labels, SourceLine at);
template <>
struct TensorFunction<CrossEntropyFn> {
  static Tensor run(SourceLine at, const Tensor& logits, const Tensor& labels) {
    check_labels(logits, labels, at);
    const Tensor* argument[] = {&logits, &labels};
    return call_operator(function_operator<CrossEntropyFn, 2>(), argument, 2, no_attributes, at);
  }
};

/// "max" and "min": the greatest, or least, element along an axis, and its place.
template <class Fn>
void record_extreme(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  const Sym x{&g, in[0]};
  const int dim = axis_given(a.value[0]);
  const ExtremeResult r = Fn::run(x, axis_bits(x, &dim, 1, Fn::name), a.value[1] != 0);
  out[0] = r.values.id;
  out[1] = r.places.id;
}
template <class Fn>
Operator& extreme_operator() {
  static Operator& op = Dispatcher::get().define(Fn::name, reinterpret_cast<const void*>(&record_extreme<Fn>), [](Operator& e) {
    e.results = 2;
    e.attribute_names = "int dim, bool keepdim=false";
    e.record = &record_extreme<Fn>;
  });
  return op;
}

template <class Fn>
Tensor reduce_axes(const Tensor& a, const IntList& dims, bool keepdim, SourceLine at) {
  Attributes attributes;
  attributes.push(dims);
  attributes.push(keepdim ? 1 : 0);
  const Tensor* argument[] = {&a};
  return call_operator(reduction_operator<Fn>(), argument, 1, attributes, at);
}
template <class Fn>
Tensor call_reduction(SourceLine at, const Tensor& a, const int* dims, int count, bool keepdim) {
  IntList list;
  for (int k = 0; k < count; ++k) list.push_back(dims[k]);
  return reduce_axes<Fn>(a, list, keepdim, at);
}
template <class Fn, bool Keepdim, int... Dims>
struct TensorFunction<Reduction<Fn, Keepdim, Dims...>> {
  static Tensor run(SourceLine at, const Tensor& a) {
    constexpr int dims[] = {Dims..., 0};
    return call_reduction<Fn>(at, a, dims, sizeof...(Dims), Keepdim);
  }
};

}  // namespace detail

struct TensorFront {
  using run_time = void;
  static constexpr int rank = 3;
  static constexpr bool dynamic_axes = true;

  /// For tt::grad and tt::value_and_grad: see autograd/functional.hpp.
  template <class F, bool Value_, int... I, class... A>
  static auto gradient(A&&... a);

  template <class F, class... A>
  static Tensor call(SourceLine at, const A&... a) {
    static_assert(sizeof...(A) == static_cast<unsigned>(F::info.arity), "tt: wrong number of arguments for this op");
    const detail::TensorOperand list[] = {detail::TensorOperand(a, at)...};
    return detail::call_elementwise(operator_entry<F>(), list, sizeof...(A), no_attributes, at);
  }
  template <Op K, class... A>
  static Tensor primitive(SourceLine at, std::int64_t attribute, const A&... a) {
    const detail::TensorOperand list[] = {detail::TensorOperand(a, at)...};
    Attributes attributes;
    if constexpr (is_shift(K)) attributes.push(attribute);
    return detail::call_elementwise(operator_entry<K>(), list, sizeof...(A), attributes, at);
  }
  template <class Fn, class... A>
  static Tensor function(SourceLine at, const A&... a) {
    return detail::TensorFunction<Fn>::run(at, a...);
  }
  template <class Fn>
  static Tensor reduce(SourceLine at, const Tensor& a, const int* dims, int count, bool keepdim) {
    return detail::call_reduction<Fn>(at, a, dims, count, keepdim);
  }
  template <class To>
  static Tensor cast(SourceLine at, const Tensor& a) {
    return detail::convert(a, dtype_of<To>, at);
  }
  template <class To>
  static Tensor bitcast(SourceLine at, const Tensor& a);
};

namespace detail {

TT_INLINE void record_cast(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_bitcast(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_copy(Graph& g, const Operator&, std::span<const int> in, const Attributes&, int* out);
inline Operator& to_operator() {
  static Operator& op = define_recorded("to", 1, &record_cast, "dtype dtype");
  return op;
}
inline Operator& bitcast_operator() {
  static Operator& op = define_recorded("bitcast", 1, &record_bitcast, "dtype dtype");
  return op;
}
TT_INLINE Tensor call_unary(const Operator& op, const Tensor& t, const Attributes& attributes, SourceLine at);
inline Tensor convert(const Tensor& t, DType to, SourceLine at) {
  if (t.dtype() == to) return t;
  Operator& op = to_operator();
  Attributes a;
  a.push(static_cast<int>(to));
  return call_unary(op, t, a, at);
}

}  // namespace detail

template <class To>
Tensor TensorFront::bitcast(SourceLine at, const Tensor& a) {
  Operator& op = detail::bitcast_operator();
  Attributes attributes;
  attributes.push(static_cast<int>(dtype_of<To>));
  return detail::call_unary(op, a, attributes, at);
}

// ---- operators

namespace detail {

template <Op K>
Tensor binary(const TensorOperand& a, const TensorOperand& b) {
  const TensorOperand list[] = {a, b};
  return call_elementwise(operator_entry<K>(), list, 2, no_attributes, a.where);
}
template <Op K>
Tensor unary(const TensorOperand& a) { return call_elementwise(operator_entry<K>(), &a, 1, no_attributes, a.where); }

}  // namespace detail

inline Tensor operator+(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::add>(a, b); }
inline Tensor operator-(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::sub>(a, b); }
inline Tensor operator*(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::mul>(a, b); }
inline Tensor operator/(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::div>(a, b); }
inline Tensor operator<(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::lt>(a, b); }
inline Tensor operator<=(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::le>(a, b); }
inline Tensor operator>(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::lt>(b, a); }
inline Tensor operator>=(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::le>(b, a); }
inline Tensor operator==(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::eq>(a, b); }
inline Tensor operator!=(detail::TensorOperand a, detail::TensorOperand b) { return detail::binary<Op::ne>(a, b); }
// A Tensor converts to bool, for branches: these take it as it is, so that they win over the operators of bool.
inline Tensor operator&&(const Tensor& a, detail::TensorOperand b) { return detail::binary<Op::logical_and>({a, b.where}, b); }
inline Tensor operator||(const Tensor& a, detail::TensorOperand b) { return detail::binary<Op::logical_or>({a, b.where}, b); }
inline Tensor operator!(const Tensor& a) { return detail::unary<Op::logical_not>({a, {}}); }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor operator&&(A a, const Tensor& b) { return b && a; }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor operator||(A a, const Tensor& b) { return b || a; }
inline Tensor operator-(detail::TensorOperand a) { return detail::unary<Op::neg>(a); }

}  // namespace tt

#if TT_DEFINES(eager)
#include "tt/dispatch/eager_inl.hpp"
#endif
