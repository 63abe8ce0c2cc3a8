// A plan as the type of a kernel: nvcc accepts neither the type of a lambda nor a class value in a kernel's template arguments, but it
// accepts a list of integers whose type is deduced from a value. Host code encodes the plan into such a list; device code decodes it in a
// constant expression.
//   auto codes = plan_codes<Compiled<P>>();   decltype(codes)::plan   // equal to Compiled<P>::plan
#pragma once
#include <cstdint>
#include <utility>

#include "tt/plan/fixed.hpp"

namespace tt::cuda {

namespace detail {

/// Writes integers, or only counts them.
struct CodeWriter {
  std::uint64_t* out = nullptr;
  int size = 0;
  constexpr void operator()(std::int64_t v) {
    if (out) out[size] = static_cast<std::uint64_t>(v);
    ++size;
  }
};
struct CodeReader {
  const std::uint64_t* in;
  constexpr std::int64_t operator()() { return static_cast<std::int64_t>(*in++); }
};

/// Applies f to every field that kernels read, in one order for writing and reading.
template <class K, class F>
constexpr void each_field(K& k, const F& f) requires requires { k.sweeps; } {
  f(k.kind), f(k.rows.code), f(k.cols.code), f(k.inner.code), f(k.row_order), f(k.sweeps);
  for (int i = 0; i < 2 * k.sweeps + 2; ++i) f(k.segment[i]);
  for (auto& r : k.registers) f(r);
  f(k.batch.code), f(k.dtype), f(k.a), f(k.b), f(k.windows), f(k.a_row.code), f(k.a_inner.code), f(k.b_inner.code), f(k.b_column.code);
  f(k.first_binding), f(k.bindings), f(k.code);
}
template <class A, class F>
constexpr void each_field(A& a, const F& f) requires requires { a.term_count; } {
  f(a.buffer), f(a.offset.code), f(a.column.code), f(a.first_term), f(a.term_count), f(a.column_terms), f(a.tiled);
}
template <class T, class F>
constexpr void each_field(T& t, const F& f) requires requires { t.divisor; } {
  f(t.divisor.code), f(t.modulus.code), f(t.stride.code);
}
template <class I, class F>
constexpr void each_field(I& x, const F& f) requires requires { x.from; } {
  f(x.op), f(x.dtype), f(x.from), f(x.result), f(x.a), f(x.b), f(x.c), f(x.attribute), f(x.access), f(x.bits);
}
template <class B, class F>
constexpr void each_field(B& b, const F& f) requires requires { b.external; } {
  f(b.dtype), f(b.size.code), f(b.external), f(b.offset), f(b.first), f(b.last), f(b.scratch);
}

template <class AnyPlan>
constexpr int write_codes(const AnyPlan& plan, std::uint64_t* out) {
  CodeWriter write{out};
  const auto field = [&](const auto& v) { write(static_cast<std::int64_t>(v)); };
  const auto list = [&](const auto& l) {
    for (int i = 0; i < l.size(); ++i) each_field(l[i], field);
  };
  write(plan.kernels.size()), write(plan.instructions.size()), write(plan.accesses.size()), write(plan.terms.size()), write(plan.buffers.size()), write(plan.bindings.size());
  list(plan.kernels), list(plan.instructions), list(plan.accesses), list(plan.terms), list(plan.buffers);
  for (int i = 0; i < plan.bindings.size(); ++i) write(plan.bindings[i]);
  write(plan.arena), write(plan.externals);
  return write.size;
}

template <int Kernels, int Instructions, int AccessCount, int Terms, int Buffers, int Bindings>
constexpr auto read_codes(const std::uint64_t* in) {
  FixedPlan<Kernels, Instructions, AccessCount, Terms, Buffers, Bindings> plan{};
  CodeReader read{in + 6};
  const auto field = [&](auto& v) { v = static_cast<std::remove_reference_t<decltype(v)>>(read()); };
  const auto list = [&](auto& l) {
    for (int i = 0; i < l.size(); ++i) each_field(l[i], field);
  };
  list(plan.kernels), list(plan.instructions), list(plan.accesses), list(plan.terms), list(plan.buffers);
  for (int i = 0; i < Bindings; ++i) plan.bindings[i] = static_cast<int>(read());
  plan.arena = read();
  plan.externals = static_cast<int>(read());
  for (Buffer& b : plan.buffers.item)
    if (b.scratch) b.first = -1;  // needs no place in the arena: threads and teams have their own
  return plan;
}

template <class H>
struct CodeList {
  static constexpr int size = write_codes(H::plan, nullptr);
  struct Values {
    std::uint64_t value[size > 0 ? size : 1];
  };
  static constexpr Values make() {
    Values v{};
    write_codes(H::plan, v.value);
    return v;
  }
  static constexpr Values values = make();
};

}  // namespace detail

template <std::uint64_t Kernels, std::uint64_t Instructions, std::uint64_t AccessCount, std::uint64_t Terms, std::uint64_t Buffers,
          std::uint64_t Bindings, std::uint64_t... Rest>
struct PlanCodes {
  static constexpr std::uint64_t code[] = {Kernels, Instructions, AccessCount, Terms, Buffers, Bindings, Rest...};
  static constexpr auto plan = detail::read_codes<static_cast<int>(Kernels), static_cast<int>(Instructions), static_cast<int>(AccessCount),
                                                  static_cast<int>(Terms), static_cast<int>(Buffers), static_cast<int>(Bindings)>(code);
};

namespace detail {
template <class H, std::size_t... I>
constexpr auto make_codes(std::index_sequence<I...>) {
  return PlanCodes<CodeList<H>::values.value[I]...>{};
}
}  // namespace detail

/// H::plan as a value whose type contains it.
template <class H>
constexpr auto plan_codes() {
  return detail::make_codes<H>(std::make_index_sequence<static_cast<std::size_t>(detail::CodeList<H>::size)>{});
}

}  // namespace tt::cuda
