// Collectives of threads, and of processes by TCP: values, gradients to second order, captured functions, a training step whose batch is divided, mistakes.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tt/dist/collectives.hpp"
#include "tt/dist/tcp_group.hpp"
#include "tt/tt.hpp"

namespace {

namespace dist = tt::distributed;
using dist::ReduceOp;
using tt::Tensor;

/// doctest's macros are not for threads of failed groups: a check in a rank throws.
void need(bool holds, const char* what, int line) {
  if (!holds) throw std::runtime_error(std::string(what) + " at line " + std::to_string(line));
}
#define NEED(...) need(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __LINE__)

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}
/// Rank r's Tensor: a function of its number, so that each rank knows those of all.
Tensor of_rank(int r, tt::IntList shape, tt::DType d = tt::DType::f32) { return (tt::rand(shape, r + 1) * 10).to(d); }

void check_values(int size) {
  const int r = dist::get_rank();
  NEED(dist::get_world_size() == size);
  for (const tt::DType d : {tt::DType::f32, tt::DType::f64, tt::DType::bf16, tt::DType::i32, tt::DType::u8, tt::DType::boolean})
    for (const tt::IntList& shape : {tt::IntList{}, tt::IntList{size}, tt::IntList{2 * size, 3}, tt::IntList{size, 1001}, tt::IntList{0, 4}, tt::IntList{size * 1024, 2}}) {
      const Tensor x = of_rank(r, shape, d);
      std::vector<Tensor> all;
      for (int k = 0; k < size; ++k) all.push_back(of_rank(k, shape, d));
      const Tensor stack = tt::stack(all, 0), total = dist::all_reduce(x);
      NEED(total.dtype() == d);
      NEED(tt::equal(total, stack.sum(0).to(d)));
      NEED(tt::equal(dist::all_reduce(x, ReduceOp::max), tt::amax(stack, 0)));
      NEED(tt::equal(dist::all_reduce(x, ReduceOp::min), tt::amin(stack, 0)));
      NEED(tt::equal(dist::all_reduce(x, ReduceOp::product), tt::prod(stack, 0).to(d)));
      if (tt::is_floating(d)) NEED(tt::equal(dist::all_reduce(x, ReduceOp::avg), stack.mean(0)));
      NEED(tt::equal(dist::broadcast(x, size - 1), all.back()));
      NEED(tt::equal(dist::reduce(x, 0), r == 0 ? stack.sum(0).to(d) : tt::zeros_like(x)));
      if (x.dim() == 0) {
        NEED(tt::equal(dist::all_gather(x), stack));
        continue;
      }
      NEED(tt::equal(dist::all_gather(x), tt::cat(all, 0)));
      NEED(tt::equal(dist::all_gather(x, -1), tt::cat(all, -1)));
      const std::int64_t rows = x.size(0) / size;
      NEED(tt::allclose(dist::reduce_scatter(x), stack.sum(0).to(d).slice(0, r * rows, (r + 1) * rows), d == tt::DType::bf16 ? 1e-2 : 1e-6));  // other shapes, another order
      Tensor mine = tt::zeros({0});
      std::vector<Tensor> parts;
      for (const Tensor& t : all) parts.push_back(t.slice(0, r * rows, (r + 1) * rows));
      NEED(tt::equal(dist::all_to_all(x), tt::cat(parts, 0)));
    }
  NEED(tt::equal(dist::all_reduce(of_rank(r, {6, 4}).t()), dist::all_reduce(of_rank(r, {6, 4})).t()));  // not contiguous
  dist::barrier();
}

