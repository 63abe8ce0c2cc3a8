// The dispatcher: keys and who is asked first, kernels and backends from outside, Meta Tensors, calls by name,
// operators from ordinary functions, and what errors say.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tensors.hpp"
#include "tt/autograd/node.hpp"

namespace {

using tt::Call;
using tt::DispatchKey;
using tt::Dispatcher;
using tt::DType;
using tt::KeySet;
using tt::Tensor;

constexpr tt::Device npu{tt::DeviceType::private_use1, 0}, other_npu{tt::DeviceType::private_use2, 0};
constexpr tt::Device meta{tt::DeviceType::meta, 0};

std::string at(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }

/// Which kernels ran, in order.
std::vector<std::string>& ran() {
  static std::vector<std::string> list;
  return list;
}
/// Notes its context, then runs what is below.
void note_and_go_on(Call& c, void* context) {
  ran().emplace_back(static_cast<const char*>(context));
  Dispatcher::get().redispatch(c);
}
void note_and_stop(Call& c, void* context) {
  ran().emplace_back(static_cast<const char*>(context));
  c.result[0] = tt::tensor(static_cast<double>(c.arguments));
}
void* words(const char* text) { return const_cast<char*>(text); }

Tensor run(const tt::Operator& op, const Tensor& a) {
  const Tensor* argument[] = {&a};
  ran().clear();
  return tt::detail::call_operator(op, argument, 1, tt::no_attributes, tt::here());
}
using Ran = std::vector<std::string>;

}  // namespace

// ---- keys

TEST_CASE("key sets") {
  constexpr KeySet s = KeySet(DispatchKey::cpu) | DispatchKey::autograd | DispatchKey::meta;
  static_assert(s.highest() == DispatchKey::autograd);
  static_assert(s.below(DispatchKey::autograd).highest() == DispatchKey::meta);
  static_assert(s.below(DispatchKey::meta) == KeySet(DispatchKey::cpu));
  static_assert(s.without(s).empty());
  static_assert(s.without(DispatchKey::meta) == (KeySet(DispatchKey::cpu) | DispatchKey::autograd));
  static_assert(s.contains(DispatchKey::cpu) && !s.contains(DispatchKey::vmap));
  static_assert((s & tt::backend_keys) == (KeySet(DispatchKey::cpu) | DispatchKey::meta));
  CHECK(std::string(tt::name(DispatchKey::autocast)) == "Autocast");
  CHECK(std::string(tt::name(DispatchKey::private_use3)) == "PrivateUse3");
  CHECK(tt::zeros({1}).keys() == KeySet(DispatchKey::cpu));
  CHECK(tt::zeros({1}, {.device = npu}).keys() == KeySet(DispatchKey::private_use1));
  CHECK(tt::zeros({1}, {.requires_grad = true}).keys() == (KeySet(DispatchKey::cpu) | DispatchKey::autograd));
  CHECK(tt::zeros({1}, {.requires_grad = true}).detach().keys() == KeySet(DispatchKey::cpu));
}

TEST_CASE("the highest key is asked first, and each may go on to the next") {
  tt::Operator& op = Dispatcher::get().define("test_priorities");
  op.set_kernel(DispatchKey::cpu, &note_and_stop, words("cpu"));
  op.set_kernel(DispatchKey::vmap, &note_and_go_on, words("vmap"));
  op.set_kernel(DispatchKey::trace, &note_and_go_on, words("trace"));
  op.set_kernel(DispatchKey::autocast, &note_and_go_on, words("autocast"));
  const Tensor x = tt::zeros({2});
  const std::int64_t before = Dispatcher::dispatches();
  CHECK(run(op, x).item() == 1);
  CHECK(ran() == Ran{"cpu"});
  CHECK(Dispatcher::dispatches() == before + 1);
  {
    const tt::IncludeKeys more(KeySet(DispatchKey::trace) | DispatchKey::vmap);
    run(op, x);
    CHECK(ran() == Ran{"vmap", "trace", "cpu"});
    {
      const tt::IncludeKeys most(DispatchKey::autocast);
      const tt::ExcludeKeys less(DispatchKey::vmap);
      run(op, x);
      CHECK(ran() == Ran{"autocast", "trace", "cpu"});
    }
    op.set_fall_through(DispatchKey::vmap);
    run(op, x);
    CHECK(ran() == Ran{"trace", "cpu"});
    op.set_kernel(DispatchKey::vmap, &note_and_stop, words("vmap again"));
    run(op, x);
    CHECK(ran() == Ran{"vmap again"});
  }
  run(op, x);
  CHECK(ran() == Ran{"cpu"});
  CHECK(tt::DispatchState::of_this_thread().include.empty());
  CHECK(tt::DispatchState::of_this_thread().exclude.empty());
}

