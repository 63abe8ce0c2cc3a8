// Tensors, op by op: what a call costs on one element, with the tape and without; steps of a small network;
// a tape of a million nodes; a call of a compiled function; large operands, where the kernels count. Against
// libtorch in the same program. The small networks of both train alike, or the program ends with 1.
//   bench_eager --benchmark_filter='^add'
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <tt/tt.hpp>

#include "measure.hpp"
#include "peers/torch.hpp"

namespace {

using benchmark::State;
using tt::Tensor;
using Network = peers::torch::Network;

Tensor random(const tt::IntList& shape, unsigned seed, float low = -1.5f, float high = 1.5f) {
  Tensor t = tt::empty(shape);
  bench::fill(t.elements<float>(), low, high, seed);
  return t;
}
template <class F>
void row(const std::string& name, const char* contender, F f) {
  benchmark::RegisterBenchmark((name + '/' + contender).c_str(), f);
}
/// Times work() after one call that nobody times; `make` gives it what it works on.
template <class F>
void plain(const std::string& name, F make, const char* contender = "tt") {
  row(name, contender, [=](State& state) {
    auto work = make();
    work();
    for ([[maybe_unused]] auto _ : state) {
      work();
      benchmark::ClobberMemory();
    }
  });
}

// ---- one call

constexpr const char* modes[] = {"plain", "taped", "inference"};

struct Inputs {
  Tensor one, other, row, ten, x, w, b;
  explicit Inputs(bool taped) {
    Tensor* all[] = {&one, &other, &row, &ten, &x, &w, &b};
    const tt::IntList shape[] = {{1}, {1}, {4}, {10}, {4, 4}, {4, 4}, {4}};
    for (int k = 0; k < 7; ++k) *all[k] = tt::full(shape[k], 0.5, {.requires_grad = taped});
  }
};
template <class F>
void in_modes(const std::string& op, F f) {
  for (const char* mode : modes)
    row(op + '/' + mode, "tt", [=](State& state) {
      std::optional<tt::InferenceMode> inference;
      if (mode == modes[2]) inference.emplace();
      Inputs in(mode == modes[1]);
      for ([[maybe_unused]] auto _ : state) {
        Tensor y = f(in);
        benchmark::DoNotOptimize(y);
      }
    });
}
Tensor chain_of(int n, const Tensor& x, const Tensor& factor) {
  Tensor y = x;
  for (int k = 0; k < n; ++k) y = y * factor;
  return y;
}
void long_chain(const char* part) {
  row(std::string("chain of 10^6/") + part, "tt", [=](State& state) {
    const std::string p = part;
    for ([[maybe_unused]] auto _ : state) {
      state.PauseTiming();
      const Tensor x = tt::ones({1}, {.requires_grad = true}), factor = tt::ones({1});
      if (p == "forward") state.ResumeTiming();
      Tensor y = chain_of(1000000, x, factor);
      if (p == "forward") state.PauseTiming();
      if (p == "backward") state.ResumeTiming();
      y.backward();
      if (p == "backward") state.PauseTiming();
      if (p == "destruction") state.ResumeTiming();
      y = Tensor();
      if (p != "destruction") state.ResumeTiming();
    }
  });
}
void calls() {
  in_modes("empty", [](Inputs&) { return tt::empty({1}); });
  in_modes("add", [](Inputs& in) { return in.one + in.other; });
  for (const char* mode : modes)
    row(std::string("add_/") + mode, "tt", [=](State& state) {
      std::optional<tt::InferenceMode> inference;
      if (mode == modes[2]) inference.emplace();
      Inputs in(mode == modes[1]);
      Tensor y = tt::zeros({1});
      int k = 0;
      for ([[maybe_unused]] auto _ : state) {
        if (++k % 256 == 0) y = tt::zeros({1});  // the tape would grow and grow
        y.add_(in.one);
        benchmark::ClobberMemory();
      }
    });
  in_modes("add number", [](Inputs& in) { return in.one + 1; });
  in_modes("view", [](Inputs& in) { return in.x.view({2, 8}); });
  in_modes("slice", [](Inputs& in) { return in.x.slice(0, 1, 3); });
  in_modes("select", [](Inputs& in) { return in.x.select(0, 1); });
  in_modes("matmul 4x4", [](Inputs& in) { return tt::matmul(in.x, in.w); });
  in_modes("softmax 10", [](Inputs& in) { return tt::softmax(in.ten, 0); });
  in_modes("Linear(4,4)", [](Inputs& in) { return tt::matmul(in.x, in.w) + in.b; });
  plain("backward/100 *", [] {
    const Tensor x = tt::ones({1}, {.requires_grad = true}), factor = tt::ones({1});
    return [y = chain_of(100, x, factor)] { y.backward(Tensor(), true); };
  });
  for (const char* part : {"forward", "backward", "destruction"}) long_chain(part);
}

// ---- large operands

void large(std::int64_t n, const char* size) {
  const auto name = [&](const char* op) { return std::string(op) + '/' + size; };
  plain(name("add"), [n] { return [a = random({n}, 1), b = random({n}, 2)] { return a + b; }; });
  plain(name("silu"), [n] { return [a = random({n}, 1)] { return tt::silu(a); }; });
  plain(name("sum"), [n] { return [a = random({n}, 1)] { return a.sum(); }; });
  plain(name("softmax rows"), [n] { return [a = random({n / 256, 256}, 1)] { return tt::softmax(a, 1); }; });
}

// ---- a network of three layers, 16-32-32-10, on a batch of 16: its steps as PyTorch users write them

template <class Kind>
struct Mlp {
  tt::leaf<Kind, float, 16, 32> w1;
  tt::leaf<Kind, float, 32> b1;
  tt::leaf<Kind, float, 32, 32> w2;
  tt::leaf<Kind, float, 32> b2;
  tt::leaf<Kind, float, 32, 10> w3;
  tt::leaf<Kind, float, 10> b3;
};
using Model = Mlp<tt::tensors>;

constexpr auto forward = [](auto m, auto x) {
  auto h = tt::relu(tt::matmul(x, m.w1) + m.b1);
  h = tt::relu(tt::matmul(h, m.w2) + m.b2);
  return tt::matmul(h, m.w3) + m.b3;
};
constexpr auto loss = [](auto m, auto x, auto labels) { return tt::cross_entropy(forward(m, x), labels); };
constexpr auto sgd = [](auto& model, auto x, auto labels) {
  auto [value, gradient] = tt::value_and_grad(loss)(model, x, labels);
  tt::for_each_member([](auto& w, auto& g) { w -= static_cast<float>(peers::torch::sgd_rate) * g; }, model, gradient);
  return value;
};
// rate and root are 1 / (1 - beta1^t) of the step t, and the root of 1 / (1 - beta2^t).
constexpr auto adam = [](auto& model, auto& mean, auto& square, auto x, auto labels, auto rate, auto root) {
  constexpr auto b1 = static_cast<float>(peers::torch::beta1), b2 = static_cast<float>(peers::torch::beta2),
                 epsilon = static_cast<float>(peers::torch::epsilon);
  auto [value, gradient] = tt::value_and_grad(loss)(model, x, labels);
  const auto update = [&](auto& w, auto& m, auto& v, auto& g) {
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * (g * g);
    w -= rate * m / (tt::sqrt(v) * root + epsilon);
  };
  tt::for_each_member(update, model, mean, square, gradient);
  return value;
};

struct Data {
  std::vector<float> value[6], images;
  std::vector<std::int64_t> labels;
  Network network{};
  Data() {
    const auto* width = Network::width;
    for (unsigned k = 0; k < 6; ++k) {
      const bool bias = k % 2;
      const std::int64_t in = width[k / 2], out = width[k / 2 + 1];
      value[k].resize(static_cast<std::size_t>(bias ? out : in * out));
      const float bound = bias ? 0 : 1 / std::sqrt(static_cast<float>(in));
      bench::fill(value[k], -bound, bound, k);
      network.parameter[k] = value[k].data();
    }
    images.resize(static_cast<std::size_t>(Network::batch * width[0]));
    bench::fill(images, -1, 1, 7);
    for (int i = 0; i < Network::batch; ++i) labels.push_back(i * 7 % width[3]);
    network.images = images.data();
    network.labels = labels.data();
  }
};
const Data& data() {
  static const Data kept;
  return kept;
}
struct Trainer {
  Model model, mean, square;
  Tensor images, labels, rate = tt::tensor(0.01f), root = tt::tensor(1.0f);
  double steps = 0;

