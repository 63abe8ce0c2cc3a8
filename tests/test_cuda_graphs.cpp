// Compiled functions on a device as CUDA graphs (mode = reduce_overhead), on a fake driver
// (cuda/fake_driver.cpp) that counts and refuses wrong uses: bits, addresses that change, parameters in
// place, the tape, sizes, streams. Run a second time on a driver without graphs (TT_OLD_DRIVER=1).
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cuda/fake.hpp"
#include "tensors.hpp"
#include "tt/tt.hpp"

namespace {

using tt::Tensor;
const bool old_driver = std::getenv("TT_OLD_DRIVER") != nullptr;
const bool chosen = (fake::choose_driver(old_driver ? TT_FAKE_CUDA_WITHOUT_GRAPHS : TT_FAKE_CUDA), true);
const bool counts = !fake::is_real() && !old_driver;
const tt::CompileOptions replayed{.mode = tt::CompileMode::reduce_overhead};

Tensor values(const tt::IntList& shape, std::int64_t seed = 1) { return tt::randn(shape, seed); }

/// Two products with softmax between: three kernels or more, an arena, one result.
constexpr auto attention = [](const Tensor& q, const Tensor& k, const Tensor& v) {
  return tt::matmul(tt::softmax(tt::matmul(q, k), -1), v);
};
constexpr auto step = [](Tensor& w, const Tensor& x, const Tensor& y) {
  const auto loss_of = [](const auto& v, const auto& a, const auto& b) { return tt::mean(tt::square(tt::matmul(a, v) - b)); };
  const auto [loss, g] = tt::value_and_grad(loss_of)(w, x, y);
  w -= g * 0.1f;
  return loss;
};
struct Counts {
  long graph_launches = counts ? fake::count("graph launches") : 0, updates = counts ? fake::count("kernel updates") : 0,
       graphs = counts ? fake::count("graphs") : 0, launches = counts ? fake::count("launches") : 0;
};

}  // namespace

TEST_CASE("one graph launch a call, with the bits of plain launches, wherever the arguments lie") {
  auto plain = tt::compile(attention);
  auto f = tt::compile(attention, replayed);
  std::vector<Tensor> kept;  // so that every call has other addresses
  for (int call = 0; call < 6; ++call) {
    const Tensor q = values({7, 12}, call + 1), k = values({12, 9}, call + 20), v = values({9, 5}, call + 40);
    const Tensor gq = q.cuda(), gk = k.cuda(), gv = v.cuda();
    const Counts before;
    kept.insert(kept.end(), {gq, gk, gv, f(gq, gk, gv)});
    if (counts) CHECK(Counts().graph_launches == before.graph_launches + (call > 0));
    if (counts && call > 0) CHECK(Counts().launches == before.launches + 1);
    if (counts && call > 1) CHECK(Counts().updates > before.updates);
    kept.push_back(plain(q, k, v));
  }
  for (std::size_t call = 0; call < 6; ++call)  // no result was written over by a later call
    CHECK(same_bits(kept[5 * call + 3].cpu(), kept[5 * call + 4]));
  CHECK(f.captures() == 1);
}

TEST_CASE("operands that stay where they are change nothing in the graph") {
  auto f = tt::compile(attention, replayed);
  const Tensor q = values({7, 12}), k = values({12, 9}, 2), v = values({9, 5}, 3);
  const Tensor gq = q.cuda(), gk = k.cuda(), gv = v.cuda(), expected = attention(q, k, v);
  for (int call = 0; call < 2; ++call) CHECK(same_bits(f(gq, gk, gv).cpu(), expected));
  const Counts before;
  for (int call = 0; call < 4; ++call) CHECK(same_bits(f(gq, gk, gv).cpu(), expected));
  if (!counts) return;
  CHECK(Counts().graph_launches == before.graph_launches + 4);
  CHECK(Counts().updates == before.updates);
}

TEST_CASE("parameters change in place") {
  auto train = tt::compile(step, replayed);
  Tensor w = values({33, 2}, 3), gw = w.cuda();
  const Tensor x = values({9, 33}), y = values({9, 2}, 4), gx = x.cuda(), gy = y.cuda();
  const void* const place = gw.data();
  for (int k = 0; k < 5; ++k) {
    const Tensor loss = step(w, x, y);
    CHECK(same_bits(train(gw, gx, gy).cpu(), loss));
  }
  CHECK(same_bits(gw.cpu(), w));
  CHECK(gw.data() == place);
  Tensor other = values({33, 2}, 8).cuda(), alone = values({33, 2}, 8);
  CHECK(same_bits(train(other, gx, gy).cpu(), step(alone, x, y)));  // another parameter, the same graph
  CHECK(same_bits(other.cpu(), alone));
  CHECK(same_bits(gw.cpu(), w));
}