struct Weights {
  Tensor w, b;
};
constexpr auto loss = [](const Weights& p, const Tensor& x, const Tensor& y) { return tt::mse_loss(tt::tanh(tt::matmul(x, p.w)) + p.b, y); };
constexpr auto divided_step = [](const Weights& p, const Tensor& x, const Tensor& y) {
  const Weights g = dist::all_reduce(tt::grad(loss)(p, x, y), ReduceOp::avg);
  return Weights{p.w - g.w * 0.1, p.b - g.b * 0.1};
};
constexpr auto whole_step = [](const Weights& p, const Tensor& x, const Tensor& y) {
  const Weights g = tt::grad(loss)(p, x, y);
  return Weights{p.w - g.w * 0.1, p.b - g.b * 0.1};
};
/// `port`: of a listener that the system chose, closed again.
std::string free_place() {
  const dist::detail::Socket s(::socket(AF_INET, SOCK_STREAM, 0));
  dist::detail::Address a;
  a.bytes.ss_family = AF_INET;
  a.length = sizeof(sockaddr_in);
  reinterpret_cast<sockaddr_in&>(a.bytes).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(s.fd(), a.get(), a.length) == 0);
  ::getsockname(s.fd(), a.get(), &a.length);
  return "tcp://127.0.0.1:" + std::to_string(ntohs(a.port()));
}
/// f() in threads that are connected by TCP, as processes would be. Gives the errors of all ranks.
template <class F>
std::vector<std::string> run_tcp(int size, const F& f) {
  const std::string place = free_place();
  std::vector<std::string> error(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      error[static_cast<std::size_t>(rank)] = message([&] {
        const auto group = dist::connect_group(place, {.rank = rank, .world_size = size, .timeout = 30});
        const dist::GroupGuard guard(*group);
        f();
      });
    });
  for (std::thread& t : threads) t.join();
  return error;
}

}  // namespace

TEST_CASE("every collective is what its definition says, in threads and by TCP") {
  for (const int size : {1, 2, 3, 5}) {
    CAPTURE(size);
    CHECK(message([&] { dist::run_threads(size, [&] { check_values(size); }); }) == "no error");
  }
  for (const int size : {1, 2, 4})
    for (const std::string& e : run_tcp(size, [&] { check_values(size); })) CHECK(e == "no error");
}

TEST_CASE("messages larger than the buffers of sockets") {
  const auto f = [] {
    const Tensor x = tt::full({1 << 20}, dist::get_rank() + 1.0);
    NEED(tt::equal(dist::all_gather(x, 0), tt::cat({tt::full({1 << 20}, 1.0), tt::full({1 << 20}, 2.0), tt::full({1 << 20}, 3.0)}, 0)));
    NEED(tt::equal(dist::all_reduce(x), tt::full({1 << 20}, 6.0)));
  };
  for (const std::string& e : run_tcp(3, f)) CHECK(e == "no error");
}

TEST_CASE("gradients are those of the sum of all ranks' losses, twice, and compiled") {
  // Each rank's loss reads the results on all ranks, so each gradient is the same expression of all ranks' Tensors, which a graph of one process computes.
  const auto check = [](const auto& collective, const auto& alone) {
    for (const bool compiled : {false, true}) {
      const auto run = [&] {
        const int r = dist::get_rank();
        const auto f = [&](const Tensor& t) { return (collective(t * t) * (of_rank(r, {6, 2}).sin() + 2)).sum(); };
        const auto twice = [&](const Tensor& t) { return (tt::grad(f)(t) * t.cos()).sum(); };
        std::vector<Tensor> all, weights;
        for (int k = 0; k < 3; ++k) {
          all.push_back(of_rank(k, {6, 2}));
          weights.push_back(of_rank(k, {6, 2}).sin() + 2);
        }
        const auto g = [&](const Tensor& stack) { return (alone(stack * stack) * tt::stack(weights, 0)).sum(); };
        const auto g_twice = [&](const Tensor& stack) { return (tt::grad(g)(stack) * stack.cos()).sum(); };
        const Tensor stack = tt::stack(all, 0);
        const Tensor x = all[static_cast<std::size_t>(r)];
        if (compiled) {
          NEED(tt::allclose(tt::compile(tt::frozen(tt::grad(f)), {.fullgraph = true})(x), tt::grad(g)(stack).select(0, r), 1e-5));
          NEED(tt::allclose(tt::compile(tt::frozen(tt::grad(twice)), {.fullgraph = true})(x), tt::grad(g_twice)(stack).select(0, r), 1e-4));
        } else {
          NEED(tt::allclose(tt::grad(f)(x), tt::grad(g)(stack).select(0, r), 1e-5));
          NEED(tt::allclose(tt::grad(twice)(x), tt::grad(g_twice)(stack).select(0, r), 1e-4));
        }
      };
      CHECK(message([&] { dist::run_threads(3, run); }) == "no error");
    }
  };
  const auto same_on_all = [](const Tensor& t) { return t.unsqueeze(0).expand({3, 6, 2}); };
  check([](const Tensor& t) { return dist::all_reduce(t); }, [&](const Tensor& s) { return same_on_all(s.sum(0)); });
  check([](const Tensor& t) { return dist::all_reduce(t, ReduceOp::avg); }, [&](const Tensor& s) { return same_on_all(s.mean(0)); });
  check([](const Tensor& t) { return dist::all_reduce(t, ReduceOp::max); }, [&](const Tensor& s) { return same_on_all(tt::amax(s, 0)); });
  check([](const Tensor& t) { return dist::all_reduce(t, ReduceOp::product); }, [&](const Tensor& s) { return same_on_all(tt::prod(s, 0)); });
  check([](const Tensor& t) { return dist::all_to_all(t); }, [](const Tensor& s) { return s.reshape({3, 3, 2, 2}).transpose(0, 1).reshape({3, 6, 2}); });
  check([](const Tensor& t) { return dist::all_gather(dist::reduce_scatter(t)); }, [&](const Tensor& s) { return same_on_all(s.sum(0)); });
  check([](const Tensor& t) { return dist::broadcast(t, 1); }, [&](const Tensor& s) { return same_on_all(s.select(0, 1)); });
  check([](const Tensor& t) { return dist::reduce(t, 2); }, [](const Tensor& s) {
    const Tensor none = tt::zeros({6, 2});
    return tt::stack({none, none, s.sum(0)}, 0);
  });
}

