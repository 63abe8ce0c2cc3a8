// Eager ops: the library's functions on Tensors. Each call goes through the dispatcher; the kernel for
// every backend that tt knows is made from the op's one definition, recorded as a graph of its own.
//   tt::Tensor y = tt::silu(x) + tt::softmax(z, 1);
#pragma once
#include <array>
#include <utility>

#include "tt/dispatch/graph_function.hpp"
#include "tt/dispatch/labels.hpp"
#include "tt/dispatch/options.hpp"
#include "tt/dispatch/tensor_operand.hpp"
#include "tt/functional/list.hpp"
#include "tt/ops/list.hpp"

namespace tt {

/// The instruction set of ops on Tensors on the CPU, such as "AVX2 with FMA": the one that the program is built for, or, with
/// tt::compiled, the best of the processor. The environment variable TT_CPU_CAPABILITY (default, avx2, avx512) bounds it.
TT_INLINE const char* get_cpu_capability();

namespace detail {

/// Called by the first op, so that a program without Tensors contains no kernels.
TT_INLINE void register_kernels();

// ---- from definitions to operators

TT_INLINE void record_primitive(Graph& g, const Operator& op, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_call_of(Graph& g, const Operator& op, std::span<const int> in, const Attributes&, int* out);

// ---- calls

/// PyTorch's result dtype: Tensors with axes decide within their category, then Tensors of rank 0, then numbers.
TT_INLINE DType result_dtype(const Tensor* const* t, int count);

Tensor convert(const Tensor& t, DType to, SourceLine at);

/// Calls an operator with one result.
TT_INLINE Tensor call_operator(const Operator& op, const Tensor* const* argument, int count, const Attributes& attributes,
                            SourceLine at, const Tensor* into = nullptr);

/// The same with as many results as the operator has.
TT_INLINE void call_operator_into(const Operator& op, const Tensor* const* argument, int count, const Attributes& attributes,
                                  SourceLine at, Tensor* result);

/// torch.result_type of two Tensors.
inline DType dtype_together(const Tensor& x, const Tensor& y) {
  const Tensor* const both[] = {&x, &y};
  return result_dtype(both, 2);
}
/// The common dtype of the floating Tensors: of `so_far` (boolean: none yet) and of a further Tensor.
inline DType floating_with(DType so_far, const Tensor& t) {
  if (!t.defined() || !is_floating(t.dtype())) return so_far;
  return so_far == DType::boolean ? t.dtype() : promote(so_far, t.dtype());
}

/// An elementwise call: numbers become Tensors, and Tensors of rank 0 take the dtype of those with axes.
/// `into`: see Call.
TT_INLINE Tensor call_elementwise(const Operator& op, const TensorOperand* operand, int count, const Attributes& attributes,
                               SourceLine at, const Tensor* into = nullptr);

template <class F, class List>
inline constexpr bool is_in = false;
template <class F, class... L>
inline constexpr bool is_in<F, TypeList<L...>> = (std::is_same_v<F, L> || ...);

#if !TT_DEFINES(eager) && !TT_DEFINES(further)
inline constexpr bool uses_library = true;
#else
inline constexpr bool uses_library = false;
#endif
/// An operator that is defined in tt::compiled: files that link it compile no definition, and a program contains only operators that it
/// calls. The template parameter `Linked` of operator_entry keeps both kinds of entries apart: of functions with one name the linker keeps
/// one, and that of the library has to define the operator. gnu::used: else the library, which calls these functions too, would inline them
/// and leave none to link.
template <class F>
[[gnu::used, gnu::cold]] Operator& library_operator();
template <Op K>
[[gnu::used, gnu::cold]] Operator& library_operator();

/// The set of the Tensors that a call gives; -1: all.
inline std::int64_t given_of(const Operator& op, const Attributes& a) { return op.optional > 0 ? a.value[0] : -1; }
template <class F>
[[gnu::cold]] void record_structured_op(Graph& g, const Operator& op, std::span<const int> in, const Attributes& a, int* out) {
  record_nodes<F>(g, {in.data(), static_cast<int>(in.size())}, given_of(op, a), options_of<F>(op, a, true), out);
}
template <class F>
[[gnu::cold]] void record_named_op(Graph& g, const Operator& op, std::span<const int> in, const Attributes& a, int* out) {
  const std::int64_t given = given_of(op, a);
  const Vec<int> result = call_named(g, op_def<F>, {in.data(), static_cast<int>(in.size())}, words_of_options<F>(given, options_of<F>(op, a, true)));
  for (int k = 0; k < result.size(); ++k) out[k] = result[k];
}
template <class F>
void structured_front(Call& c) {
  const CheckedArguments<F> checked(c.argument, c.arguments, options_of<F>(*c.op, c.attrs(), false), c.at);
  call_operator_into(*c.op, checked.data(), c.arguments, c.attrs(), c.at, c.result);
}

/// Makes a result that is a view of a temporary of its kernel no view: else a change in place would look for the history of its base.
TT_INLINE void leave_hidden_base(Call& c, int result);
/// For an op with a body: the kernel on the host in place of the body's program, and its derivative; see dispatch/join_ops.hpp.
template <class F>
struct HostKernel;
template <class F>
void host_kernel(Call& c, void*) {
  const ExcludeKeys below{DispatchKey::autograd};
  HostKernel<F>::run(c, options_of<F>(*c.op, c.attrs(), false));
}
template <class F>
void host_derivative(const DerivativeStep& s) { HostKernel<F>::derivative(s, options_of<F>(*s.op, *s.attributes, false)); }
template <class F>
void own_kernel(Call& c, void*) {
  const ExcludeKeys below{DispatchKey::autograd};
  F::kernel(c, options_of<F>(*c.op, c.attrs(), false));
  for (int k = 0; k < c.op->results; ++k) {
    if (!c.result[k].defined()) TT_THROW(Error(Text("tt::") << c.op->name() << ": its kernel sets no result " << k << "." << c.at));
    if (c.result[k].impl().base) leave_hidden_base(c, k);
  }
}
/// Runs a kernel on Meta Tensors. A rank-0 operand on the host is replaced by a Meta one, so any operand shows that there are no elements.
TT_INLINE void call_on_meta(const Call& c, OpKernel kernel);
template <class F>
void own_meta_kernel(Call& c, void*) { call_on_meta(c, &own_kernel<F>); }
template <class F>
void own_front(Call& c) { F::front(c, options_of<F>(*c.op, c.attrs(), false)); }
template <class F>
void own_derivative(const DerivativeStep& s) { F::derivative(s, options_of<F>(*s.op, *s.attributes, false)); }

template <class F>
[[gnu::cold]] Operator& define_operator() {
  const auto fill = [](Operator& e) __attribute__((cold)) {
    if constexpr (is_structured<F>) {
      e.set_schema(make_schema<F>());
      e.results = count_results<F>();
      if constexpr (has_kernel<F>) {
        e.set_kernel(DispatchKey::cpu, &own_kernel<F>);
        e.set_kernel(DispatchKey::meta, &own_meta_kernel<F>);
        if constexpr (requires { F::device_keys; })
          for (const DispatchKey k : F::device_keys) e.set_kernel(k, &own_kernel<F>);
        if constexpr (requires(const DerivativeStep& s, const options_t<F>& o) { F::derivative(s, o); }) e.derivative = &own_derivative<F>;
        else
          static_assert(!requires(DerivativeStep& s, const options_t<F>& o) { F::derivative(s, o); } && !requires(DerivativeStep& s) { F::derivative(s); },
                        "tt: the derivative of an op with a kernel takes (const auto& step, const Options& options); NoOptions, if it has none");
        if constexpr (requires { F::keeps_values; }) e.keeps_values = F::keeps_values;
        if constexpr (is_recordable<F>) {
          static ExternalOp known{&op_def<F>};
          note_external(known);
          e.external = &op_def<F>;
          use_steps();
          e.record = e.record_named = &record_named_op<F>;
        }
        if constexpr (requires { &F::front; }) e.front = &own_front<F>;
      } else {
        if constexpr (requires { F::numbers_are_elements; }) e.numbers_are_elements = true;
        e.record = &record_structured_op<F>;
        e.record_named = &record_named_op<F>;
        e.elementwise = F::info.elementwise;
        if constexpr (requires { &HostKernel<F>::run; }) {
          e.set_kernel(DispatchKey::cpu, &host_kernel<F>);
          e.derivative = &host_derivative<F>;
        }
      }
      if constexpr (LabelCheck<F>::any) e.front = &structured_front<F>;
    } else {
      e.set_schema(F::info.schema ? F::info.schema : schema_of(F::info.arity, ""));
      e.body = &op_def<F>;
      e.elementwise = true;
      e.record = &record_call_of;
      enlist(op_def<F>);
    }
  };
  if constexpr (requires { typename F::tt_anonymous; }) {
    static Operator* const own = new Operator(F::info.name);
    fill(*own);
    return *own;
  } else if constexpr (is_structured<F>) {
    return Dispatcher::get().define(F::info.name, &F::info, fill);
  } else {
    return Dispatcher::get().define(F::info.name, &op_def<F>, fill);
  }
}
/// Defines the operator of this name that is recorded by `record`.
inline Operator& define_recorded(const char* name, int arguments, RecordFunction record, const char* attributes = "",
                                 Op primitive = Op::input) {
  return Dispatcher::get().define(name, reinterpret_cast<const void*>(record), [&](Operator& e) {
    e.set_schema(primitive == Op::where ? "Tensor condition, Tensor input, Tensor other" : schema_of(arguments, attributes));
    e.primitive = primitive;
    e.elementwise = primitive != Op::input;
    e.record = record;
  });
}

}  // namespace detail

/// The operator of an op definition.
template <class F, bool Linked = detail::uses_library && (detail::is_in<F, DirectOps> || detail::is_in<F, StructuredOps> || detail::is_in<F, FurtherStructuredOps>)>
Operator& operator_entry() {
  static Operator& entry = []() -> Operator& {
    if constexpr (Linked) return detail::library_operator<F>();
    else return detail::define_operator<F>();
  }();
  return entry;
}
template <Op K, bool Linked = detail::uses_library>
Operator& operator_entry() {
  static Operator& entry = []() -> Operator& {
    if constexpr (Linked) return detail::library_operator<K>();
    else return detail::define_recorded(name(K), arity(K), &detail::record_primitive, is_shift(K) ? "int n" : "", K);
  }();
  return entry;
}
namespace detail {

template <class F>
const Operator& external_operator() { return operator_entry<F>(); }
template <class F>
bool has_own_host_kernel() { return operator_entry<F>().slot(DispatchKey::cpu).kernel.load(std::memory_order_acquire) == &own_kernel<F>; }

/// Calls a function object of the library on Tensors: by its own call(); for those with template arguments
/// there are specialisations, here and in dispatch/views.hpp.
template <class Fn>
struct TensorFunction {
  template <class... A>
  static auto run(SourceLine at, const A&... a) { return Fn::call(at, a...); }
};
/// A Tensor, or a number among Tensors: see TensorOperand::number_among.
inline const Tensor& as_tensor(const Tensor& t, DType) { return t; }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor as_tensor(A value, DType floating) { return TensorOperand(value, {}).number_among(floating); }

}  // namespace detail

namespace detail {
/// The result type of an op over graphs: one Tensor, or an array. Named, not deduced, so that a function that is never called compiles no operator.
template <class F>
using ResultsOf = std::conditional_t<(count_results<F>() > 1), std::array<Tensor, static_cast<std::size_t>(count_results<F>())>, Tensor>;
}  // namespace detail
struct TensorFront {
  using run_time = void;
  using Value = Tensor;
  static constexpr int rank = 3;
  static constexpr bool dynamic_axes = true;