TEST_CASE("a backend without a kernel is said, no lower one is taken") {
  tt::Operator& op = Dispatcher::get().define("test_no_kernel");
  op.set_kernel(DispatchKey::cpu, &note_and_stop, words("cpu"));
  const Tensor x = tt::zeros({2, 3}, {.device = other_npu});
  CHECK(message<tt::Unavailable>([&] { run(op, x); })
            .starts_with("tt::test_no_kernel: has no kernel for these Tensors: f32 (2, 3) on private_use2.\n  at "));
  CHECK_THROWS_AS((void)(x + 1), tt::Unavailable);
  CHECK_THROWS_AS((void)tt::exp(x), tt::Unavailable);
  op.set_fall_through(DispatchKey::private_use2);  // now it is wanted: but there is no CPU key in the set
  CHECK_THROWS_AS(run(op, x), tt::Unavailable);
  const tt::IncludeKeys cpu(DispatchKey::cpu);
  run(op, x);
  CHECK(ran() == Ran{"cpu"});
}

TEST_CASE("a fallback serves every operator that has no kernel of its own") {
  tt::Operator& own = Dispatcher::get().define("test_own");
  tt::Operator& none = Dispatcher::get().define("test_none");
  own.set_kernel(DispatchKey::private_use3, &note_and_stop, words("own"));
  Dispatcher::get().set_fallback(DispatchKey::private_use3, &note_and_stop, words("fallback"));
  const Tensor x = tt::zeros({2}, {.device = {tt::DeviceType::private_use3, 0}});
  run(own, x);
  CHECK(ran() == Ran{"own"});
  run(none, x);
  CHECK(ran() == Ran{"fallback"});
  (void)(x + x);
  CHECK(ran() == Ran{"fallback", "fallback"});
  Dispatcher::get().set_fallback(DispatchKey::private_use3, nullptr);
  CHECK_THROWS_AS((void)(x + x), tt::Unavailable);
}

// ---- a backend from outside

namespace {

int npu_adds = 0, npu_fallbacks = 0;

Tensor to_device(const Tensor& t, tt::Device d) { return tt::empty(t.shape(), {t.dtype(), d}).copy_(t); }

Tensor npu_add(const Tensor& a, const Tensor& b) {
  ++npu_adds;
  return to_device(to_device(a, {}) + to_device(b, {}), npu);
}
/// What the NPU cannot do is done on the CPU.
void npu_fallback(Call& c, void*) {
  ++npu_fallbacks;
  Tensor moved[2];
  const Tensor* argument[2];
  REQUIRE(c.arguments <= 2);
  for (int k = 0; k < c.arguments; ++k) {
    moved[k] = tt::empty(c[k].shape(), {.dtype = c[k].dtype()});
    const int width = tt::size_of(c[k].dtype());
    for (std::int64_t i = 0; i < c[k].numel(); ++i) {
      std::int64_t from = 0, rest = i;
      for (int d = c[k].dim(); d-- > 0; rest /= c[k].size(d)) from += rest % c[k].size(d) * c[k].stride(d);
      std::memcpy(static_cast<char*>(moved[k].data()) + i * width, static_cast<const char*>(c[k].data()) + from * width,
                  static_cast<std::size_t>(width));
    }
    argument[k] = &moved[k];
  }
  Call on_cpu{c.op, argument, c.arguments, c.attributes, c.result, c.at, {}};
  Dispatcher::get().call(on_cpu);
  c.result[0].impl().device = npu;
  c.result[0].impl().keys = DispatchKey::private_use1;
}
struct FakeNpu {
  FakeNpu() {
    tt::register_all_ops();
    Dispatcher::get().set_fallback(DispatchKey::private_use1, &npu_fallback);
    tt::register_kernel("add", DispatchKey::private_use1, npu_add);
    npu_adds = npu_fallbacks = 0;
  }
  FakeNpu(const FakeNpu&) = delete;
  ~FakeNpu() {
    Dispatcher::get().set_fallback(DispatchKey::private_use1, nullptr);
    Dispatcher::get().find("add").set_kernel(DispatchKey::private_use1, nullptr);
  }
};

}  // namespace

TEST_CASE("a backend from outside has kernels of its own and the CPU for the rest") {
  const FakeNpu device;
  const Tensor x = tt::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  const Tensor y = to_device(x, npu);
  CHECK(y.device() == npu);
  npu_adds = npu_fallbacks = 0;
  const Tensor sum = y + y;
  CHECK(sum.device() == npu);
  CHECK(npu_adds == 1);
  CHECK(npu_fallbacks == 0);
  CHECK(numbers(to_device(sum, {})) == numbers(x + x));
  npu_adds = npu_fallbacks = 0;
  const Tensor z = tt::softmax(y.t() * 2, 0) + 1;  // a view and numbers too
  CHECK(z.device() == npu);
  CHECK(npu_adds == 1);
  CHECK(npu_fallbacks >= 2);
  CHECK(numbers(to_device(z, {})) == numbers(tt::softmax(x.t() * 2, 0) + 1));
  Tensor w = y.clone();
  CHECK(w.device() == npu);
  w.mul_(y);
  w.slice(1, 0, 1).fill_(0);
  CHECK(numbers(to_device(w, {})) == Numbers{0, 4, 9, 0, 25, 36});
}