TEST_CASE("a single element on the host may change from call to call") {
  const auto scaled = [](const Tensor& q, const Tensor& k, const Tensor& by) { return tt::softmax(tt::matmul(q, k) * by, -1) + by; };
  auto f = tt::compile(scaled, replayed);
  const Tensor q = values({7, 12}), k = values({12, 9}, 2), gq = q.cuda(), gk = k.cuda();
  for (int call = 0; call < 5; ++call) {
    const Tensor by = tt::tensor(0.5f + static_cast<float>(call));
    CHECK(same_bits(f(gq, gk, by).cpu(), scaled(q, k, by)));
  }
  CHECK(f.captures() == 1);
}

TEST_CASE("the tape: forward and backward are replayed") {
  auto f = tt::compile(attention, replayed);
  const Tensor k = values({12, 9}, 2), v = values({9, 5}, 3), gk = k.cuda(), gv = v.cuda();
  for (int call = 0; call < 4; ++call) {
    Tensor q = values({7, 12}, call + 5).requires_grad_(), gq = q.detach().cuda().requires_grad_();
    tt::sum(attention(q, k, v)).backward();
    tt::sum(f(gq, gk, gv)).backward();
    CHECK(same_bits(gq.grad().cpu(), q.grad()));
  }
  if (!old_driver) CHECK(contains(std::string(f.explain()), "backward: 3 of 4 runs replayed as a CUDA graph"));
}

TEST_CASE("other sizes and other signatures get graphs of their own, which end with the function") {
  const Counts before;
  {
    auto f = tt::compile(attention, replayed);
    for (int round = 0; round < 3; ++round)
      for (std::int64_t rows : {7, 8, 10}) {
        const Tensor q = values({rows, 12}, rows), k = values({12, 9}, 2), v = values({9, 5}, 3);
        CHECK(same_bits(f(q.cuda(), k.cuda(), v.cuda()).cpu(), attention(q, k, v)));
      }
    CHECK(f.captures() == 1);
    if (counts) CHECK(Counts().graphs == before.graphs + 2 * 3);
    const Tensor q = values({2, 4, 12}), k = values({2, 12, 9}, 2), v = values({2, 9, 5}, 3);
    for (int call = 0; call < 3; ++call) CHECK(same_bits(f(q.cuda(), k.cuda(), v.cuda()).cpu(), attention(q, k, v)));
    CHECK(f.captures() == 2);
    if (counts) CHECK(Counts().graphs == before.graphs + 2 * 4);
  }
  if (counts) CHECK(Counts().graphs == before.graphs);
}

TEST_CASE("what lies between graph breaks is replayed too") {
  const auto broken = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    const Tensor s = tt::softmax(tt::matmul(q, k), -1);
    if (tt::sum(s * s).item() > 1e6) return s;
    return tt::matmul(tt::softmax(tt::matmul(s, v), -1), v.t());
  };
  auto f = tt::compile(broken, replayed);
  const Tensor k = values({12, 9}, 2), v = values({9, 5}, 3), gk = k.cuda(), gv = v.cuda();
  for (int call = 0; call < 4; ++call) {
    const Tensor q = values({7, 12}, call + 1);
    CHECK(same_bits(f(q.cuda(), gk, gv).cpu(), broken(q, k, v)));
  }
  CHECK(f.segments() == 2);
  if (!old_driver) CHECK(contains(std::string(f.explain()), "3 of 4 runs replayed as a CUDA graph"));
}

TEST_CASE("a graph runs on the stream of the call") {
  auto f = tt::compile(attention, replayed);
  const Tensor q = values({7, 12}), k = values({12, 9}, 2), v = values({9, 5}, 3), expected = attention(q, k, v);
  const Tensor gq = q.cuda(), gk = k.cuda(), gv = v.cuda();
  tt::cuda::synchronize();
  tt::cuda::Stream side;
  const long before = counts ? fake::graph_launches_on(side.handle()) : 0;
  for (int call = 0; call < 4; ++call) {
    const tt::cuda::StreamGuard guard(side);
    const Tensor there = f(gq, gk, gv);
    side.synchronize();
    CHECK(same_bits(there.cpu(), expected));
  }
  const Counts now;
  CHECK(same_bits(f(gq, gk, gv).cpu(), expected));
  if (!counts) return;
  CHECK(fake::graph_launches_on(side.handle()) == before + 3);
  CHECK(Counts().graph_launches == now.graph_launches + 1);  // on the device's own
}

