// Devices that a program registers by name: their keys, what errors say, kernels of every backend, and the CPU for the rest.
// A chip with memory and programs of its own is examples/new_backend.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tensors.hpp"
#include "tt/dispatch/device_fallback.hpp"

namespace {

using tt::Call;
using tt::DispatchKey;
using tt::Dispatcher;
using tt::KeySet;
using tt::Tensor;

/// Which kernels ran.
using Ran = std::vector<std::string>;
Ran& ran() {
  static Ran list;
  return list;
}
void note_and_stop(Call& c, void* context) {
  ran().emplace_back(static_cast<const char*>(context));
  c.result[0] = tt::tensor(1.0);
}
void* words(const char* text) { return const_cast<char*>(text); }
void run(const tt::Operator& op, const Tensor& a) {
  const Tensor* argument[] = {&a};
  ran().clear();
  tt::detail::call_operator(op, argument, 1, tt::no_attributes, tt::here());
}

}  // namespace

TEST_CASE("a device that is registered has its name everywhere, and a key of its own") {
  const tt::Device one = tt::register_device("test_one"), two = tt::register_device("test_two");
  CHECK(static_cast<int>(one.type) == tt::named_devices);
  CHECK(tt::backend_key(one) != tt::backend_key(two));
  CHECK(tt::backend_keys.contains(tt::backend_key(two)));
  CHECK_FALSE(tt::backend_keys.contains(DispatchKey::autograd));
  CHECK(tt::Device("test_one") == one);
  CHECK(tt::Device("test_two:12") == tt::Device(two.type, 12));
  CHECK(tt::Device("cuda:1") == tt::Device(tt::DeviceType::cuda, 1));
  CHECK(std::string(tt::to_text(two).begin(), 10) == "test_two:0");
  CHECK(std::string(tt::name(tt::backend_key(one))) == "test_one");
  for (const char* wrong : {"test", "test_one:", "test_one:x", "test_one:-1", "test_one:1000", "", "unknown"})
    CHECK(message<tt::Error>([&] { (void)tt::Device(wrong); }) ==
          "tt::Device: there is no device '" + std::string(wrong) +
              "'; there are cpu cuda meta private_use1 private_use2 private_use3 test_one test_two. Register it first?");
  CHECK(message<tt::Error>([] { tt::register_device("test_one"); }) == "tt::register_device: there is a device 'test_one' already.");
  CHECK(message<tt::Error>([] { tt::register_device("cuda"); }) == "tt::register_device: there is a device 'cuda' already.");
  CHECK(message<tt::Error>([] { tt::register_device("one:1"); }) == "tt::register_device: 'one:1' is no name for a device. Use a-z, 0-9 and _?");

  const Tensor x = tt::ones({2, 3}, {.device = "test_one"}), y = tt::ones({2, 3}, {.device = two});
  CHECK(x.keys() == KeySet(tt::backend_key(one)));
  CHECK(x.t().device() == one);  // views are every backend's
  CHECK(message<tt::Unavailable>([&] { (void)tt::exp(x); }).starts_with("tt::exp: has no kernel for these Tensors: f32 (2, 3) on test_one."));
  CHECK(message<tt::Unavailable>([&] { (void)(x + y); }).starts_with("tt::add: has no kernel for these Tensors: f32 (2, 3) on test_one, f32 (2, 3) on test_two."));

  tt::Operator& op = Dispatcher::get().define("test_registered");
  CHECK_THROWS_AS(run(op, x), tt::Unavailable);
  op.set_backend_kernel(&note_and_stop, words("every"));
  run(op, x);
  CHECK(ran() == Ran{"every"});
  op.set_kernel(tt::backend_key(one), &note_and_stop, words("one"));
  run(op, x);
  CHECK(ran() == Ran{"one"});
  run(op, y);
  CHECK(ran() == Ran{"every"});
  run(op, tt::zeros({1}));
  CHECK(ran() == Ran{"every"});
  op.set_fall_through(tt::backend_key(one));
  CHECK_THROWS_AS(run(op, x), tt::Unavailable);
  Dispatcher::get().set_fallback(tt::backend_key(two), &note_and_stop, words("fallback"));
  run(Dispatcher::get().define("test_registered_none"), y);
  CHECK(ran() == Ran{"fallback"});
  Dispatcher::get().set_fallback(tt::backend_key(two), nullptr);
}