TEST_CASE("the tape lies above every backend") {
  const FakeNpu device;
  const Tensor x = to_device(tt::tensor({1.0, 2.0}), npu).requires_grad_();
  const Tensor y = x + x;
  CHECK(y.requires_grad());
  CHECK(y.device() == npu);
  CHECK(npu_adds == 1);
}

// ---- Meta

TEST_CASE("Meta Tensors know what the real ones would be") {
  tt::register_all_ops();
  const Tensor a = tt::rand({4, 6}, 1), b = tt::rand({6, 3}, 2), row = tt::rand({6}, 3), i = tt::arange(4);
  const auto check = [](const char* what, const auto& f, const auto&... t) {
    CAPTURE(std::string(what));
    const Tensor real = f(t...), shaped = f(tt::empty(t.shape(), {t.dtype(), meta})...);
    CHECK(shaped.is_meta());
    CHECK(shaped.dtype() == real.dtype());
    CHECK(shaped.shape() == real.shape());
    CHECK(shaped.is_contiguous() == real.is_contiguous());
    for (int k = 0; k < real.dim(); ++k) CHECK(shaped.stride(k) == real.stride(k));
  };
  // every operator of one argument, and of two and three equal ones, by name
  int tried = 0;
  Dispatcher::get().each([&](const tt::Operator& op) {
    const std::string name = op.name();
    bool options = false;
    for (tt::detail::SchemaReader s{op.schema}; s.next();) options = options || !s.type.starts_with("Tensor");
    if (name.starts_with("test_") || options || !op.record) return;
    for (const Tensor& t : {a, a.to(DType::f64), a.to(DType::i32), i, a < 0.5}) {
      const auto call = [&](const Tensor& x) {
        return op.arguments == 1   ? tt::call(op.name(), {x})
               : op.arguments == 2 ? tt::call(op.name(), {x, x})
                                   : tt::call(op.name(), {x, x, x});
      };
      CAPTURE(name);
      if (message([&] { (void)call(t); }) == "no error") {
        ++tried;
        check(op.name(), call, t);
      } else {  // refused in the same words
        const Tensor shaped = tt::empty(t.shape(), {t.dtype(), meta});
        CHECK(message([&] { (void)call(t); }) == message([&] { (void)call(shaped); }));
      }
    }
  });
  CHECK(tried > 150);
  check("matmul", [](const Tensor& x, const Tensor& y) { return x.matmul(y); }, a, b);
  check("sum", [](const Tensor& x) { return x.sum(1, true); }, a);
  check("var", [](const Tensor& x) { return tt::var(x, 0); }, a);
  check("argmax", [](const Tensor& x) { return x.argmax(0); }, a);
  check("softmax", [](const Tensor& x) { return x.softmax(0); }, a);
  check("cross_entropy", [](const Tensor& x, const Tensor& y) { return tt::cross_entropy(x, y); }, a, i);
  check("views", [](const Tensor& x) { return x.t().slice(0, 1, 5, 2).unsqueeze(1).expand({2, 3, 4}).permute({2, 0, 1}); }, a);
  check("reshape that copies", [](const Tensor& x) { return x.t().reshape({8, 3}); }, a);
  check("select", [](const Tensor& x) { return x.select(1, 2); }, a);
  check("to", [](const Tensor& x) { return x.t().to(DType::i64); }, a);
  check("broadcast", [](const Tensor& x, const Tensor& y) { return (x + y) * 2.5 < 1; }, a, row);
  check("in place", [](Tensor x) { x.slice(0, 1, 3).mul_(2).add_(x.select(0, 0)); return x; }, a.clone());
  CHECK(message([&] { (void)(tt::empty({2, 3}, {.device = meta}) + tt::zeros({2}, {.device = meta})); })
            .starts_with("tt::add: shapes do not broadcast: (2, 3) and (2,)."));
  CHECK(message([&] { (void)(tt::empty({3}, {.device = meta}) + tt::zeros({3})); })
            .starts_with("tt::add: Tensors on different devices: meta and cpu."));
  CHECK((tt::empty({3}, {.device = meta}) + tt::tensor(2.0)).is_meta());
}

// ---- calls by name

