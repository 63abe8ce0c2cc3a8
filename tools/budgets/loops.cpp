// What tools/check_budgets.sh takes apart: three loops, each written by hand and fused by tt. The program
// prints, for each function and for the training step of the digits, the kernels that tt::kernels
// promises, the functions they are made of, and how often exp or a like function is evaluated in them.
#include <cstdio>

#include "../../bench/peers/hand.hpp"
#include "../../bench/step.hpp"

namespace loops {

constexpr int n = 4096;
using V = tt::Array<float, n>;

struct FusedTanh {
  constexpr void operator()(auto a, auto b, auto c, auto& y) const { y = tt::tanh(a * b + c); }
};
struct FusedSum {
  constexpr auto operator()(auto a, auto b, auto c) const { return tt::sum(a * b + c); }
};
constexpr auto gate = [](auto x, auto w, auto b) {
  const auto u = w * x + b;
  return u * tt::sigmoid(u);
};
constexpr auto gate_sum = [](auto x, auto w, auto b) { return tt::sum(gate(x, w, b)); };
struct FusedGate {
  constexpr void operator()(auto x, auto w, auto b, auto& y, auto& dx, auto& dw, auto& db) const {
    y = gate(x, w, b);
    const auto [gx, gw, gb] = tt::grad<0, 1, 2>(gate_sum)(x, w, b);
    dx = gx;
    dw = gw;
    db = gb;
  }
};
/// Prints what is promised: kernels, their functions, and the evaluations of exp and its like in an element.
template <class... A, class F>
void promise(const char* name, F f) {
  using H = tt::Compiled<typename tt::Fused<F>::template ProgramFor<A...>>;
  int functions = 0, calls = 0;
  for (int k = 0; k < H::plan.kernels.size(); ++k) functions += H::plan.kernels[k].code == k;
  for (int i = 0; i < H::plan.instructions.size(); ++i) calls += H::plan.instructions[i].op == tt::Op::call;
  std::printf("%s %d %d %d\n", name, tt::kernels<A...>(f), functions, calls);
}

V a, b, c, y, da, db, dc;
bench::Model model, velocity;
bench::Images images;
bench::Labels labels;

}  // namespace loops

using namespace loops;

// Names that a disassembly can be searched for; each holds the calls of its kernels.
TT_NOINLINE void call_tanh() { tt::fuse(FusedTanh{})(a, b, c, y); }
TT_NOINLINE float call_sum() { return tt::fuse(FusedSum{})(a, b, c).item(); }
TT_NOINLINE void call_gate() { tt::fuse(FusedGate{})(a, b, c, y, da, db, dc); }
TT_NOINLINE float call_step() { return tt::fuse(bench::Step{})(model, velocity, images, labels, 0.1f).item(); }

int main() {
  peers::hand::tanh_of_sum(a.data(), b.data(), c.data(), y.data(), n);
  peers::hand::gate(a.data(), b.data(), c.data(), y.data(), da.data(), db.data(), dc.data(), n);
  float seen = peers::hand::sum_of_products(a.data(), b.data(), c.data(), n);
  call_tanh();
  call_gate();
  seen += call_sum() + call_step();
  promise<V, V, V, V>("tanh", FusedTanh{});
  promise<V, V, V>("sum", FusedSum{});
  promise<V, V, V, V, V, V, V>("gate", FusedGate{});
  promise<bench::Model, bench::Model, bench::Images, bench::Labels, float>("step", bench::Step{});
  return seen != seen;
}