  Trainer() {
    const Data& d = data();
    int k = 0;
    tt::for_each_member([&](Tensor& w, Tensor& m, Tensor& v) {
      const std::int64_t in = Network::width[k / 2], out = Network::width[k / 2 + 1];
      w = tt::from_span(std::span<const float>(d.value[k]), k % 2 ? tt::IntList{out} : tt::IntList{in, out});
      m = tt::zeros_like(w);
      v = tt::zeros_like(w);
      ++k;
    }, model, mean, square);
    images = tt::from_span(std::span<const float>(d.images), {Network::batch, Network::width[0]});
    labels = tt::from_span(std::span<const std::int64_t>(d.labels), {Network::batch});
  }
  template <class Step>
  float by_sgd(const Step& step) { return step(model, images, labels).template item<float>(); }
  template <class Step>
  float by_adam(const Step& step) {
    ++steps;
    const auto one = [](double x) { return static_cast<float>(x); };
    *rate.data_ptr<float>() = one(peers::torch::adam_rate / (1 - std::pow(peers::torch::beta1, steps)));
    *root.data_ptr<float>() = one(1 / std::sqrt(1 - std::pow(peers::torch::beta2, steps)));
    return step(model, mean, square, images, labels, rate, root).template item<float>();
  }
};
const auto compiled_sgd = tt::compile(sgd, {.name = "sgd", .wait = true});
const auto compiled_adam = tt::compile(adam, {.name = "adam", .wait = true});
const auto compiled_forward = tt::compile(forward, {.name = "forward", .wait = true});

template <auto Way, class Step>
void training(const char* name, const Step& step, const char* contender = "tt") {
  plain(name, [&step] {
    return [&step, t = std::make_shared<Trainer>(), left = Network::steps_of_a_run]() mutable {
      if (--left == 0) {
        t = std::make_shared<Trainer>();
        left = Network::steps_of_a_run;
      }
      return ((*t).*Way)(step);
    };
  }, contender);
}
void network() {
  const auto trainer = [] { return std::make_shared<Trainer>(); };
  plain("network/forward", [=] { return [t = trainer()] { return forward(t->model, t->images); }; });
  plain("network/forward", [=] { return [t = trainer()] { return compiled_forward(t->model, t->images); }; }, "tt_compiled");
  plain("network/forward taped", [=] {
    const auto t = trainer();
    tt::for_each_member([](Tensor& w) { w.requires_grad_(); }, t->model);
    return [t] { return forward(t->model, t->images); };
  });
  training<&Trainer::by_sgd<decltype(sgd)>>("network/SGD step", sgd);
  training<&Trainer::by_sgd<decltype(compiled_sgd)>>("network/SGD step", compiled_sgd, "tt_compiled");
  training<&Trainer::by_adam<decltype(adam)>>("network/Adam step", adam);
  training<&Trainer::by_adam<decltype(compiled_adam)>>("network/Adam step", compiled_adam, "tt_compiled");
}
const auto compiled_loss = tt::compile(loss, {.name = "loss", .wait = true});

/// The same in wider layers, and the gradients alone: by the tape, one node an op or one for the whole.
struct Wide {
  Model model;
  Tensor images = random({Network::wide_batch, Network::wide[0]}, 7, -1, 1), labels = tt::zeros({Network::wide_batch}, {.dtype = tt::DType::i64});
  Wide() {
    unsigned k = 0;
    tt::for_each_member([&](Tensor& w) {
      const std::int64_t in = Network::wide[k / 2], out = Network::wide[k / 2 + 1];
      const float bound = k % 2 ? 0 : 1 / std::sqrt(static_cast<float>(in));
      w = random(k % 2 ? tt::IntList{out} : tt::IntList{in, out}, k, -bound, bound).requires_grad_();
      ++k;
    }, model);
  }
  template <class F>
  Tensor gradients(const F& f) {
    tt::for_each_member([](Tensor& w) { w.zero_grad(); }, model);
    const Tensor value = f(model, images, labels);
    value.backward();
    return value;
  }
};
void wide_network() {
  plain("wide network/forward and backward", [] { return [t = std::make_shared<Wide>()] { return t->gradients(loss); }; });
  plain("wide network/forward and backward", [] { return [t = std::make_shared<Wide>()] { return t->gradients(compiled_loss); }; }, "tt_compiled");
}
/// The losses after so many steps: ours with and without compile, and libtorch's.
bool trains_alike(bool by_adam, int steps) {
  Trainer eager, compiled;
  float a = 0, b = 0;
  for (int k = 0; k < steps; ++k) {
    a = by_adam ? eager.by_adam(adam) : eager.by_sgd(sgd);
    b = by_adam ? compiled.by_adam(compiled_adam) : compiled.by_sgd(compiled_sgd);
  }
  float c = a;
#if TT_BENCH_TORCH
  c = peers::torch::trained(data().network, by_adam, steps);
#endif
  std::fprintf(stderr, "%s, loss after %d steps: eager %.7f, compiled %.7f, libtorch %.7f\n", by_adam ? "Adam" : "SGD", steps,
               static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
  return a == b && std::abs(a - c) < 1e-4f;
}

// ---- a compiled function called: what is computed is next to nothing

template <std::size_t... I>
auto sum_of(std::index_sequence<I...>) {
  return tt::compile([](std::conditional_t<true, Tensor, std::integral_constant<std::size_t, I>>... x) { return (x + ...); },
                     {.name = "sum_of", .wait = true});
}
template <std::size_t N>
void compiled_call() {
  plain("compiled call/" + std::to_string(N), [] {
    return [f = sum_of(std::make_index_sequence<N>()), x = std::vector<Tensor>(N, Tensor())]() mutable {
      for (std::size_t k = 0; k < N; ++k)
        if (!x[k].defined()) x[k] = tt::ones({8});
      return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(x[I]...); }(std::make_index_sequence<N>());
    };
  });
}

/// With a graph break: the same steps are recorded at each call, and two segments run.
template <int N>
void broken_call() {
  static const auto f = tt::compile([](Tensor x) {
    Tensor y = x;
    for (int k = 0; k < N; ++k) y = y * x;
    return y.sum().item() > 0 ? y * 2 : y;
  }, {.name = "broken", .wait = true});
  plain("graph break/" + std::to_string(N), [] { return [x = tt::ones({8})] { return f(x); }; });
}

}  // namespace

int main(int count, char** arguments) {
  tt::set_num_threads(1);
#if TT_BENCH_TORCH
  peers::torch::one_thread();
#endif
  if (!trains_alike(false, 100) || !trains_alike(true, 100)) {
    std::fprintf(stderr, "bench_eager: the networks train differently\n");
    return 1;
  }
  calls();
  network();
  wide_network();
  compiled_call<1>();
  compiled_call<4>();
  compiled_call<16>();
  broken_call<8>();
  broken_call<64>();
  large(bench::in_l3, "1M");
  large(bench::in_memory, "16M");
#if TT_BENCH_TORCH
  peers::torch::eager_rows();
  peers::torch::network_rows(data().network);
  peers::torch::wide_network_rows();
  peers::torch::large_rows(bench::in_l3, "1M");
  peers::torch::large_rows(bench::in_memory, "16M");
#else
  std::fprintf(stderr, "bench_eager: SKIPPED the rows of libtorch: not part of this build\n");
#endif
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