TEST_CASE("calls by name take positional and named values") {
  tt::register_all_ops();
  const Tensor x = tt::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  using List = tt::IntList;
  CHECK(tt::call("sum", {x}).item() == 21);
  CHECK(numbers(tt::call("sum", {x, List{0}})) == Numbers{5, 7, 9});
  CHECK(numbers(tt::call("sum", {x, 0})) == Numbers{5, 7, 9});
  CHECK(numbers(tt::call("sum", {x}, {{"dim", 1}})) == Numbers{6, 15});
  CHECK(tt::call("sum", {x, List{1}, true}).shape() == tt::Shape{2, 1});
  CHECK(tt::call("sum", {x}, {{"keepdim", true}, {"dim", List{0, 1}}}).shape() == tt::Shape{1, 1});
  CHECK(numbers(tt::call("softmax", {x, 1})) == numbers(x.softmax(1)));
  CHECK(numbers(tt::call("add", {x, x})) == numbers(x + x));
  CHECK(numbers(tt::call("mul", {2, x})) == numbers(2 * x));
  CHECK(numbers(tt::call("where", {x < 3, x, 0.5})) == numbers(tt::where(x < 3, x, 0.5)));
  CHECK(numbers(tt::call("shift_left", {tt::arange(3)}, {{"n", 2}})) == Numbers{0, 4, 8});
  CHECK(numbers(tt::call("rand_like", {x, 5})) == numbers(tt::rand_like(x, 5)));
  CHECK(numbers(tt::call("permute", {x, List{1, 0}})) == numbers(x.t()));
  CHECK(numbers(tt::call("permute", {x, List{-1, 0}})) == numbers(x.t()));
  CHECK(tt::call("reshape", {x, List{3, 2}}).shares_storage(x));
  CHECK(numbers(tt::call("slice", {x, 1, 1, 3, 1})) == Numbers{2, 3, 5, 6});
  CHECK(numbers(tt::call("slice", {x, -1}, {{"start", 0}, {"end", 3}, {"step", 2}})) == Numbers{1, 3, 4, 6});
  CHECK(tt::call("expand", {x, List{2, 2, 3}}).shape() == tt::Shape{2, 2, 3});
  CHECK(tt::call("to", {x, DType::i32}).dtype() == DType::i32);
  CHECK(tt::call("to", {x}, {{"dtype", DType::f64}}).dtype() == DType::f64);
  CHECK(tt::call("to", {x, "cpu", DType::f64, false, true}).dtype() == DType::f64);
  CHECK(!tt::call("to", {x, "cpu"}, {{"copy", true}}).shares_storage(x));
  CHECK(tt::call("to", {x, "cpu"}).shares_storage(x));
  // PyTorch's and NumPy's other names of arguments
  CHECK(numbers(tt::call("sum", {}, {{"x", x}, {"axis", 1}, {"keepdims", true}})) == Numbers{6, 15});
  CHECK(numbers(tt::call("dot", {x[0]}, {{"tensor", x[1]}})) == Numbers{32});
  CHECK(numbers(tt::call("add", {}, {{"x1", x}, {"x2", 1}})) == numbers(x + 1));
  CHECK(numbers(tt::call("logdet", {}, {{"input", tt::eye(2)}})) == Numbers{0});
  CHECK(tt::call_results("tensor_split", {x}, {{"sections", 2}}).size() == 2);
  CHECK(tt::call_results("tensor_split", {x}, {{"indices", List{1}}, {"axis", 1}}).size() == 2);
  CHECK(numbers(tt::call("cholesky_solve", {}, {{"input", tt::ones({2, 1})}, {"input2", tt::eye(2)}})) == Numbers{1, 1});
  // promoted as by operators
  const Tensor one64 = tt::tensor(1.0, {.dtype = DType::f64}), yes = x < 9;
  CHECK(tt::call("add", {x, one64}).dtype() == (x + one64).dtype());
  CHECK(tt::call("where", {yes, yes, true}).dtype() == DType::boolean);
  CHECK(tt::call("mul", {tt::arange(3), 2.5}).dtype() == DType::f32);
}

