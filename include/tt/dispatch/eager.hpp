// Eager ops: the same functions on Tensors. Each call goes through the dispatcher to a kernel that
// is made from the op's one definition where it is first used: the body on SIMD packs, over whole
// tiles; operands are promoted and broadcast first, as in a graph.
#pragma once
#include "tt/backends/runtime.hpp"
#include "tt/dispatch/dispatcher.hpp"
#include "tt/graph/sym.hpp"

namespace tt {
namespace detail {

/// One op as a graph of its own, planned for the shapes at hand and run on tiles.
template <class Record>
Tensor run_one(const char* name, const Stack& in, int arguments, const Record& record) {
  if (in.size() != arguments)
    TT_THROW(Error(Text("tt::") << name << ": takes " << arguments << " Tensors, given are "
                                << in.size() << "."));
  for (const Tensor& t : in)
    if (!t.defined()) TT_THROW(Error(Text("tt::") << name << ": an undefined Tensor was given."));
  Graph g;
  int id[max_operands] = {};
  for (int k = 0; k < in.size(); ++k) id[k] = g.input(in[k].dtype(), in[k].shape());
  const int y = record(g, id);
  if (g.failure) {
    g.failure.op = name;
    TT_THROW(Error(describe(g.failure)));
  }
  g.output(y);
  Tensor out(g[y].dtype, g[y].shape);
  const backend::TileProgram program(compile_plan(g));
  void* external[max_operands + 1];
  for (int k = 0; k < in.size(); ++k) external[k] = const_cast<void*>(in[k].data());
  external[in.size()] = out.data();
  program.run(external, {});
  return out;
}

template <class F>
void elementwise_kernel(const OperatorEntry& op, Stack& stack) {
  Tensor out = run_one(op.name(), stack, F::info.arity, [](Graph& g, const int* id) {
    OperandIds operands;
    for (int k = 0; k < F::info.arity; ++k) operands.id[k] = id[k];
    return g.call(op_def<F>, operands);
  });
  stack.clear();
  stack.push_back(out);
}
template <Op K>
void primitive_kernel(const OperatorEntry& op, Stack& stack) {
  Tensor out = run_one(op.name(), stack, arity(K), [](Graph& g, const int* id) {
    OperandIds operands;
    for (int k = 0; k < arity(K); ++k) operands.id[k] = id[k];
    return g.elementwise(K, operands);
  });
  stack.clear();
  stack.push_back(out);
}

/// A number becomes a Tensor of the dtype that it has beside the others.
inline Tensor as_tensor(DType, const Tensor& t) { return t; }
template <class A>
  requires std::is_arithmetic_v<A>
Tensor as_tensor(DType beside, A value) {
  const DType literal = std::is_same_v<A, bool>        ? DType::boolean
                        : std::is_floating_point_v<A> ? DType::f64
                                                      : DType::i64;
  Tensor t(promote_literal(beside, literal), {});
  with_dtype(t.dtype(), [&]<class T>(T) { t.elements<T>()[0] = static_cast<T>(value); });
  return t;
}

template <class... A>
Tensor dispatch(const OperatorEntry& op, const A&... a) {
  DType beside = DType::boolean;
  const auto look = [&](const auto& x) {
    if constexpr (Value<decltype(x)>) beside = promote(beside, x.dtype());
  };
  (look(a), ...);
  Stack stack;
  (stack.push_back(as_tensor(beside, a)), ...);
  Dispatcher::get().call(op, stack);
  return stack[0];
}

}  // namespace detail

/// The operator of an op definition, with its CPU kernel registered.
template <class F>
OperatorEntry& operator_entry() {
  static OperatorEntry& entry = []() -> OperatorEntry& {
    OperatorEntry& e = []() -> OperatorEntry& {
      if constexpr (requires { typename F::tt_anonymous; }) {
        static OperatorEntry own(F::info.name);
        return own;
      } else {
        OperatorEntry& named = Dispatcher::get().find(F::info.name);
        named.claim(&op_def<F>);
        return named;
      }
    }();
    if (!e.kernel(DispatchKey::cpu)) e.set(DispatchKey::cpu, &detail::elementwise_kernel<F>);
    return e;
  }();
  return entry;
}
template <Op K>
OperatorEntry& operator_entry() {
  static OperatorEntry& entry = [&]() -> OperatorEntry& {
    OperatorEntry& e = Dispatcher::get().find(name(K));
    if (!e.kernel(DispatchKey::cpu)) e.set(DispatchKey::cpu, &detail::primitive_kernel<K>);
    return e;
  }();
  return entry;
}

struct TensorFront {
  static constexpr int rank = 3;
  static constexpr bool dynamic_axes = false;  // reductions of Tensors are not there yet

  template <class F, class... A>
  static Tensor call(SourceLine, const A&... a) {
    return detail::dispatch(operator_entry<F>(), a...);
  }
  template <Op K, class... A>
  static Tensor primitive(SourceLine, std::int64_t, const A&... a) {
    return detail::dispatch(operator_entry<K>(), a...);
  }
};

template <class A, class B>
concept TensorOperands =
    (std::same_as<std::remove_cvref_t<A>, Tensor> && (std::same_as<std::remove_cvref_t<B>, Tensor> ||
                                                      std::is_arithmetic_v<std::remove_cvref_t<B>>)) ||
    (std::is_arithmetic_v<std::remove_cvref_t<A>> && std::same_as<std::remove_cvref_t<B>, Tensor>);

template <class A, class B>
  requires TensorOperands<A, B>
Tensor operator+(const A& a, const B& b) { return TensorFront::primitive<Op::add>({}, 0, a, b); }
template <class A, class B>
  requires TensorOperands<A, B>
Tensor operator-(const A& a, const B& b) { return TensorFront::primitive<Op::sub>({}, 0, a, b); }
template <class A, class B>
  requires TensorOperands<A, B>
Tensor operator*(const A& a, const B& b) { return TensorFront::primitive<Op::mul>({}, 0, a, b); }
template <class A, class B>
  requires TensorOperands<A, B>
Tensor operator/(const A& a, const B& b) { return TensorFront::primitive<Op::div>({}, 0, a, b); }
inline Tensor operator-(const Tensor& a) { return TensorFront::primitive<Op::neg>({}, 0, a); }

}  // namespace tt