TEST_CASE("what a device has nothing for runs on the CPU, and is counted by name") {
  tt::register_all_ops();
  const tt::Device device = tt::register_device("test_left");
  const Tensor x = tt::tensor({{1.0, -2.0, 3.0}, {4.0, 5.0, 6.0}});
  Tensor y = x.to(device);
  CHECK_THROWS_AS((void)tt::exp(y), tt::Unavailable);
  tt::set_cpu_fallback(device);
  CHECK(tt::cpu_fallback_calls(device) == 0);
  const Tensor e = tt::exp(y.t().slice(0, 1, 3) * 2);  // a view, and a number
  CHECK(e.device() == device);
  CHECK(numbers(e.cpu()) == numbers(tt::exp(x.t().slice(0, 1, 3) * 2)));
  y.requires_grad_();
  (y * y).sum().backward();
  CHECK(y.grad().device() == device);
  CHECK(numbers(y.grad().cpu()) == numbers(x * 2));
  const auto list = tt::cpu_fallbacks(device);
  CHECK(std::string(list.front().name) == "mul");
  CHECK(std::any_of(list.begin(), list.end(), [](const tt::CpuFallback& f) { return std::string(f.name) == "exp" && f.calls == 1; }));
  const auto doubled = tt::compile([](const Tensor& t) { return tt::softmax(t, 1) * 2; });
  const long long before = tt::cpu_fallback_calls(device);
  CHECK(numbers(doubled(x.to(device)).cpu()) == numbers(doubled(x)));
  CHECK(tt::cpu_fallback_calls(device) == before + 1);
  // What is made beside a Tensor is where it is; what goes to another device says so.
  const Tensor z = x.to(device), labels = tt::tensor({1, 2, 0}).to(device);
  CHECK(tt::rand_like(z).device() == device);
  CHECK(tt::randn_like(z).device() == device);
  CHECK(tt::normal(z, 1.0).device() == device);
  CHECK(tt::normal(z, z.abs()).device() == device);
  CHECK(tt::poisson(z.abs()).device() == device);
  CHECK(tt::multinomial(z.abs(), 2).device() == device);
  CHECK(numbers(tt::one_hot(labels, 4).cpu()) == numbers(tt::one_hot(labels.cpu(), 4)));
  CHECK(tt::call("randperm", {5}, {{"device", "test_left"}}).device() == device);
  CHECK(tt::call("tril_indices", {3, 3}, {{"device", "test_left"}}).device() == device);
  const auto moved = tt::compile([](const Tensor& t) { return (t * 2).to("test_left") + 1; });  // a graph is of one device, and ends there
  CHECK(moved(x).device() == device);
  CHECK(numbers(moved(x).cpu()) == numbers(x * 2 + 1));
  Tensor on_host = tt::empty({2, 3});
  CHECK(message<tt::Error>([&] { tt::call("mul", {z, z}, {{"out", on_host}}); }).find("the result is on test_left:0, the Tensor it is written to on cpu") != std::string::npos);
  const Tensor w = z.clone().requires_grad_();
  CHECK(message<tt::Error>([&] { (w * 2).backward(tt::ones({2, 3})); }).find("the gradient is on cpu, the Tensor on test_left:0") != std::string::npos);
  CHECK(message<tt::Exception>([&] { (void)(x + z.sum()); }).starts_with("tt::add: "));
  tt::set_cpu_fallback(device, false);
  CHECK(message<tt::Unavailable>([&] { (void)tt::exp(x.to(device)); }) ==
        "tt::exp: there is a program of the CPU, and a Tensor is on test_left:0. Move it, or use set_cpu_fallback?");
  CHECK(message<tt::Error>([] { tt::set_cpu_fallback({}); }) == "tt::set_cpu_fallback: a device of its own has one, not cpu.");
}

// ---- programs made of plans

namespace {

int plans = 0, plan_runs = 0;
/// A plan on the CPU's interpreter, as a device's program.
struct PlanProgram {
  tt::backend::TileProgram program;
  tt::BitSet none;
  void run(int, const tt::ProgramArguments& a, const tt::SymbolValues& sizes) {
    ++plan_runs;
    program.run(a.external, sizes);
  }
  const tt::BitSet& may_be_on_host() const { return none; }
  tt::Text report() const { return tt::Text("a plan"); }
};
/// Memory of the host that is called a device's.
constexpr tt::DeviceApi own_memory{
    .count = [] { return 1; },
    .allocate = [](int, std::size_t bytes) { return ::operator new(bytes + tt::storage_padding, std::align_val_t{tt::storage_alignment}); },
    .free = [](int, void* p, std::size_t) noexcept { ::operator delete(p, std::align_val_t{tt::storage_alignment}); },
    .copy = [](void* to, tt::Device, const void* from, tt::Device, std::size_t bytes, bool) { std::memcpy(to, from, bytes); },
    .synchronize = [](int) {},
    .stream = nullptr,
    .stats = nullptr,
    .empty_cache = nullptr,
};

}  // namespace

TEST_CASE("a device may have its programs made of plans, each once for a function, and one for writing into views") {
  tt::register_all_ops();
  const tt::Device device = tt::register_device("test_plans", &own_memory);
  tt::set_program_maker(device.type, [](tt::Plan plan, const char*, const tt::ProgramOptions&) {
    ++plans;
    return new tt::DeviceProgram(new PlanProgram{tt::backend::TileProgram(std::move(plan)), {}});
  });
  tt::set_cpu_fallback(device);
  const Tensor x = tt::randn({5, 6}, 1);
  Tensor y = x.to(device), z = x.clone();
  for (int k = 0; k < 3; ++k) CHECK(numbers(tt::softmax(y, 1).cpu()) == numbers(tt::softmax(x, 1)));
  CHECK(plans == 1);
  CHECK(plan_runs == 3);
  for (Tensor* t : {&y, &z}) t->t().slice(0, 1, 6, 2).mul_(3);  // read as it lies, written where it lies
  CHECK(numbers(y.cpu()) == numbers(z));
  CHECK(plans == 3);
  y.requires_grad_();
  z.requires_grad_();
  for (const Tensor& t : {y, z}) tt::tanh(t * t).sum().backward();
  CHECK(numbers(y.grad().cpu()) == numbers(z.grad()));
  CHECK(tt::cpu_fallback_calls(device) == 0);
  CHECK(numbers(y.detach().index_select(0, tt::tensor({3, 1}).to(device)).cpu()) == numbers(z.detach().index_select(0, tt::tensor({3, 1}))));
  CHECK(tt::cpu_fallback_calls(device) == 1);
  const auto f = tt::compile([](const Tensor& t) { return tt::exp(t) * 2; });
  CHECK(numbers(f(y.detach()).cpu()) == numbers(f(z.detach())));
  CHECK(std::string(f.explain()).find("a plan") != std::string::npos);
}