TEST_CASE("calls by name say what is wrong, and where") {
  tt::register_all_ops();
  const Tensor x = tt::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  using List = tt::IntList;
  const std::string takes = ": takes (Tensor input, int[] dim=[], bool keepdim=False) or (Tensor input, int[]? dim=None, bool keepdim=False, dtype? dtype=None).";
  CHECK(message([] { tt::call("sum", {}); }) == "tt::call: sum: no value for input" + takes + at(__LINE__));
  CHECK(message([&] { tt::call("sum", {x, 0, true, 5}); }) == "tt::call: sum: too many arguments" + takes + at(__LINE__));
  CHECK(message([&] { tt::call("sum", {x, x}); }) == "tt::call: sum: a list of integers is expected for dim" + takes + at(__LINE__));
  CHECK(message([&] { tt::call("sum", {x, 0.5}); }).starts_with("tt::call: sum: a list of integers is expected for dim"));
  CHECK(message([&] { tt::call("sum", {x, 0, 0.5}); }).starts_with("tt::call: sum: true or false is expected for keepdim"));
  CHECK(message([&] { tt::call("sum", {x, 0}, {{"dim", 1}}); }).starts_with("tt::call: sum: two values for dim"));
  CHECK(message([&] { tt::call("sum", {x}, {{"dim", 1}, {"dim", 0}}); }).starts_with("tt::call: sum: two values for dim"));
  CHECK(message([&] { tt::call("sum", {x}, {{"along", 1}}); }) == "tt::call: sum: no argument is called along" + takes + at(__LINE__));
  CHECK(numbers(tt::call("leaky_relu", {x - 3})) == numbers(tt::leaky_relu(x - 3, 0.01)));
  CHECK(numbers(tt::call("leaky_relu", {x - 3}, {{"negative_slope", 0.5}})) == numbers(tt::leaky_relu(x - 3, 0.5)));
  CHECK(numbers(tt::call("elu", {x - 3})) == numbers(tt::elu(x - 3, 1.0)));
  CHECK(numbers(tt::call("clamp", {x}, {{"max", 3}, {"min", 2}})) == numbers(tt::clamp(x, 2, 3)));
  CHECK(numbers(tt::call("pow", {x}, {{"exponent", 2}})) == numbers(tt::pow(x, 2)));
  CHECK(numbers(tt::call("clamp", {x, 2})) == numbers(tt::clamp(x, 2, tt::none)));
  CHECK(message([&] { tt::call("clamp", {x}); }) == "tt::clamp: neither min nor max is given." + at(__LINE__));
  CHECK(message([&] { tt::call("add", {x, List{1}}); }) == "tt::call: add: a Tensor is expected for other: takes (Tensor input, Tensor other) or (Scalar input, Scalar other, Scalar alpha=1)." + at(__LINE__));
  CHECK(message([&] { tt::call("to", {x}); }).starts_with("tt::call: to: no value for dtype"));
  CHECK(message([&] { tt::call("to", {x, 77}); }).starts_with("tt::call: to: a dtype is expected for dtype"));
  CHECK(message([&] { tt::call("matmull", {x, x}); }).starts_with("tt::Dispatcher: no operator is called 'matmull'. Did you mean 'matmul'?"));
  CHECK(message([&] { tt::call("add", {x, Tensor()}); }) == "tt::add: argument other is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { tt::call("sum", {Tensor()}); }) == "tt::sum: argument input is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { tt::call("sum", {x, 2}); }) == "tt::sum: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { tt::call("add", {x, tt::zeros({2})}); }).starts_with("tt::add: shapes do not broadcast: (2, 3) and (2,)."));
  // views must not leave their elements
  CHECK(message([&] { tt::call("reshape", {x, List{7}}); }) == "tt::reshape: numbers of elements differ: (2, 3) and (7,)." + at(__LINE__));
  CHECK_THROWS_AS(tt::call("reshape", {x, List{-1, -1}}), tt::Error);
  CHECK_THROWS_AS(tt::call("permute", {x, List{0, 5}}), tt::Error);
  CHECK_THROWS_AS(tt::call("permute", {x, List{0}}), tt::Error);
  CHECK_THROWS_AS(tt::call("permute", {x, List{0, 1, 2}}), tt::Error);
  CHECK_THROWS_AS(tt::call("permute", {x, List{1, 1}}), tt::Error);
  CHECK_THROWS_AS(tt::call("expand", {x, List{4, 3}}), tt::Error);
  CHECK_THROWS_AS(tt::call("expand", {x, List{3}}), tt::Error);
  CHECK_THROWS_AS(tt::call("slice", {x, 9, 0, 1, 1}), tt::Error);
  CHECK(numbers(tt::call("slice", {x, 1, 0, 100, 1})) == numbers(x));  // as in PyTorch
  CHECK(tt::call("slice", {x, 1, -1, 1, 1}).numel() == 0);
  CHECK_THROWS_AS(tt::call("_slice", {x, 1, 0, 100, 1}), tt::Error);
  CHECK_THROWS_AS(tt::call("_slice", {x, 1, -1, 1, 1}), tt::Error);
  CHECK_THROWS_AS(tt::call("slice", {x, 1, 2, 2, -1}), tt::Error);
  CHECK(message([&] { tt::call("bitcast", {x, DType::f64}); }) == "tt::bitcast: dtype is not accepted: f32. Cast it first?" + at(__LINE__));
}

TEST_CASE("operators tell their schemas") {
  tt::register_all_ops();
  std::vector<std::string> found;
  std::string before;
  for (const tt::OpSchema& op : tt::ops()) {
    CHECK(before <= op.name);
    before = op.name;
    found.emplace_back(tt::Text() << op);
  }
  const auto is_there = [&](const char* schema) { return std::find(found.begin(), found.end(), schema) != found.end(); };
  CHECK(is_there("add(Tensor input, Tensor other) -> Tensor"));
  CHECK(is_there("leaky_relu(Tensor input, Scalar negative_slope=0.01) -> Tensor"));
  CHECK(is_there("pow(Tensor input, Tensor exponent) -> Tensor"));
  CHECK(is_there("where(Tensor condition, Tensor input, Tensor other) -> Tensor"));
  CHECK(is_there("cat(Tensor[] tensors, int dim=0) -> Tensor"));
  CHECK(is_there("stack(Tensor[] tensors, int dim=0) -> Tensor"));
  CHECK(is_there("sum(Tensor input, int[] dim=[], bool keepdim=False) -> Tensor"));
  CHECK(is_there("max(Tensor input, int dim, bool keepdim=False) -> (Tensor, Tensor)"));
  CHECK(is_there("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor"));
  CHECK(is_there("conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor"));
  CHECK(is_there("max_pool2d(Tensor input, int[2] kernel_size, int[2] stride=0, int[2] padding=0) -> Tensor"));
  CHECK(is_there("pad(Tensor input, int[] pad, float value=0) -> Tensor"));
  CHECK(is_there("gather(Tensor input, int dim, Tensor index, bool wrap=False) -> Tensor"));
  CHECK(is_there("cat(Tensor[] tensors, int dim=0) -> Tensor"));
}

