// Definitions of eager.hpp: kernels for every operator that can be recorded, and calls.
#pragma once
#include "tt/dispatch/direct_call_inl.hpp"
#include "tt/dispatch/eager.hpp"
#include "tt/dispatch/memory_order.hpp"

namespace tt {

TT_INLINE const char* get_cpu_capability() { return backend::tile_kernels().isa; }

}  // namespace tt

namespace tt::detail {

// ---- kernels for every operator that can be recorded

// Elementwise results get the memory order of their operands (memory_order.hpp). `moved`, the kernel's context: not null if axes are in that order.

/// Runs the op's program on the device of the arguments.
inline void plan_kernel(Call& c, void* moved) {
  if (c.op->external)
    TT_THROW(Unavailable(Text("tt::") << c.op->name() << ": has no kernel for Tensors on " << tt::name(c[0].device().type) << ". Move them to the CPU?" << c.at));
  if (!moved && run_in_order(c, &plan_kernel)) return;
  const BoundFunction f = bind_function(c);
  f.function->run(c.argument, f.symbols, c.result);
}
inline void cpu_kernel(Call& c, void* moved) {
  if (!moved && run_in_order(c, &cpu_kernel)) return;
  if (!try_direct(c)) plan_kernel(c, &c);
}
/// Shapes and dtypes only.
inline void meta_kernel(Call& c, void* moved) {
  if (!moved && run_in_order(c, &meta_kernel)) return;
  const BoundFunction f = bind_function(c);
  for (int k = 0; k < f.function->outputs(); ++k)
    c.result[k] = Tensor(f.function->graph()[f.function->graph().outputs[k]].dtype,
                         f.function->output_shape(k, f.symbols), {DeviceType::meta, 0});
}

TT_INLINE void leave_hidden_base(Call& c, int result) {
  TensorImpl& t = c.result[result].impl();
  std::int64_t views = 0;
  for (int k = 0; k < c.op->results; ++k) views += c.result[k].defined() && c.result[k].impl().base == t.base;
  if (t.base->uses.load(std::memory_order_relaxed) != views) return;  // the base of an argument
  t.leave_base();
  t.is_view = false;
}
TT_INLINE void call_on_meta(const Call& c, OpKernel kernel) {
  Vec<Tensor> alike;
  Vec<const Tensor*> operands;
  for (int k = 0; k < c.arguments; ++k) alike.push_back(c[k].dim() > 0 || !is_host(c[k].device()) ? c[k] : Tensor(c[k].dtype(), Shape{}, {DeviceType::meta, 0}));
  for (int k = 0; k < c.arguments; ++k) operands.push_back(&alike[k]);
  Call own = c;
  own.argument = operands.begin();
  kernel(own, nullptr);
}
TT_INLINE void register_kernels() {
  static const bool done = [] {
    Dispatcher& d = Dispatcher::get();  // a program may have set its own before
    if (!d.has_fallback(DispatchKey::cpu)) d.set_fallback(DispatchKey::cpu, &cpu_kernel);
    if (!d.has_fallback(DispatchKey::cuda)) d.set_fallback(DispatchKey::cuda, &plan_kernel);
    if (!d.has_fallback(DispatchKey::meta)) d.set_fallback(DispatchKey::meta, &meta_kernel);
    return true;
  }();
  (void)done;
}

/// The operands' nodes; single values beside narrow ones are taken as numbers, see Graph::take_numbers.
inline SmallVec<int, 4> with_numbers(Graph& g, std::span<const int> in) {
  SmallVec<int, 4> ids(static_cast<int>(in.size()));
  for (int k = 0; k < ids.size(); ++k) ids[k] = in[static_cast<std::size_t>(k)];
  g.take_numbers(ids.data(), ids.size());
  return ids;
}
TT_INLINE void record_primitive(Graph& g, const Operator& op, std::span<const int> in, const Attributes& a, int* out) {
  const SmallVec<int, 4> ids = with_numbers(g, in);
  out[0] = g.elementwise(op.primitive, {ids.data(), ids.size()}, a.size() > 0 ? a.value[0] : 0);
}
TT_INLINE void record_call_of(Graph& g, const Operator& op, std::span<const int> in, const Attributes&, int* out) {
  const SmallVec<int, 4> ids = with_numbers(g, in);
  out[0] = g.call(*op.body, {ids.data(), ids.size()});
}

/// Of an op in place, which gives its target.
inline bool is_argument(const Tensor& result, const Tensor* const* argument, int count) {
  bool any = false;
  for (int k = 0; k < count; ++k) any = any || result.is_same(*argument[k]);
  return any;
}
TT_INLINE Tensor call_operator(const Operator& op, const Tensor* const* argument, int count, const Attributes& attributes,
                            SourceLine at, const Tensor* into) {
  register_kernels();
  Tensor result;
  Call c{&op, argument, count, &attributes, &result, at, {}, into};
  Dispatcher::get().call(c);
  if (into && result.is_same(*into)) return result;
  const DispatchState& state = DispatchState::of_this_thread();
  if (state.inference && !op.is_view && !is_argument(result, argument, count)) result.impl().inference = true;
  if (state.capture && result.impl().trace_id < 0) {  // made only of Tensors made in the capture: so is the result
    bool own = true;
    for (int k = 0; k < count; ++k) own = own && (argument[k]->impl().is_number || argument[k]->impl().capture == state.capture);
    if (own) stamp(result);
  }
  return result;
}

TT_INLINE void call_operator_into(const Operator& op, const Tensor* const* argument, int count, const Attributes& attributes,
                                  SourceLine at, Tensor* result) {
  register_kernels();
  Call c{&op, argument, count, &attributes, result, at, {}};
  Dispatcher::get().call(c);
  if (!DispatchState::of_this_thread().inference || op.is_view) return;
  for (int k = 0; k < op.results; ++k)
    if (!is_argument(result[k], argument, count)) result[k].impl().inference = true;
}

TT_INLINE DType result_dtype(const Tensor* const* t, int count) {
  DType with_axes = DType::boolean, single = DType::boolean;
  for (int k = 0; k < count; ++k) {
    DType& d = t[k]->impl().shape.rank > 0 ? with_axes : single;
    d = promote(d, t[k]->impl().dtype);
  }
  return combined_dtype(with_axes, single);
}
TT_INLINE Tensor call_elementwise(const Operator& op, const TensorOperand* operand, int count, const Attributes& attributes,
                               SourceLine at, const Tensor* into) {
  if (InPlace* const method = DispatchState::of_this_thread().in_place) [[unlikely]] return method->write(*method, op, operand, count, attributes);
  SmallVec<const Tensor*, 4> argument(count);
  SmallVec<Tensor, 4> made(count);
  const int first = op.primitive == Op::where ? 1 : 0;  // a condition is not promoted
  bool plain = true;
  for (int k = 0; k < count; ++k) {
    argument[k] = operand[k].tensor;
    if (argument[k] && !argument[k]->defined()) Dispatcher::undefined(op, k, at);
    plain = plain && argument[k] && (k < first || argument[k]->impl().dtype == operand[first].tensor->impl().dtype);
  }
  if (!plain) {
    SmallVec<const Tensor*, 4> known = argument;  // then, in front, only those that are Tensors: of an empty list g++ 12 warns at -O3 that it is read uninitialised
    int n = 0;
    for (int k = first; k < count; ++k)
      if (argument[k]) known[n++] = argument[k];
    const DType d = result_dtype(known.data(), n);
    const bool computes_narrow = is_narrow(d) && first == 0;  // where() computes nothing
    bool axes = false;
    for (int k = 0; computes_narrow && k < n; ++k) axes = axes || known[k]->impl().shape.rank > 0;
    if (computes_narrow && !axes && n < count) {  // rank 0 beside numbers, which are not rounded: as if with an axis
      SmallVec<TensorOperand, 4> with_axis(count);
      for (int k = 0; k < count; ++k) {
        with_axis[k] = operand[k];
        if (argument[k]) made[k] = argument[k]->reshape({1}, at), with_axis[k].tensor = &made[k];
      }
      return call_elementwise(op, with_axis.data(), count, attributes, at).reshape({}, at);
    }
    const DType number = axes ? compute_dtype(d) : d, single = is_floating(d) ? number : d;  // see Graph::take_numbers; rank-0 integers wrap around,
    const bool wraps = !is_integral(d) || !(op.primitive == Op::div || (op.body && op.body->info.domain == Domain::real && !op.body->has_integer_form));  // except where all become f32
    if (op.body && op.body->has_integer_form && !argument[1] && is_integral(d) && operand[1].literal == DType::i64 && operand[1].integer < 0 && operand[1].fits)
      TT_THROW(Error(describe({.mistake = Mistake::negative_power, .op = op.name(), .number = operand[1].integer, .where = at})));
    for (int k = 0; k < count; ++k) {
      const TensorImpl* const t = argument[k] ? &argument[k]->impl() : nullptr;
      if (!t) made[k] = operand[k].number(number);
      else if (wraps && k >= first && t->shape.rank == 0 && t->dtype != d && t->dtype != single && t->dtype != DType::boolean && n > 1) made[k] = convert(*argument[k], single, at);
      else continue;
      argument[k] = &made[k];
    }
  }
  return call_operator(op, argument.data(), count, attributes, at, into);
}

TT_INLINE void record_cast(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.cast(in[0], static_cast<DType>(a.value[0]));
}
TT_INLINE void record_bitcast(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out) {
  out[0] = g.elementwise(Op::bitcast, {in[0]}, 0, static_cast<DType>(a.value[0]));
}
TT_INLINE void record_copy(Graph& g, const Operator&, std::span<const int> in, const Attributes&, int* out) {
  out[0] = g.elementwise(Op::copy, {in[0]});
}
TT_INLINE Tensor call_unary(const Operator& op, const Tensor& t, const Attributes& attributes, SourceLine at) {
  const Tensor* argument[] = {&t};
  return call_operator(op, argument, 1, attributes, at);
}

}  // namespace tt::detail
