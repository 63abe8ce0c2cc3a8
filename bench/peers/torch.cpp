// The rows of libtorch, in its own eager idiom: in-place optimizer steps, at::linear, at::layer_norm.
#include "torch.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace peers::torch {
namespace {

using at::Tensor;
using benchmark::State;

constexpr const char* modes[] = {"plain", "taped", "inference"};
constexpr std::int64_t cols = 256;

struct Inputs {
  Tensor one, other, row, ten, x, w, b;
  explicit Inputs(bool taped) {
    Tensor* all[] = {&one, &other, &row, &ten, &x, &w, &b};
    const std::vector<std::int64_t> shape[] = {{1}, {1}, {4}, {10}, {4, 4}, {4, 4}, {4}};
    for (int k = 0; k < 7; ++k) *all[k] = at::full(shape[k], 0.5).set_requires_grad(taped);
  }
};

template <class F>
void row(const std::string& name, F f) {
  benchmark::RegisterBenchmark((name + "/libtorch").c_str(), f);
}
template <class F>
void in_modes(const std::string& op, F f) {
  for (const char* mode : modes)
    row(op + '/' + mode, [=](State& state) {
      std::optional<c10::InferenceMode> inference;
      if (mode == modes[2]) inference.emplace();
      Inputs in(mode == modes[1]);
      for ([[maybe_unused]] auto _ : state) {
        Tensor y = f(in);
        benchmark::DoNotOptimize(y);
      }
    });
}
template <class F>
void plain(const std::string& name, F make) {
  row(name, [=](State& state) {
    auto work = make();
    work();
    for ([[maybe_unused]] auto _ : state) {
      work();
      benchmark::ClobberMemory();
    }
  });
}
Tensor random(at::IntArrayRef shape) { return at::rand(shape).mul_(3).sub_(1.5); }

Tensor chain_of(int n, const Tensor& x, const Tensor& factor) {
  Tensor y = x;
  for (int k = 0; k < n; ++k) y = y * factor;
  return y;
}
void long_chain(const char* part) {
  row(std::string("chain of 10^6/") + part, [=](State& state) {
    const std::string p = part;
    for ([[maybe_unused]] auto _ : state) {
      state.PauseTiming();
      const Tensor x = at::ones({1}).set_requires_grad(true), factor = at::ones({1});
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

struct Trainer {
  std::vector<Tensor> p, m, v;
  Tensor images, labels;
  double steps = 0;

  explicit Trainer(const Network& n) {
    for (int k = 0; k < 3; ++k) {
      const std::int64_t in = n.width[k], out = n.width[k + 1];
      p.push_back(at::from_blob(const_cast<float*>(n.parameter[2 * k]), {in, out}).t().contiguous());
      p.push_back(at::from_blob(const_cast<float*>(n.parameter[2 * k + 1]), {out}).clone());
    }
    for (Tensor& t : p) {
      m.push_back(at::zeros_like(t));
      v.push_back(at::zeros_like(t));
      t.set_requires_grad(true);
    }
    images = at::from_blob(const_cast<float*>(n.images), {n.batch, n.width[0]}).clone();
    labels = at::from_blob(const_cast<std::int64_t*>(n.labels), {n.batch}, at::kLong).clone();
  }
  Tensor forward() const {
    Tensor h = images;
    for (std::size_t k = 0; k < 3; ++k) {
      h = at::linear(h, p[2 * k], p[2 * k + 1]);
      if (k < 2) h = at::relu(h);
    }
    return h;
  }
  Tensor loss_and_gradients() {
    for (Tensor& t : p) t.mutable_grad() = Tensor();
    Tensor loss = at::cross_entropy_loss(forward(), labels);
    loss.backward();
    return loss;
  }
  float sgd() {
    const Tensor loss = loss_and_gradients();
    const c10::AutoGradMode off(false);
    for (Tensor& t : p) t.add_(t.grad(), -sgd_rate);
    return loss.item<float>();
  }
  float adam() {
    const Tensor loss = loss_and_gradients();
    const c10::AutoGradMode off(false);
    ++steps;
    const double first = 1 - std::pow(beta1, steps), second = 1 - std::pow(beta2, steps);
    for (std::size_t k = 0; k < p.size(); ++k) {
      const Tensor& g = p[k].grad();
      m[k].mul_(beta1).add_(g, 1 - beta1);
      v[k].mul_(beta2).addcmul_(g, g, 1 - beta2);
      const Tensor divisor = v[k].sqrt().div_(std::sqrt(second)).add_(epsilon);
      p[k].addcdiv_(m[k], divisor, -adam_rate / first);
    }
    return loss.item<float>();
  }
};

}  // namespace

void one_thread() { at::set_num_threads(1); }

void eager_rows() {
  in_modes("empty", [](Inputs&) { return at::empty({1}); });
  in_modes("add", [](Inputs& in) { return in.one + in.other; });
  for (const char* mode : modes)
    row(std::string("add_/") + mode, [=](State& state) {
      std::optional<c10::InferenceMode> inference;
      if (mode == modes[2]) inference.emplace();
      Inputs in(mode == modes[1]);
      Tensor y = at::zeros({1});
      int k = 0;
      for ([[maybe_unused]] auto _ : state) {
        if (++k % 256 == 0) y = at::zeros({1});  // the tape would grow and grow
        y.add_(in.one);
        benchmark::ClobberMemory();
      }
    });
  in_modes("add number", [](Inputs& in) { return in.one + 1; });
  in_modes("view", [](Inputs& in) { return in.x.view({2, 8}); });
  in_modes("slice", [](Inputs& in) { return in.x.slice(0, 1, 3); });
  in_modes("select", [](Inputs& in) { return in.x.select(0, 1); });
  in_modes("matmul 4x4", [](Inputs& in) { return at::matmul(in.x, in.w); });
  in_modes("softmax 10", [](Inputs& in) { return at::softmax(in.ten, 0); });
  in_modes("Linear(4,4)", [](Inputs& in) { return at::linear(in.x, in.w, in.b); });
  plain("backward/100 *", [] {
    const Tensor x = at::ones({1}).set_requires_grad(true), factor = at::ones({1});
    return [y = chain_of(100, x, factor)] { y.backward({}, true); };
  });
  for (const char* part : {"forward", "backward", "destruction"}) long_chain(part);
}

void large_rows(std::int64_t n, const char* size) {
  const auto name = [&](const char* op) { return std::string(op) + '/' + size; };
  plain(name("add"), [n] { return [a = random({n}), b = random({n})] { return a + b; }; });
  plain(name("silu"), [n] { return [a = random({n})] { return at::silu(a); }; });
  plain(name("sum"), [n] { return [a = random({n})] { return a.sum(); }; });
  plain(name("softmax rows"), [n] { return [a = random({n / cols, cols})] { return at::softmax(a, 1); }; });
}

template <auto Way>
void training(const char* name, const Network& n) {
  plain(name, [n] {
    return [n, t = std::make_shared<Trainer>(n), left = Network::steps_of_a_run]() mutable {
      if (--left == 0) {
        t = std::make_shared<Trainer>(n);
        left = Network::steps_of_a_run;
      }
      return ((*t).*Way)();
    };
  });
}
void network_rows(const Network& n) {
  plain("network/forward", [n] {
    return [t = std::make_shared<Trainer>(n)] {
      const c10::AutoGradMode off(false);
      return t->forward();
    };
  });
  plain("network/forward taped", [n] { return [t = std::make_shared<Trainer>(n)] { return t->forward(); }; });
  training<&Trainer::sgd>("network/SGD step", n);
  training<&Trainer::adam>("network/Adam step", n);
}
void wide_network_rows() {
  plain("wide network/forward and backward", [] {
    std::vector<Tensor> p;
    for (int k = 0; k < 3; ++k) {
      const std::int64_t in = Network::wide[k], out = Network::wide[k + 1];
      p.push_back(random({out, in}) / std::sqrt(static_cast<double>(in)));
      p.push_back(at::zeros({out}));
    }
    for (Tensor& t : p) t = t.detach().set_requires_grad(true);
    return [p, x = random({Network::wide_batch, Network::wide[0]}), labels = at::zeros({Network::wide_batch}, at::kLong)]() mutable {
      for (Tensor& t : p) t.mutable_grad() = Tensor();
      Tensor h = at::relu(at::linear(x, p[0], p[1]));
      h = at::relu(at::linear(h, p[2], p[3]));
      const Tensor loss = at::cross_entropy_loss(at::linear(h, p[4], p[5]), labels);
      loss.backward();
      return loss;
    };
  });
}
float trained(const Network& n, bool adam, int steps) {
  Trainer t(n);
  float loss = 0;
  for (int k = 0; k < steps; ++k) loss = adam ? t.adam() : t.sgd();
  return loss;
}

void conv_rows(const Layer& l, const char* name, const float* images, const float* weights, const float* bias) {
  const auto copy = [](const float* from, at::IntArrayRef shape) { return at::from_blob(const_cast<float*>(from), shape).clone(); };
  const Tensor x = copy(images, {l.batch, l.in, l.size, l.size}), w = copy(weights, {l.out, l.in / l.groups, l.kernel, l.kernel}),
               b = copy(bias, {l.out});
  const auto forward = [l](const Tensor& images_, const Tensor& weights_, const Tensor& bias_) {
    Tensor y = at::conv2d(images_, weights_, bias_, {l.stride, l.stride}, {l.padding, l.padding}, {1, 1}, l.groups);
    return at::relu_(y);
  };
  row(std::string("relu(conv2d)/") + name, [=](State& state) {
    const c10::InferenceMode inference;
    for ([[maybe_unused]] auto _ : state) {
      Tensor y = forward(x, w, b);
      benchmark::DoNotOptimize(y);
    }
  });
  row(std::string("gradients/") + name, [=](State& state) {
    Tensor all[] = {x.clone().set_requires_grad(true), w.clone().set_requires_grad(true), b.clone().set_requires_grad(true)};
    for ([[maybe_unused]] auto _ : state) {
      for (Tensor& t : all) t.mutable_grad() = Tensor();
      forward(all[0], all[1], all[2]).sum().backward();
    }
  });
}

void elementwise_rows(std::int64_t n, const char* size) {
  const auto name = [&](const char* op) { return std::string(op) + '/' + size; };
  plain(name("tanh(a*b+c)"), [n] {
    return [a = random({n}), b = random({n}), c = random({n})] { return at::tanh(a * b + c); };
  });
  plain(name("chain of 15"), [n] {
    return [a = random({n}), b = random({n}), c = random({n})] {
      const Tensor u = a * b + c, l = at::log(1 + at::exp(0.5 * u)), q = (b + l) / (1 + at::exp(-(l * l)));
      return at::where(u > 0, q, 0.1 * q);
    };
  });
  plain(name("sum(a*b+c)"), [n] {
    return [a = random({n}), b = random({n}), c = random({n})] { return at::sum(a * b + c); };
  });
}
void tier_rows(std::int64_t n, const char* size) {
  elementwise_rows(n, size);
  const auto name = [&](const char* op) { return std::string(op) + '/' + size; };
  plain(name("softmax rows"), [n] { return [x = random({n / cols, cols})] { return at::softmax(x, 1); }; });
  plain(name("layernorm rows"), [n] {
    return [x = random({n / cols, cols}), scale = random({cols}), shift = random({cols})] {
      return at::layer_norm(x, {cols}, scale, shift, 1e-5);
    };
  });
}
void linear_rows(std::int64_t n, const char* size) {
  plain(std::string("relu(A@B+bias)/") + size, [n] {
    return [a = random({n, n}), b = random({n, n}), bias = random({n})] { return at::addmm(bias, a, b).relu_(); };
  });
}

}  // namespace peers::torch