// ---- operators from functions

namespace {

Tensor blend(const Tensor& a, const Tensor& b, double t) { return a * (1 - t) + b * t; }
Tensor everything(const Tensor& a, float scale, int n, bool negative, tt::IntList axes, DType d) {
  return (tt::sum(a, static_cast<int>(axes[0])) * static_cast<double>(scale) + n * (negative ? -1.0 : 1.0)).to(d);
}
Tensor npu_blend(const Tensor& a, const Tensor&, double) { return to_device(a, {}) * 1000; }
Tensor wrong_blend(const Tensor& a, const Tensor&, int) { return a; }
Tensor npu_gather(const Tensor& x, std::int64_t dim, const Tensor& index, bool wrap) {
  return to_device(to_device(x, {}).gather(static_cast<int>(dim), to_device(index, {})) + (wrap ? 1000 : 0), npu);
}
Tensor npu_layer_norm(const Tensor& x, tt::IntList sizes, const Tensor& weight, const Tensor& bias, double eps) {
  return tt::tensor({static_cast<double>(sizes.size()), weight.defined() ? 1.0 : 0.0, bias.defined() ? to_device(bias, {}).sum().item() : -1.0, eps, static_cast<double>(x.dim())});
}

}  // namespace

TEST_CASE("an ordinary function becomes an operator") {
  const auto op = tt::register_operator("test_blend", blend, "t");
  const Tensor x = tt::tensor({1.0, 2.0}), y = tt::tensor({3.0, 6.0});
  CHECK(std::string(op.op->schema) == "Tensor input, Tensor other, float t");
  CHECK(numbers(op(x, y, 0.5)) == Numbers{2, 4});
  CHECK(numbers(tt::call("test_blend", {x, y, 0.5})) == Numbers{2, 4});
  CHECK(numbers(tt::call("test_blend", {x, y}, {{"t", 1}})) == Numbers{3, 6});
  CHECK(message([&] { tt::call("test_blend", {x, y}); }).starts_with("tt::call: test_blend: no value for t: takes (Tensor input, Tensor other, float t)."));
  CHECK(message([&] { tt::call("test_blend", {x, y, x}); }).starts_with("tt::call: test_blend: a number is expected for t: takes (Tensor input, Tensor other, float t)."));
  CHECK(message([&] { op(x, Tensor(), 0.5); }) == "tt::test_blend: argument other is an undefined Tensor." + at(__LINE__));
  CHECK(op(tt::empty({2}, {.device = meta}), tt::empty({2}, {.device = meta}), 0.5).is_meta());
  tt::register_operator("test_blend", blend, "t");  // the same once more
  CHECK(message([] { tt::register_operator("test_blend", npu_blend); }).starts_with("tt: two ops are called 'test_blend'. Rename one of them."));
  CHECK_THROWS_AS(tt::register_operator("mul", blend), tt::Error);

  tt::register_operator("test_blend_by_default", blend, "t=2.5e-1");
  CHECK(numbers(tt::call("test_blend_by_default", {x, y})) == Numbers{1.5, 3});
  const auto all = tt::register_operator("test_everything", everything, "scale, n, negative");
  CHECK(std::string(all.op->schema) == "Tensor input, float scale, int n, bool negative, int[] argument4, dtype argument5");
  const Tensor m = tt::tensor({{1.0, 2.0}, {3.0, 4.0}});
  CHECK(numbers(all(m, 0.5f, 3, true, {1}, DType::f64)) == Numbers{-1.5, 0.5});
  CHECK(numbers(tt::call("test_everything", {m, 0.5, 3, true, tt::IntList{1}, DType::f64})) == Numbers{-1.5, 0.5});
}