TEST_CASE("a training step whose batch is divided among ranks is the step of the whole batch") {
  const Weights p{tt::rand({8, 4}, 1) - 0.5, tt::zeros({4})};
  const Tensor x = tt::randn({12, 8}, 2), y = tt::rand({12, 4}, 3);
  Weights expected = p;
  for (int step = 0; step < 5; ++step) expected = whole_step(expected, x, y);
  const auto compiled = tt::compile(divided_step, {.fullgraph = true});  // shared by the threads
  for (const int size : {2, 3}) {
    const auto run = [&](const auto& step) {
      const int rows = 12 / size, r = dist::get_rank();
      Weights own = p;
      for (int k = 0; k < 5; ++k) own = step(own, x.slice(0, r * rows, (r + 1) * rows), y.slice(0, r * rows, (r + 1) * rows));
      NEED(tt::allclose(own.w, expected.w, 1e-5, 1e-6));
      NEED(tt::allclose(own.b, expected.b, 1e-5, 1e-6));
      NEED(tt::equal(dist::broadcast(own.w, 0), own.w));  // the same bits on all ranks
    };
    CHECK(message([&] { dist::run_threads(size, [&] { run(divided_step); }); }) == "no error");
    if (size == 2) CHECK(message([&] { dist::run_threads(size, [&] { run(compiled); }); }) == "no error");
    for (const std::string& e : run_tcp(size, [&] { run(tt::compile(divided_step, {.fullgraph = true})); })) CHECK(e == "no error");
  }
  CHECK(message([&] { dist::run_threads(3, [&] { compiled(p, x, y); }); }).starts_with("tt::distributed: this was captured in a group of 2 ranks, and runs in one of 3."));
}

TEST_CASE("calls in a graph keep their order, and none is dropped or merged") {
  dist::run_threads(2, [] {
    const auto f = tt::compile([](const Tensor& x) {
      const Tensor unread = dist::broadcast(x, 0);
      const Tensor a = dist::all_reduce(x), b = dist::all_reduce(x);
      return a + b;
    }, {.fullgraph = true});
    // The other rank makes the same calls by hand.
    const Tensor x = tt::full({3}, dist::get_rank() + 1.0);
    if (dist::get_rank() == 0) {
      NEED(tt::equal(f(x), tt::full({3}, 6.0)));
    } else {
      dist::broadcast(x, 0);
      dist::all_reduce(x);
      dist::all_reduce(x);
    }
  });
}

