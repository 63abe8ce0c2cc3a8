// One op and one chain on every path, bit for bit: scalar, static SIMD, eager through the
// dispatcher, the tile interpreter, and emitted C compiled and loaded.
#include <doctest/doctest.h>
#include <tt/tt.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tt/dispatch/eager.hpp"
#include "tt/jit/native.hpp"

namespace {

constexpr int n = 1003;
using A = tt::Array<float, n>;

A values(unsigned seed) {
  A a;
  for (float& v : a) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(seed >> 8) / 400000.0f - 20.0f;
  }
  a(0) = 0.0f;
  a(1) = -0.0f;
  a(2) = 1e-42f;
  a(3) = __builtin_inff();
  a(4) = -__builtin_inff();
  a(5) = __builtin_nanf("");
  return a;
}

constexpr auto chain = [](auto x, auto y) { return tt::silu(x * y + 0.5) * 2 - x / (1 + y * y); };
constexpr auto one_op = [](auto x, auto) { return tt::silu(x); };

bool same_bits(const float* a, const float* b) {
  for (int i = 0; i < n; ++i)
    if (std::memcmp(a + i, b + i, 4) != 0 && !(a[i] != a[i] && b[i] != b[i])) return false;
  return true;
}

TT_KERNELS_BEGIN
template <class F>
TT_NOINLINE A scalar_path(F f, const A& x, const A& y) {
  A out;
  for (int i = 0; i < n; ++i) out(i) = f(tt::Num<float>(x(i)), tt::Num<float>(y(i))).value;
  return out;
}
TT_KERNELS_END

template <class F>
tt::Plan run_time_plan(F f) {
  tt::Graph g;
  const tt::Sym x{&g, g.input(tt::DType::f32, {n})}, y{&g, g.input(tt::DType::f32, {n})};
  g.output(f(x, y).id);
  return tt::compile_plan(g);
}

template <class F>
void check_every_path(F f) {
  const A x = values(1), y = values(2);
  const A scalar = scalar_path(f, x, y);

  const A fused = tt::fuse(f)(x, y);
  CHECK(same_bits(scalar.data(), fused.data()));
  CHECK(tt::kernels<A, A>(f) == 1);

  const std::int64_t before = tt::Dispatcher::dispatches();
  const tt::Tensor tx = tt::from_span<float>(x, {n}), ty = tt::from_span<float>(y, {n});
  const tt::Tensor eager = f(tx, ty);
  CHECK(tt::Dispatcher::dispatches() > before);
  CHECK(same_bits(scalar.data(), eager.elements<float>().data()));

  const tt::Plan plan = run_time_plan(f);
  void* in[] = {const_cast<float*>(x.data()), const_cast<float*>(y.data()), nullptr};
  A tiles, native;
  in[2] = tiles.data();
  tt::backend::TileProgram(plan).run(in, {});
  CHECK(same_bits(scalar.data(), tiles.data()));

  in[2] = native.data();
  tt::NativeProgram(plan, "chain").run(in, {});
  CHECK(same_bits(scalar.data(), native.data()));
}

}  // namespace

TEST_CASE("silu gives the same bits on five paths") { check_every_path(one_op); }
TEST_CASE("a chain of ops gives the same bits on five paths") { check_every_path(chain); }

TEST_CASE("emitted reductions, column sums and epilogues give the bits of the tile interpreter") {
  tt::Graph g;
  const tt::Sym x{&g, g.input(tt::DType::f32, {17, 59})}, w{&g, g.input(tt::DType::f32, {59, 17})};
  g.output(tt::softmax(x, 1).id);
  g.output(tt::sum(x * x, 0).id);
  g.output(tt::silu(tt::matmul(x, w) + 1).id);
  const tt::Sym row{&g, g.input(tt::DType::f32, {59})}, column{&g, g.input(tt::DType::f32, {17, 1})};
  g.output(tt::sum(x * row - column).id);
  const tt::Plan plan = tt::compile_plan(g);
  A in = values(3), other = values(4);
  for (int i = 0; i < 6; ++i) in(i) = other(i) = 1.5f;  // no NaN here
  const A third = values(5), fourth = values(6);
  float tiles[4][n] = {}, native[4][n] = {};
  void* const r = const_cast<float*>(third.data() + 6);
  void* const c = const_cast<float*>(fourth.data() + 6);
  void* a[] = {in.data(), other.data(), r, c, tiles[0], tiles[1], tiles[2], tiles[3]};
  void* b[] = {in.data(), other.data(), r, c, native[0], native[1], native[2], native[3]};
  tt::backend::TileProgram(plan).run(a, {});
  tt::NativeProgram(plan, "mixed").run(b, {});
  for (int k = 0; k < 4; ++k) CHECK(same_bits(tiles[k], native[k]));
  CHECK(tiles[1][58] > 0);
  CHECK(std::isfinite(tiles[3][0]));
}