TEST_CASE("a function of tt's ops has derivatives, and kernels for other backends") {
  const auto op = tt::register_operator("test_blend", blend, "t");
  Tensor x = tt::tensor({1.0, 2.0}, {.requires_grad = true});
  op(x, x * x, 0.25).sum().backward();
  CHECK(numbers(x.grad()) == Numbers{1.25, 1.75});
  tt::register_kernel("test_blend", DispatchKey::private_use1, npu_blend);
  CHECK(numbers(op(to_device(tt::tensor({1.0}), npu), to_device(tt::tensor({1.0}), npu), 0.5)) == Numbers{1000});
  CHECK(message([] { tt::register_kernel("test_blend", DispatchKey::cpu, wrong_blend); }) == "tt::register_kernel: test_blend: the function takes other arguments than the operator: (Tensor input, Tensor other, float t)." + at(__LINE__));
  CHECK_THROWS_AS(tt::register_kernel("test_blend", DispatchKey::cpu, npu_add), tt::Error);
}

TEST_CASE("kernels take arguments in the order of the schema, and Tensors that are left out as undefined ones") {
  tt::register_all_ops();
  tt::register_kernel("gather", DispatchKey::private_use1, npu_gather);
  const Tensor x = tt::tensor({{1.0, 2.0}, {3.0, 4.0}}), index = tt::tensor({{1}, {0}});
  CHECK(numbers(to_device(tt::gather(to_device(x, npu), 1, to_device(index, npu)), {})) == Numbers{2, 3});
  tt::register_kernel("layer_norm", DispatchKey::private_use1, npu_layer_norm);
  const Tensor on = to_device(x, npu), two = to_device(tt::tensor({1.0, 2.0}), npu);
  CHECK(numbers(tt::layer_norm(on, {2}, two, {}, 0.5)) == Numbers{1, 1, -1, 0.5, 2});
  CHECK(numbers(tt::layer_norm(on, {2}, {}, two, 0.5)) == Numbers{1, 0, 3, 0.5, 2});
  CHECK(numbers(tt::layer_norm(on, {2}, {}, {}, 0.5)) == Numbers{1, 0, -1, 0.5, 2});
}

TEST_CASE("an operator without a graph may have several results, defaults and a derivative of its own") {
  tt::Operator& op = Dispatcher::get().define("test_scale_and_rank");
  op.results = 2;
  op.set_schema("Tensor input, float by=3, bool up=True, int from=-1");
  op.set_kernel(DispatchKey::cpu, [](Call& c, void*) {
    const tt::ExcludeKeys below(DispatchKey::autograd);
    c.result[0] = c[0] * std::bit_cast<double>(c.attrs().value[0]) + static_cast<double>(c.attrs().value[2]);
    c.result[1] = (c[0] > 1).to(DType::i64) * c.attrs().value[1];
  });
  Tensor x = tt::tensor({1.0, 2.0}, {.requires_grad = true});
  CHECK(message([&] { tt::call_results("test_scale_and_rank", {x})[0].sum().backward(); }).starts_with("tt::test_scale_and_rank: the op has a kernel, and no derivative. Give its struct one?"));
  op.derivative = [](const tt::DerivativeStep& s) {
    CHECK(s.argument[0].is_meta());
    CHECK(s.argument[0].shape() == tt::Shape{2});
    CHECK(s.result[0].is_meta());
    CHECK(numbers(s.result[1]) == Numbers{0, 1});
    s.out[0] = s.gradient[0] * std::bit_cast<double>(s.attributes->value[0]);
  };
  const std::vector<Tensor> r = tt::call_results("test_scale_and_rank", {x});
  CHECK(numbers(r[0]) == Numbers{2, 5});
  CHECK(numbers(r[1]) == Numbers{0, 1});
  CHECK(r[0].requires_grad());
  CHECK(!r[1].requires_grad());
  CHECK(numbers(tt::grad({(r[0] * r[0]).sum()}, {x})[0]) == Numbers{12, 30});
  CHECK(numbers(tt::call_results("test_scale_and_rank", {x.detach(), 2, false}, {{"from", 4}})[0]) == Numbers{6, 8});
  CHECK(numbers(tt::call_results("test_scale_and_rank", {x.detach(), 2, false})[1]) == Numbers{0, 0});
}

TEST_CASE("two results of an operator may be one Tensor") {
  tt::Operator& op = Dispatcher::get().define("test_twice");
  op.results = 2;
  op.set_kernel(DispatchKey::cpu, [](Call& c, void*) {
    const tt::ExcludeKeys below(DispatchKey::autograd);
    c.result[1] = c.result[0] = c[0].clone();
  });
  op.derivative = [](const tt::DerivativeStep& s) { s.out[0] = s.gradient[1] * 2; };
  const Tensor x = tt::tensor({1.0, 2.0}, {.requires_grad = true});
  const std::int64_t nodes = tt::autograd::tape_node_count();
  std::vector<Tensor> r = tt::call_results("test_twice", {x});
  CHECK(tt::autograd::tape_node_count() == nodes + 1);
  CHECK(tt::autograd::edge_of(r[0]).node->uses == 1);
  CHECK(r[0].is_same(r[1]));
  CHECK(numbers(tt::grad({r[1].sum()}, {x})[0]) == Numbers{2, 2});
}