TEST_CASE("mistakes") {
  const Tensor x = tt::ones({4});
  CHECK(!dist::is_initialized());
  const std::string none = message([&] { dist::all_reduce(x); });
  CHECK(none == "tt::distributed: this thread is in no group. Call init_process_group first?\n  at " + std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1));
  const auto in_group = [](const auto& f) { return message([&] { dist::run_threads(3, f); }); };
  CHECK(in_group([&] { dist::reduce_scatter(x); }).starts_with("tt::distributed::reduce_scatter: axis 0 of (4,) cannot be split evenly among 3 ranks."));
  CHECK(in_group([&] { dist::broadcast(x, 3); }).starts_with("tt::distributed::broadcast: rank 3 of a group of 3."));
  CHECK(in_group([&] { dist::all_reduce(tt::ones({2}).to(tt::DType::i64), ReduceOp::avg); }).starts_with("tt::distributed::all_reduce: the average of integers. Take the sum?"));
  const std::string other = in_group([&] { dist::all_reduce(tt::ones({dist::get_rank() == 1 ? 5 : 4})); });
  CAPTURE(other);
  CHECK(other.find("bytes where ") != std::string::npos);
  CHECK(other.find(" are expected. Do all ranks make the same call, with equal shapes and dtypes?") != std::string::npos);
  CHECK(in_group([&] {  // the cause is shown, not what follows from it on other ranks
          if (dist::get_rank() == 2) throw std::runtime_error("the cause");
          dist::all_reduce(x);
        }) == "the cause");
  CHECK(in_group([&] {
          if (dist::get_rank() != 1) dist::barrier();
        }).starts_with("tt::distributed: another rank of the group has stopped."));

  for (const std::string& e : run_tcp(2, [&] { dist::all_reduce(tt::ones({dist::get_rank() == 1 ? 5 : 4})); }))
    CHECK(e.starts_with("tt::distributed: rank "));
  const std::vector<std::string> gone = run_tcp(2, [&] {
    if (dist::get_rank() == 0) dist::barrier();
  });
  CHECK(gone[0].starts_with("tt::distributed: rank 1 is gone"));
  CHECK(gone[1] == "no error");
  const auto connects = [](const char* where, dist::TcpOptions o) { return message([&] { dist::connect_group(where, o); }); };
  CHECK(connects("http://x", {.rank = 0, .world_size = 1}).starts_with("tt::distributed: where the group meets is tcp://host:port or env://, and not 'http://x'."));
  CHECK(connects("tcp://127.0.0.1:x", {.rank = 0, .world_size = 1}).starts_with("tt::distributed: the port is 'x', no number."));
  CHECK(connects("tcp://127.0.0.1:1", {.rank = 2, .world_size = 2}).starts_with("tt::distributed: rank 2 of a world_size of 2."));
  CHECK(connects(free_place().c_str(), {.rank = 0, .world_size = 2, .timeout = 0.05}).starts_with("tt::distributed: rank 0 has waited too long for the others."));
  CHECK(connects(free_place().c_str(), {.rank = 1, .world_size = 2, .timeout = 0.05}).starts_with("tt::distributed: rank 1 cannot connect to rank 0 in time."));
  // A connection of somebody else's, which says nothing: the group comes together beside it.
  const std::string place = free_place();
  std::thread first([&] { CHECK(connects(place.c_str(), {.rank = 0, .world_size = 2, .timeout = 20}) == "no error"); });
  dist::detail::Address to;
  to.bytes.ss_family = AF_INET;
  to.length = sizeof(sockaddr_in);
  reinterpret_cast<sockaddr_in&>(to.bytes).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.set_port(htons(static_cast<in_port_t>(std::atoi(place.substr(place.rfind(':') + 1).c_str()))));
  const dist::detail::Socket silent(::socket(AF_INET, SOCK_STREAM, 0));
  while (::connect(silent.fd(), to.get(), to.length) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(connects(place.c_str(), {.rank = 1, .world_size = 2, .timeout = 20}) == "no error");
  first.join();
  ::unsetenv("MASTER_ADDR");
  CHECK(connects("env://", {}).starts_with("tt::distributed: env:// needs the variable MASTER_ADDR."));
}

TEST_CASE("the group of the process, from the environment") {
  const std::string place = free_place();
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", place.substr(place.rfind(':') + 1).c_str(), 1);
  ::setenv("RANK", "0", 1);
  ::setenv("WORLD_SIZE", "1", 1);
  dist::init_process_group("env://");
  CHECK(dist::is_initialized());
  CHECK(dist::get_world_size() == 1);
  CHECK(tt::equal(dist::all_reduce(tt::ones({2})), tt::ones({2})));
  dist::destroy_process_group();
  CHECK(!dist::is_initialized());
}