TEST_CASE("two threads launch a graph on a stream each, from the first call on") {
  auto f = tt::compile(attention, replayed);
  const Tensor q = values({7, 12}), k = values({12, 9}, 2), v = values({9, 5}, 3), expected = attention(q, k, v);
  const Tensor gq = q.cuda(), gk = k.cuda(), gv = v.cuda();
  tt::cuda::synchronize();
  constexpr int calls = 6;
  const Counts before;
  std::atomic<int> ready = 0;
  bool right[2] = {};
  long launched[2] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      tt::cuda::Stream own;
      const tt::cuda::StreamGuard guard(own);
      const long begin = counts ? fake::graph_launches_on(own.handle()) : 0;
      ++ready;
      while (ready < 2) {
      }
      right[t] = true;
      for (int call = 0; call < calls; ++call) {
        const Tensor r = f(gq, gk, gv);
        own.synchronize();
        right[t] = right[t] && same_bits(r.cpu(), expected);
      }
      launched[t] = counts ? fake::graph_launches_on(own.handle()) - begin : 0;
    });
  for (std::thread& t : threads) t.join();
  CHECK(right[0]);
  CHECK(right[1]);
  CHECK(f.captures() == 1);
  if (!counts) return;
  CHECK(launched[0] + launched[1] == 2 * calls - 1);  // but for the very first
  CHECK(launched[0] >= calls - 1);
  CHECK(launched[1] >= calls - 1);
  CHECK(Counts().graph_launches == before.graph_launches + 2 * calls - 1);
}

TEST_CASE("where a graph cannot be made, kernels are launched one by one, and nothing is tried again") {
  if (!counts) return;
  struct Case {
    const char* call;
    int replays;  // before it fails: of a graph that was made already
  };
  for (const Case c : {Case{"cuGraphCreate", 0}, Case{"cuGraphAddKernelNode", 0}, Case{"cuGraphInstantiate", 0}, Case{"cuGraphExecKernelNodeSetParams", 1}}) {
    CAPTURE(std::string(c.call));
    auto f = tt::compile(attention, replayed);
    auto train = tt::compile(step, replayed);
    Tensor w = values({33, 2}, 3), gw = w.cuda();
    const Tensor k = values({12, 9}, 2), v = values({9, 5}, 3), gk = k.cuda(), gv = v.cuda();
    const Counts before;
    const long refusals = fake::count("refusals");
    std::vector<Tensor> kept;  // so that every call has other addresses
    const auto call = [&](std::int64_t rows, int seed) {
      const Tensor q = values({rows, 12}, seed);
      kept.insert(kept.end(), {q.cuda(), f(q.cuda(), gk, gv)});
      CHECK(same_bits(kept.back().cpu(), attention(q, k, v)));
    };
    {
      const fake::Setting fails("FAKE_CUDA_GRAPH_FAILS", c.call);
      for (int n = 0; n < 5; ++n) call(7, n + 1);
      CHECK(fake::count("refusals") == refusals + 1);
      for (int n = 0; n < 4; ++n) {  // what is updated in place is updated once
        const Tensor x = values({9, 33}, n + 1), y = values({9, 2}, n + 4);
        kept.insert(kept.end(), {x.cuda(), y.cuda()});
        CHECK(same_bits(train(gw, kept[kept.size() - 2], kept.back()).cpu(), step(w, x, y)));
        CHECK(same_bits(gw.cpu(), w));
      }
      CHECK(fake::count("refusals") == refusals + 2);
    }
    CHECK(Counts().graph_launches == before.graph_launches + 2 * c.replays);
    CHECK(Counts().graphs == before.graphs);  // nothing is left of them
    const std::string said = tt::Text() << c.replays << " of 5 runs replayed as a CUDA graph, with 0 changes of a kernel's operands; "
                                        << 4 - c.replays << " kernel by kernel, as there is no graph: tt::cuda: " << c.call
                                        << " failed: CUDA_ERROR_OUT_OF_MEMORY: a fake error.\n";
    INFO(std::string(f.explain()));
    CHECK(contains(std::string(f.explain()), said));
    call(7, 9);  // the same sizes: as they ran before
    CHECK(Counts().graph_launches == before.graph_launches + 2 * c.replays);
    for (int n = 0; n < 3; ++n) call(8, n);  // others have a graph
    CHECK(Counts().graph_launches == before.graph_launches + 2 * c.replays + 2);
  }
}