TEST_CASE("attributes hold any number of numbers") {
  tt::Attributes a;
  const tt::IntList eight = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int k = 0; k < 5; ++k) a.push(eight);
  CHECK(a.size() == 45);
  CHECK((a.list(36) == eight && tt::Attributes(a) == a));
}

// ---- wrong calls

TEST_CASE("wrong calls name op, facts and the caller's line") {
  const Tensor x = tt::zeros({2, 3}), y = tt::zeros({4, 5}), i = tt::arange(3), none;
  const Tensor b = x < 1;
  const std::string broadcast = "shapes do not broadcast: (2, 3) and (4, 5). Reshape one side, or insert an axis of extent 1?";
  CHECK(message([&] { (void)(x + y); }) == "tt::add: " + broadcast + at(__LINE__));
  CHECK(message([&] { (void)(x == y); }) == "tt::eq: " + broadcast + at(__LINE__));
  CHECK(message([&] { (void)tt::maximum(x, y); }) == "tt::maximum: " + broadcast + at(__LINE__));
  CHECK(message([&] { (void)tt::where(b, x, y); }) == "tt::where: " + broadcast + at(__LINE__));
  CHECK(message([&] { (void)x.matmul(y); }) == "tt::matmul: inner extents differ: 3 in (2, 3), 4 in (4, 5). Transpose one side?" + at(__LINE__));
  CHECK(message([&] { (void)tt::matmul(x, tt::tensor(1.0)); }).starts_with("tt::matmul: rank is too low: "));
  CHECK(message([&] { (void)x.sum(2); }) == "tt::sum: axis is out of range: 2 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { (void)x.sum({1, -3}); }) == "tt::sum: axis is out of range: -3 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { (void)x.amax({std::int64_t{1} << 32}); }).starts_with("tt::amax: axis is out of range: "));
  CHECK(message([&] { (void)tt::mean(x, {1, -1}); }) == "tt::mean: axis is given twice: -1 for shape (2, 3)." + at(__LINE__));
  CHECK(message([&] { (void)x.argmax(-3); }) == "tt::argmax: axis is out of range: -3 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { (void)x.softmax(5); }) == "tt::softmax: axis is out of range: 5 for shape (2, 3) of rank 2." + at(__LINE__));
  CHECK(message([&] { (void)tt::where(x, x, x); }) == "tt::where: condition is not bool: f32. Compare it with something?" + at(__LINE__));
  CHECK(message([&] { (void)(b - b); }) == "tt::sub: dtype is not accepted: bool. Cast it first?" + at(__LINE__));
  CHECK(message([&] { (void)(x - b); }) == "tt::sub: dtype is not accepted: bool. Cast it first?" + at(__LINE__));
  CHECK(message([&] { tt::call("bit_and", {x, x}); }).starts_with("tt::bit_and: dtype is not accepted: f32."));
  CHECK(message([&] { (void)tt::pow(x, y); }) == "tt::pow: " + broadcast + at(__LINE__));
  CHECK(message([&] { (void)tt::clamp(x, y, 1); }) == "tt::clamp: " + broadcast + at(__LINE__));
  CHECK(message([&] { (void)tt::exp(none); }) == "tt::exp: argument input is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { (void)tt::cross_entropy(x, x.sum({1})); }).starts_with("tt::cross_entropy: "));
  CHECK(message([&] { (void)(none + x); }) == "tt::add: argument input is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { (void)(x * none); }) == "tt::mul: argument other is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { (void)tt::where(b, 1, none); }) == "tt::where: argument other is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { (void)x.matmul(none); }).starts_with("tt::matmul: argument other is an undefined Tensor."));
  CHECK(message([&] { (void)none.sum(); }) == "tt::sum: argument input is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { (void)none.exp(); }) == "tt::exp: argument input is an undefined Tensor." + at(__LINE__));
  CHECK(message([&] { (void)none.shape(); }) == "tt: an undefined Tensor was used.");
  CHECK_THROWS_AS((void)none.t(), tt::Error);
  CHECK_FALSE(none.defined());
  CHECK(none.numel() == 0);
}

TEST_CASE_TEMPLATE("a transposed right side has the bits of one that is laid out", T, float, double, std::int32_t, std::int64_t) {
  const auto values = [](const tt::IntList& shape, int seed) { return (tt::randn(shape, seed) * 9).to(tt::dtype_of<T>); };
  for (const auto& [columns, inner] : {std::pair{521, 533}, std::pair{1033, 1031}, std::pair{70, 33}, std::pair{1040, 1024}}) {
    const Tensor w = values({columns, inner}, 1), laid_out = w.t().contiguous();
    for (const int rows : {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 40}) {
      CAPTURE(columns);
      CAPTURE(rows);
      const Tensor x = values({rows, inner}, rows + 2);
      CHECK(same_bits(tt::matmul(x, w.t()), tt::matmul(x, laid_out)));
    }
  }
}