  /// For tt::grad and tt::value_and_grad: see autograd/functional.hpp.
  template <bool Value_, int... I, class F, class... A>
  static auto gradient(const F& f, A&&... a);

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
  static auto function(SourceLine at, const A&... a) {
    return detail::TensorFunction<Fn>::run(at, a...);
  }
  template <class F>
  using Results = detail::ResultsOf<F>;
  /// Calls an op over graphs. Tensors that are left out are passed undefined.
  template <class F, class O, class... A>
  static detail::ResultsOf<F> structured(SourceLine at, const O& options, const A&... a) {
    DType floating = DType::boolean;
    const auto read = [&](const auto& v) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, Tensor>) floating = detail::floating_with(floating, v);
    };
    if constexpr ((std::is_arithmetic_v<A> || ...)) (read(a), ...);
    if constexpr (requires { F::numbers_are_elements; }) {
      const DType d = std::get<0>(std::tie(a...)).dtype();
      const auto check = [&](const auto& v) {
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(v)>>) detail::TensorOperand(v, at).need_element_of(d, F::info.name, at);
      };
      (check(a), ...);
    }
    return call_given<F>(at, options, detail::as_tensor(a, floating)...);
  }
  /// The same for an op of any number of Tensors.
  template <class F>
  static detail::ResultsOf<F> structured(SourceLine at, const options_t<F>& options, std::span<const Tensor> list) {
    SmallVec<const Tensor*, few_arguments> argument;
    for (const Tensor& t : list) argument.push_back(&t);
    Attributes attributes;
    return call_list<F>(at, options, argument.data(), argument.size(), attributes);
  }
  template <class To>
  static Tensor cast(SourceLine at, const Tensor& a) {
    return detail::convert(a, dtype_of<To>, at);
  }
  template <class To>
  static Tensor bitcast(SourceLine at, const Tensor& a);

 private:
  template <class F, class O, std::same_as<Tensor>... A>
  static detail::ResultsOf<F> call_given(SourceLine at, const O& options, const A&... a) {
    constexpr detail::TensorCount tensors = detail::tensors_of<F>;
    static_assert(tensors.any_number || (sizeof...(A) <= tensors.all && sizeof...(A) + tensors.optional >= tensors.all), "tt: wrong number of arguments for this op");
    const Tensor* argument[] = {&a...};
    int count = sizeof...(A);
    Attributes attributes;
    if constexpr (tensors.optional > 0) {
      std::int64_t given = 0;
      count = 0;
      for (int k = 0; k < static_cast<int>(sizeof...(A)); ++k) {
        if (k >= tensors.all - tensors.optional && !argument[k]->defined()) continue;
        given |= std::int64_t{1} << k;
        argument[count++] = argument[k];
      }
      attributes.push(given);
    }
    return call_list<F>(at, options, argument, count, attributes);
  }
  template <class F>
  static detail::ResultsOf<F> call_list(SourceLine at, const options_t<F>& options, const Tensor* const* argument, int count, Attributes& attributes) {
    detail::AttributesTo to{attributes};
    detail::each_option(options, [&](detail::NameText, const auto& v) { detail::OptionWriter<detail::AttributesTo>{to}(v); });
    if constexpr (detail::LabelCheck<F>::any) return call_listed<F>(at, detail::CheckedArguments<F>(argument, count, options, at).data(), count, attributes);
    else return call_listed<F>(at, argument, count, attributes);
  }
  template <class F>
  static detail::ResultsOf<F> call_listed(SourceLine at, const Tensor* const* argument, int count, const Attributes& attributes) {
    const Operator& op = operator_entry<F>();
    if constexpr (detail::count_results<F>() > 1) {
      detail::ResultsOf<F> results;
      detail::call_operator_into(op, argument, count, attributes, at, results.data());
      return results;
    } else {
      return detail::call_operator(op, argument, count, attributes, at);
    }
  }
};