TEST_CASE("an op can be called by its name") {
  const tt::Tensor x = tt::tensor({1.0, 2.0, 3.0});
  const tt::Tensor a = tt::silu(x), b = tt::call("silu", {x});
  CHECK(std::memcmp(a.data(), b.data(), 12) == 0);
  CHECK_THROWS_WITH_AS(tt::call("sillu", {x}),
                       "tt::Dispatcher: no operator is called 'sillu'. Did you mean 'silu'?",
                       tt::Error);
  for (int k = 0; k < 2; ++k)  // asking does not make one
    CHECK_THROWS_WITH_AS(tt::call("no_such_op", {x}),
                         "tt::Dispatcher: no operator is called 'no_such_op'. Define it, or call "
                         "tt::register_all_ops(), of <tt/dispatch/all_ops.hpp>, if it is one of the library?",
                         tt::Error);
  tt::Dispatcher::get().define("without_kernels");
  CHECK_THROWS_AS(tt::call("without_kernels", {x}), tt::Unavailable);
}

TEST_CASE("a Tensor that no memory holds is refused in words") {
  CHECK_THROWS_WITH_AS((tt::Tensor(tt::DType::i64, {1LL << 32, 1LL << 32})),
                       "tt::Tensor: not enough memory: i64 (4294967296, 4294967296) takes more than "
                       "2^58 bytes. Use a smaller shape?",
                       tt::Error);
}

TEST_CASE("an operator's name is kept, and threads that define it get the same one") {
  char name[] = "short_lived";
  tt::Operator& entry = tt::Dispatcher::get().define(name);
  name[0] = 'X';
  CHECK(&tt::Dispatcher::get().find("short_lived") == &entry);
  for (int round = 0; round < 50; ++round) {
    const std::string own = "raced_" + std::to_string(round);
    tt::Operator* got[4] = {};
    std::vector<std::thread> threads;
    for (tt::Operator*& g : got)
      threads.emplace_back([&] { g = &tt::Dispatcher::get().define(own.c_str()); });
    for (std::thread& t : threads) t.join();
    for (tt::Operator* g : got) CHECK(g == got[0]);
  }
}

TEST_CASE("a kernel for another backend can be registered from outside") {
  static int calls = 0;
  tt::Operator& silu = tt::operator_entry<tt::Silu>();
  silu.set_kernel(tt::DispatchKey::private_use1, [](tt::Call& c, void*) {
    ++calls;
    c.result[0] = tt::tensor({42.0});
  });
  const tt::Tensor x(tt::DType::f32, {3}, {tt::DeviceType::private_use1, 0});
  CHECK(tt::silu(x).elements<float>()[0] == 42);
  CHECK(calls == 1);
}

TEST_CASE("emitted text is readable C that includes nothing") {
  const tt::Text text = tt::emit_c(run_time_plan(one_op), "silu");
  CHECK(text.contains("void silu_0(void *const *p, const i64 *s, const i64 *r) {"));
  CHECK(text.contains("= exp_f32("));
  CHECK_FALSE(text.contains("#include"));
}

TEST_CASE("without a compiler the message says so") {
  setenv("CC", "/no/such/compiler", 1);
  CHECK_THROWS_AS(tt::NativeProgram(run_time_plan(one_op), "silu"), tt::Unavailable);
  unsetenv("CC");
}
