// Devices that a program registers by name: their keys, what errors say, kernels of every backend, and the CPU for the rest.
// A chip with memory and programs of its own is examples/new_backend.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "control_cases.hpp"
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

/// Memory of the host under addresses that it does not have: whoever else reads an element by mistake ends the program, as with a real device.
constexpr std::uintptr_t far_away = std::uintptr_t{1} << 62;
template <class T>
T* address_here(T* p) { return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) & ~far_away); }
constexpr tt::DeviceApi own_memory{
    .count = [] { return 1; },
    .allocate = [](int, std::size_t bytes) {
      void* const p = ::operator new(bytes + tt::storage_padding, std::align_val_t{tt::storage_alignment});
      return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) | far_away);
    },
    .free = [](int, void* p, std::size_t) noexcept { ::operator delete(address_here(p), std::align_val_t{tt::storage_alignment}); },
    .copy = [](void* to, tt::Device, const void* from, tt::Device, std::size_t bytes, bool) { std::memcpy(address_here(to), address_here(from), bytes); },
    .synchronize = [](int) {},
    .stream = nullptr,
    .stats = nullptr,
    .empty_cache = nullptr,
};

int plans = 0, plan_runs = 0;
/// A plan on the CPU's interpreter, as a device's program.
struct PlanProgram {
  tt::backend::TileProgram program;
  int externals;
  tt::BitSet none;
  void run(int, const tt::ProgramArguments& a, const tt::SymbolValues& sizes) {
    ++plan_runs;
    std::vector<void*> external;
    for (int k = 0; k < externals; ++k) external.push_back(address_here(a.external[k]));
    program.run(external.data(), sizes);
  }
  const tt::BitSet& may_be_on_host() const { return none; }
  tt::Text report() const { return tt::Text("a plan"); }
};
/// A device that runs plans, and nothing else unless it is allowed to.
tt::Device register_plans(const char* name) {
  const tt::Device device = tt::register_device(name, &own_memory);
  tt::set_program_maker(device.type, [](tt::Plan plan, const char*, const tt::ProgramOptions&) {
    ++plans;
    const int externals = plan.externals;
    return new tt::DeviceProgram(new PlanProgram{tt::backend::TileProgram(std::move(plan)), externals, {}});
  });
  return device;
}

}  // namespace

TEST_CASE("a device may have its programs made of plans, each once for a function, and one for writing into views") {
  tt::register_all_ops();
  const tt::Device device = register_plans("test_plans");
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

// ---- control flow

TEST_CASE("branches, loops and scans run as programs of a device, with gradients, and nothing of them on the CPU") {
  const tt::Device device = register_plans("test_control");
  tt::set_cpu_fallback(device, false);
  for (const control_cases::Case& c : control_cases::all()) control_cases::check(c, device);
  CHECK(tt::cpu_fallback_calls(device) == 0);
  // What a body needs and the device has not.
  const auto select = [](const Tensor& x, const Tensor& places) {
    return tt::map([&](const Tensor& place) { return tt::relu(x.index_select(0, place.reshape({1}))) + 1; }, places);
  };
  const Tensor x = tt::randn({3, 4}, 1), places = tt::tensor({2, 0, 2, 1});
  const auto compiled = tt::compile(select, {.tier = 0, .fullgraph = true});
  CHECK(message<tt::Unavailable>([&] { compiled(x.to(device), places.to(device)); }).starts_with("tt::index_select: has no kernel for Tensors on test_control. Move them to the CPU?"));
  tt::set_cpu_fallback(device);
  const Tensor got = compiled(x.to(device), places.to(device));
  CHECK(got.device() == device);
  CHECK(same_bits(got.cpu(), select(x, places)));
  CHECK(tt::cpu_fallback_calls(device) == 4);
  CHECK(message([&] { compiled(x.to(device), (places + 1).to(device)); }).starts_with("tt::index_select: index 3 is out of range for axis 0 of shape (3, 4)."));
  for (const auto& f : {tt::compile([](const Tensor& t) { return tt::map([](const Tensor& row) { return row * 2; }, t); }, {.tier = 0})}) {
    CHECK(message([&] { f(tt::zeros({0, 3}).to(device)); }).starts_with("tt::scan: there is no row to begin with."));
    for (const int rows : {5, 1, 7, 2}) CHECK(same_bits(f(tt::randn({rows, 3}, rows).to(device)).cpu(), tt::randn({rows, 3}, rows) * 2));
  }
}

TEST_CASE("control flow on a device without programs: each graph of it is a call of the CPU, counted") {
  tt::register_all_ops();
  const tt::Device device = tt::register_device("test_counted", &own_memory);
  tt::set_cpu_fallback(device);
  for (const control_cases::Case& c : control_cases::all()) control_cases::check(c, device);
  const auto calls = [&](const char* what) {
    for (const control_cases::Case& c : control_cases::all()) {
      if (std::string(c.what) != what) continue;
      const auto f = tt::compile(tt::frozen([function = c.function](const control_cases::List& t) { return function(t); }), {.tier = 0, .fullgraph = true});
      const control_cases::List there = control_cases::to(c.given, device);
      const long long before = tt::cpu_fallback_calls(device);
      f(there);
      return tt::cpu_fallback_calls(device) - before;
    }
    return -1LL;
  };
  CHECK(calls("cond, first") == 3);      // what is before the branch, the branch, what is behind it
  CHECK(calls("cond in cond 3") == 2);   // nothing is behind it
  CHECK(calls("while_loop of a turn") == 4);  // a condition more than turns
  CHECK(calls("while_loop of no turn") == 4);  // results are copies
  CHECK(calls("scan") == 6);             // five rows
  CHECK(calls("checkpoint") == 1);
}

TEST_CASE("Tensors on the host beside those of a device, in branches and loops") {
  const tt::Device device = register_plans("test_beside");
  tt::set_cpu_fallback(device, false);
  const Tensor x = tt::tensor({1.0, -2.0, 3.0}), rows = tt::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}), two = tt::tensor(2.0), line = tt::tensor({0.5, 2.0});
  /// The same results at the same places as eager ops.
  const auto check = [&](const auto& f, const auto&... given) {
    const auto eager = f(given...);
    for (const auto& got : {tt::compile(f, {.tier = 0, .fullgraph = true})(given...), tt::trace(f, given...)(given...)})
      for (std::size_t k = 0; k < eager.size(); ++k) {
        CAPTURE(k);
        CHECK(got[k].device() == eager[k].device());
        CHECK(same_bits(got[k].cpu(), eager[k].cpu()));
      }
  };
  using control_cases::List;
  const auto branch = [](const Tensor& t, const Tensor& s) {
    return List{tt::cond(s > 0, [](const Tensor& a) { return a * 2; }, [](const Tensor& a) { return -a; }, t)};
  };
  check(branch, x.to(device), two);
  check(branch, x, two.to(device));
  check([](const Tensor& t, const Tensor& s) {  // a branch that reads a number on the host alone
    return List{tt::cond(t.sum() > 0, [&](const Tensor& a) { return tt::zeros_like(a) + s; }, [](const Tensor& a) { return -a; }, t) * t};
  }, x.to(device), two);
  check([](const Tensor& t, const Tensor& s) {
    const auto [h, ys] = tt::scan([](const Tensor& before, const Tensor& row) { return std::pair{before + row.sum(), before * 2}; }, s, t);
    return List{h, ys};
  }, rows.to(device), two);
  check([](const Tensor& t, const Tensor& h) {  // rows that are numbers on the host
    const auto [last, ys] = tt::scan([](const Tensor& before, const Tensor& row) { return std::pair{before * row, before + row}; }, h, t);
    return List{last, ys};
  }, line, x.to(device));
  check([](const Tensor& t, const Tensor& h) {  // and results of whole rows of the device
    return List{t * 2, tt::map([&](const Tensor& place) { return place + h.sum(); }, h)};
  }, rows, x.to(device));
  const auto apart = [](const Tensor& t, const Tensor& h) {
    return tt::scan([](const Tensor& before, const Tensor& row) { return std::pair{before * row, row}; }, h, t).first;
  };
  for (const std::string& said : {message([&] { apart(rows, x.to(device)); }), message([&] { tt::compile(apart, {.tier = 0})(rows, x.to(device)); })})
    CHECK(said.starts_with("tt::mul: Tensors on different devices: test_beside:0 and cpu."));
}