namespace detail {

template <class F, options_t<F> O>
struct TensorFunction<Structured<F, O>> {
  template <class... A>
  static ResultsOf<F> run(SourceLine at, const A&... a) {
    return TensorFront::structured<F>(at, O, a...);
  }
};

TT_INLINE void record_cast(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_bitcast(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void record_copy(Graph& g, const Operator&, std::span<const int> in, const Attributes&, int* out);
inline Operator& to_operator() {
  static Operator& op = []() -> Operator& {
    Operator& o = define_recorded("to", 1, &record_cast, "dtype dtype");
    o.elementwise = true;
    return o;
  }();
  return op;
}
inline Operator& bitcast_operator() {
  static Operator& op = []() -> Operator& {
    Operator& o = define_recorded("bitcast", 1, &record_bitcast, "dtype dtype");
    o.elementwise = true;
    return o;
  }();
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
/// alpha y, in the common dtype of x and y; throws Error if that is not floating and alpha is.
template <class = void>
Tensor scaled_by(const Tensor& x, const Tensor& y, const TensorOperand& alpha, const char* op, SourceLine at) {
  const DType d = dtype_together(x, y);
  if (!alpha.tensor && is_floating(alpha.literal) && !is_floating(d)) TT_THROW(Error(Text("tt::") << op << ": alpha is a float, and the result is " << name(d) << ". Give a whole one?" << at));
  const Tensor own = y.to(d, at), given = alpha.tensor ? alpha.tensor->to(d, at) : Tensor();
  const TensorOperand list[] = {{own, at}, alpha.tensor ? TensorOperand(given, at) : d == DType::boolean ? TensorOperand(alpha.integer != 0, at) : alpha};
  return call_elementwise(operator_entry<Op::mul>(), list, 2, no_attributes, at);
}

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
// A Tensor converts to bool, for branches: these take `const Tensor&` itself, so that they win over the operators of bool.
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
// For integers and bool; a % b is remainder(a, b), as in PyTorch. One parameter is a Tensor itself, so that a Size keeps the operators of integers.
inline Tensor operator&(const Tensor& a, detail::TensorOperand b) { return detail::binary<Op::bit_and>({a, b.where}, b); }
inline Tensor operator|(const Tensor& a, detail::TensorOperand b) { return detail::binary<Op::bit_or>({a, b.where}, b); }
inline Tensor operator^(const Tensor& a, detail::TensorOperand b) { return detail::binary<Op::bit_xor>({a, b.where}, b); }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor operator&(A a, const Tensor& b) { return b & a; }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor operator|(A a, const Tensor& b) { return b | a; }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor operator^(A a, const Tensor& b) { return b ^ a; }
template <class = void>
Tensor operator%(const Tensor& a, detail::TensorOperand b) { return detail::call_elementwise(operator_entry<Remainder>(), std::array{detail::TensorOperand(a, b.where), b}.data(), 2, no_attributes, b.where); }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor operator%(A a, const Tensor& b) { return TensorFront::call<Remainder>({}, a, b); }
template <class = void>
Tensor operator~(const Tensor& a) { return TensorFront::structured<BitwiseNot>({}, NoOptions{}, a); }

}  // namespace tt

#if TT_DEFINES(eager)
#include "tt/dispatch/eager_inl.hpp"
#include "tt/dispatch/labels_inl.hpp"
#endif