TEST_CASE("a graph that there is no memory for is not made, and gives its memory to other sizes") {
  if (!counts) return;
  auto f = tt::compile(attention, replayed);
  const Tensor k = values({12, 9}, 2), v = values({9, 5}, 3), gk = k.cuda(), gv = v.cuda();
  const Tensor large = values({400, 12}), small = values({300, 12}, 5), on_large = large.cuda(), on_small = small.cuda();
  for (int n = 0; n < 2; ++n) CHECK(same_bits(f(on_large, gk, gv).cpu(), attention(large, k, v)));
  CHECK(same_bits(f(on_small, gk, gv).cpu(), attention(small, k, v)));
  const Counts before;
  tt::cuda::empty_cache();
  {
    const std::int64_t room = 300 * 5 * 4 + (1 << 11);  // for the result, but not for what lies between the kernels
    const fake::Setting full("FAKE_CUDA_MEMORY", std::to_string(tt::cuda::memory_stats().reserved + room).c_str());
    for (int n = 0; n < 3; ++n) CHECK(same_bits(f(on_small, gk, gv).cpu(), attention(small, k, v)));
    CHECK(Counts().graphs == before.graphs - 2);
    CHECK(Counts().graph_launches == before.graph_launches);
    INFO(std::string(f.explain()));
    CHECK(contains(std::string(f.explain()), "1 of 6 runs replayed as a CUDA graph, with 0 changes of a kernel's operands; 3 kernel by kernel, as there is no graph: "
                                             "the memory of a graph was needed to run other sizes.\n"));
  }
  CHECK(same_bits(f(on_large, gk, gv).cpu(), attention(large, k, v)));
  CHECK(Counts().graph_launches == before.graph_launches);
}

TEST_CASE("explain says what was replayed, and what not and why") {
  auto f = tt::compile(attention, replayed);
  const Tensor q = values({7, 12}), k = values({12, 9}, 2), v = values({9, 5}, 3);
  f(q, k, v);
  CHECK(contains(std::string(f.explain()), "mode reduce_overhead: has no effect on the CPU\n"));
  CHECK(same_bits(f(q, k, v), attention(q, k, v)));
  const Tensor gq = q.cuda(), gk = k.cuda(), gv = v.cuda();
  for (int call = 0; call < 3; ++call) f(gq, gk, gv);
  if (old_driver) {
    CHECK(contains(std::string(f.explain()), "mode reduce_overhead:\n     3 runs kernel by kernel, as the driver has no cuGraphCreate\n"));
    return;
  }
  CHECK(contains(std::string(f.explain()), "mode reduce_overhead:\n     2 of 3 runs replayed as a CUDA graph, with "));
  if (!std::getenv("TT_CUDA_NO_CACHE"))  // results lie where the last ones lay
    CHECK(contains(std::string(f.explain()), " with 0 changes of a kernel's operands\n"));

  auto one = tt::compile([](const Tensor& x) { return tt::tanh(x) * x; }, replayed);
  const Counts before;
  for (int call = 0; call < 3; ++call) CHECK(same_bits(one(gq).cpu(), tt::tanh(q) * q));
  if (counts) CHECK(Counts().graph_launches == before.graph_launches);
  CHECK(contains(std::string(one.explain()), "0 of 3 runs replayed as a CUDA graph, with 0 changes of a kernel's operands (sizes must return, kernels be two or more, and none of them a library's)\n"));
  auto plain = tt::compile(attention);
  plain(gq, gk, gv);
  CHECK(!contains(std::string(plain.explain()), "replayed"));
}

TEST_CASE("a device that is lost in a graph stays lost") {  // the last case: nothing runs after it
  if (fake::is_real()) return;
  auto f = tt::compile(attention, replayed);
  const Tensor gq = values({7, 12}).cuda(), gk = values({12, 9}, 2).cuda(), gv = values({9, 5}, 3).cuda();
  for (int call = 0; call < 2; ++call) f(gq, gk, gv);
  {
    const fake::Setting fails("FAKE_CUDA_LAUNCH_FAILS", "1");
    const std::string m = message<tt::Error>([&] { f(gq, gk, gv); });
    CHECK(m.starts_with(old_driver ? "tt::cuda: cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED" : "tt::cuda: cuGraphLaunch failed: CUDA_ERROR_LAUNCH_FAILED"));
  }
  CHECK(message<tt::Error>([&] { f(gq, gk, gv); }) == "tt::cuda: device 0 was lost after an error on it. Start the process again.");
}