TEST_CASE("a function that reads no element, only the sizes of its argument, runs on the CPU for a device without programs") {
  const tt::Device device = tt::register_device("test_sizes_only", &own_memory);
  tt::set_cpu_fallback(device);
  const Tensor x = tt::ones({2, 3}).to(device);
  const auto f = [](const Tensor& t) { return tt::zeros_like(t) + 2; };
  const auto compiled = tt::compile(f, {.tier = 0});
  for (const Tensor& got : {f(x), compiled(x)}) {
    CHECK(got.device() == device);
    CHECK(same_bits(got.cpu(), tt::full({2, 3}, 2.0)));
  }
}

TEST_CASE("what is made between graph breaks lies where its program ran") {
  const tt::Device device = register_plans("test_breaks");
  tt::set_cpu_fallback(device, false);
  const Tensor x = tt::tensor({1.0, -2.0, 3.0});
  const auto looks = tt::compile([](const Tensor& t) {
    const Tensor positive = t.sum() > 0;  // lt(0, sum): the number is on the host, the sum is not
    CHECK(positive.device() == t.device());
    return positive.item<bool>() ? t * 2 : -t;
  });
  const auto moves = tt::compile([](const Tensor& t) { return tt::cond(t.sum() > 0, [](const Tensor& a) { return a.cpu() * 2; }, [](const Tensor& a) { return -a.cpu(); }, t); });
  const auto numbers_first = tt::compile([](const Tensor& s, const Tensor& t) { return t * s * tt::arange(0, 3, 1, {.device = t.device()}); }, {.tier = 0, .fullgraph = true});
  const auto beside = tt::compile([](const Tensor& s, const Tensor& t) {
    const Tensor half = s * 0.5, y = t * half;  // one program with y: on its device
    return y.sum().item<float>() > 100 ? y : y + half.item<float>();
  });
  for (int time = 0; time < 2; ++time)
    for (const Tensor& t : {x, -x}) {
      const Tensor there = t.to(device), s = tt::tensor(2.0);
      CHECK(looks(there).device() == device);
      CHECK(same_bits(looks(there).cpu(), t.sum().item() > 0 ? t * 2 : -t));
      CHECK(moves(there).device() == tt::Device{});
      CHECK(same_bits(moves(there), t.sum().item() > 0 ? t * 2 : -t));
      CHECK(numbers_first(s, there).device() == device);
      CHECK(same_bits(numbers_first(s, there).cpu(), t * 2 * tt::arange(3)));
      CHECK(same_bits(beside(s, there).cpu(), t + 1));
    }
}
