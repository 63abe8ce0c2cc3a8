// A new chip, from outside: a simulated NPU with memory, a command queue and an instruction set of its own, made a device of the library's
// by this folder alone. Shows that its results are the CPU's to the last bit, and trains the digits network on it. Prints what was
// copied, run by its own kernels, assembled, and left to the CPU. docs/new_backend.md goes through it step by step.
//   new_backend --epochs 3
// Ends with 1 if a result, a gradient or a loss differs from the CPU's, or if something ran elsewhere than it should.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../common/random.hpp"
#include "../digits/csv.hpp"
#include "device.hpp"

namespace {

using digits::Digits, digits::classes, digits::pixels;
using tt::Tensor;

int failures = 0;
void require(bool holds, const std::string& otherwise) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "new_backend: %s\n", otherwise.c_str());
}
bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  if (x.dtype() != y.dtype() || !(x.impl().shape == y.impl().shape)) return false;
  const auto bytes = static_cast<std::size_t>(x.numel()) * static_cast<std::size_t>(tt::size_of(x.dtype()));
  return bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0;
}

/// What a piece of the program made the chip, and the CPU in its place, do.
struct Work {
  std::int64_t native = 0, runs = 0, kernels = 0, programs = 0, in = 0, out = 0;
  long long fallbacks = 0;
};
Work so_far(tt::Device device) {
  const npu::Counts& c = npu::Chip::get().counts;
  const npu::CopyCounts& copies = npu::Chip::get().arena.copies;
  return {c.native, c.runs, c.kernels, c.programs, copies.to_device, copies.from_device, tt::cpu_fallback_calls(device)};
}
Work since(const Work& before, tt::Device device) {
  const Work now = so_far(device);
  return {now.native - before.native, now.runs - before.runs, now.kernels - before.kernels, now.programs - before.programs, now.in - before.in,
          now.out - before.out, now.fallbacks - before.fallbacks};
}

// ---- single ops: where they run, and that their bits are the CPU's

enum class Runs { native, assembled, on_chip, on_cpu };
/// `f` on Tensors of the CPU and on copies of them on the device.
template <class F>
void check(const char* what, tt::Device device, Runs where, const F& f, const std::vector<Tensor>& x) {
  std::vector<Tensor> there;
  for (const Tensor& t : x) there.push_back(t.to(device));
  const Tensor expected = f(x);
  const Work before = so_far(device);
  const Tensor got = f(there);
  const Work work = since(before, device);
  require(got.device() == device, std::string(what) + ": the result is not on the device");
  require(same_bits(got, expected), std::string(what) + ": the bits are not the CPU's");
  const bool right = where == Runs::native ? work.native > 0 && work.fallbacks == 0
                     : where == Runs::assembled ? work.runs > 0 && work.native == 0 && work.fallbacks == 0
                     : where == Runs::on_chip ? work.runs > 0 && work.fallbacks == 0 : work.fallbacks > 0;
  require(right, std::string(what) + ": ran elsewhere: " + std::to_string(work.native) + " native, " + std::to_string(work.runs) + " assembled, " +
                     std::to_string(work.fallbacks) + " on the CPU");
}
using List = std::vector<Tensor>;

void check_ops(tt::Device npu) {
  const Tensor a = tt::randn({13, 40}, 1), b = tt::randn({13, 40}, 2), row = tt::randn({40}, 3), w = tt::randn({40, 7}, 4);
  const Tensor whole = tt::arange(24).reshape({2, 3, 4}), rows = tt::tensor({5, 0, 5});
  // [check]
  check("add", npu, Runs::native, [](const List& x) { return x[0] + x[1]; }, {a, b});
  check("sub", npu, Runs::native, [](const List& x) { return x[0] - x[1]; }, {a, b});
  check("mul", npu, Runs::native, [](const List& x) { return x[0] * x[1]; }, {a, b});
  check("relu", npu, Runs::native, [](const List& x) { return tt::relu(x[0]); }, {a});
  check("matmul", npu, Runs::native, [](const List& x) { return tt::matmul(x[0], x[1]); }, {a, w});
  check("a row beside a matrix", npu, Runs::assembled, [](const List& x) { return x[0] + x[1]; }, {a, row});
  check("numbers", npu, Runs::assembled, [](const List& x) { return (x[0] * 2 - 1) / 3; }, {a});
  check("gelu", npu, Runs::assembled, [](const List& x) { return tt::gelu(x[0]); }, {a});
  check("softmax", npu, Runs::assembled, [](const List& x) { return tt::softmax(x[0], 1); }, {a});
  check("index_select", npu, Runs::on_cpu, [](const List& x) { return x[0].index_select(0, x[1]); }, {a, rows});
  check("f64", npu, Runs::on_cpu, [](const List& x) { return tt::exp(x[0].to(tt::DType::f64)); }, {a});
  // [/check]
  check("exp and log", npu, Runs::assembled, [](const List& x) { return tt::log(tt::exp(x[0]) + 1); }, {a});
  check("sin, whose body has f64", npu, Runs::on_cpu, [](const List& x) { return tt::sin(x[0]); }, {a});
  check("a strided operand on the CPU", npu, Runs::on_cpu, [](const List& x) { return tt::sin(x[0].t().slice(0, 3, 30, 2)); }, {a});
  check("a transposed operand", npu, Runs::assembled, [](const List& x) { return tt::exp(x[0].t()); }, {a});
  check("a product of a transposed one", npu, Runs::assembled, [](const List& x) { return tt::matmul(x[0].t(), x[1]); }, {a, b});
  check("products in batches", npu, Runs::assembled, [](const List& x) { return tt::matmul(x[0].reshape({13, 8, 5}), x[1].reshape({1, 5, 8})); }, {a, row});
  check("sums of columns", npu, Runs::assembled, [](const List& x) { return x[0].sum({0}); }, {a});
  check("the largest", npu, Runs::assembled, [](const List& x) { return tt::amax(x[0], 1, true) + x[0].slice(1, 2, 30, 3); }, {a});
  check("layer_norm", npu, Runs::assembled, [](const List& x) { return tt::layer_norm(x[0], {40}, x[1]); }, {a, row});
  check("whole numbers", npu, Runs::assembled, [](const List& x) { return (x[0] * 3 - 7).sum({1}); }, {whole});
  check("comparisons", npu, Runs::assembled, [](const List& x) { return tt::where(x[0] > x[1], x[0], 0.5); }, {a, b});
  check("pad", npu, Runs::assembled, [](const List& x) { return tt::pad(tt::tanh(x[0]), {1, 2, 0, 3}, tt::PadMode::constant, 2.5); }, {a});
  check("conv2d", npu, Runs::assembled, [](const List& x) { return tt::conv2d(x[0].reshape({2, 1, 13, 20}), x[1].slice(0, 0, 36, 1).reshape({4, 1, 3, 3})); }, {a, row});
  check("cat", npu, Runs::assembled, [](const List& x) { return tt::cat({x[0], x[1] * 2 + 1}, 0); }, {a, b});
  check("empty", npu, Runs::assembled, [](const List& x) { return tt::exp(x[0].slice(0, 0, 0, 1)); }, {a});
}

/// In place, through views, element by element; what is wrong is said with the device's name.
void check_uses(tt::Device npu) {
  Tensor x = tt::arange(12).to(tt::DType::f32).reshape({3, 4}), y = x.to("npu");
  for (Tensor* t : {&x, &y}) {
    *t += 1;
    t->select(1, 2).copy_(tt::zeros({3}, {.device = t->device()}));
    t->slice(0, 1, 3).mul_(2);
  }
  require(same_bits(x, y), "changes in place differ");
  require(y[1][0].item() == 10 && y.device() == npu && tt::to_text(y.device()) == "npu:0", "a Tensor does not know its device");
  require(tt::call("add", {y, y}).device() == npu && tt::call("zeros", {tt::IntList{2}}, {{"device", "npu"}}).device() == npu, "calls by name");
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const tt::Exception& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  const auto says = [&](const std::string& part, const std::string& text) {
    require(text.find(part) != std::string::npos, "expected \"" + part + "\" in \"" + text + '"');
  };
  says("different devices: cpu and npu", message([&] { (void)(x + y); }));
  says("there is no device 'tpu'; there are cpu cuda meta private_use1 private_use2 private_use3 npu", message([&] { (void)x.to("tpu"); }));
  says("there is a device 'npu' already", message([&] { tt::register_device("npu"); }));
  says("'N P U' is no name", message([&] { tt::register_device("N P U"); }));
  says("there is no chip 1", message([&] { (void)x.to("npu:1"); }));
  says("npu: not enough memory", message([&] { (void)tt::empty({1 << 25}, {.device = "npu"}); }));
  tt::set_cpu_fallback(npu, false);
  says("tt::index_select: has no kernel for Tensors on npu", message([&] { (void)y.index_select(0, tt::tensor({1}).to(npu)); }));
  says("no program for device npu", message([&] { (void)tt::exp(y.to(tt::DType::f64)); }));
  tt::set_cpu_fallback(npu);
}

/// The same memory and queue as other devices: with the CPU for every op, and as many as there are keys.
void check_more_devices() {
  const Tensor x = tt::randn({3, 4}, 21);
  // [plain]
  const tt::Device plain = tt::register_device("plain_npu", &npu::api);
  tt::set_cpu_fallback(plain);
  const auto f = [](const Tensor& a) { return (tt::softmax(a.t(), 1) * 3).sum(); };
  const auto [value, gradient] = tt::value_and_grad(f)(x.to(plain));  // each op, and each step of backward, on copies
  // [/plain]
  const long long calls = tt::cpu_fallback_calls(plain);
  const auto [expected, of_cpu] = tt::value_and_grad(f)(x);
  require(same_bits(value, expected) && same_bits(gradient, of_cpu) && gradient.device() == plain, "a device without programs");
  require(calls >= 6, "a device without programs ran " + std::to_string(calls) + " ops on the CPU");
  require(same_bits(tt::compile(f)(x.to(plain)), expected) && tt::cpu_fallback_calls(plain) == calls + 1, "a compiled function is one call of the CPU");
  // [many]
  int more = 0;
  try {
    for (; more < tt::most_devices; ++more) tt::register_device(("chip_" + std::to_string(more)).c_str());
  } catch (const tt::Error&) {  // all keys of a KeySet are taken
  }
  require(more == tt::most_devices - tt::named_devices - 2, "devices by name: " + std::to_string(more));
  // [/many]
}

/// Compiled functions: one program for all sizes, a branch on elements, memory of arguments taken over.
void check_compiled(tt::Device npu) {
  const Tensor a = tt::randn({13, 40}, 31), b = tt::randn({13, 40}, 32);
  const auto sizes = tt::compile([](const Tensor& x) { return tt::softmax(x * 2, 1).sum({0}, true); });
  check("compiled, of any size", npu, Runs::assembled, [&](const List& x) {
    Tensor all = sizes(x[0]);
    for (const int n : {3, 4, 7}) all = tt::cat({all, sizes(x[0].slice(0, 0, n))}, 0);
    return all;
  }, {a});
  require(sizes.captures() <= 3, "a capture for each size: " + std::to_string(sizes.captures()));  // the CPU's, the device's
  const auto branch = tt::compile([](const Tensor& x) { return x.sum().item() > 0 ? tt::exp(x) : tt::exp(-x); });
  check("compiled, with a branch on elements", npu, Runs::assembled, [&](const List& x) { return branch(x[0].abs()); }, {a});
  const auto updates = tt::compile([](Tensor& p, Tensor& q) {
    p = p * 2 - q;
    q = p.t().exp().t();
    return (p * q).sum();
  });
  check("compiled, in place", npu, Runs::on_chip, [&](const List& x) {
    Tensor p = x[0].clone(), q = x[1].clone();
    const Tensor value = updates(p, q);
    return tt::cat({p.flatten(), q.flatten(), value.reshape({1})}, 0);
  }, {a, b});
}

/// Two streams: what one makes the other reads behind an event.
void check_streams(tt::Device npu) {
  npu::Queue& queue = npu::Chip::get().queue;
  const int side = queue.make_stream();
  // [streams]
  const Tensor x = tt::randn({64, 64}, 7).to(npu);
  npu::Event made;
  Tensor y;
  {
    queue.wait(side, queue.record(npu::stream));  // x has come
    const npu::StreamGuard guard(side);
    y = tt::matmul(x, x);
    made = queue.record(side);
  }
  queue.wait(npu::stream, made);
  const Tensor z = y + x;  // on the first stream again
  require(same_bits(z, tt::matmul(x.cpu(), x.cpu()) + x.cpu()), "two streams");
  require(npu::Queue::has_come(made), "an event has not come though what waited for it ran");
  // [/streams]
}

/// The tape on the device: gradients, and gradients of gradients.
void check_gradients(tt::Device npu) {
  // [gradients]
  const auto f = [](const Tensor& x, const Tensor& w) { return (tt::softmax(tt::matmul(tt::gelu(x), w), 1) * x.slice(1, 0, 5)).sum(); };
  const Tensor x = tt::randn({6, 8}, 11), w = tt::randn({8, 5}, 12);
  const auto [value, gradient] = tt::value_and_grad<0, 1>(f)(x, w);
  const auto [there, gradient_there] = tt::value_and_grad<0, 1>(f)(x.to(npu), w.to(npu));
  // [/gradients]
  require(same_bits(value, there), "the value of a function on the tape");
  require(same_bits(std::get<0>(gradient), std::get<0>(gradient_there)) && same_bits(std::get<1>(gradient), std::get<1>(gradient_there)), "gradients");
  require(std::get<0>(gradient_there).device() == npu, "a gradient is not on the device");
  const auto check_gradients_of = [&](const char* what, const auto& g, const List& given) {
    check(what, npu, Runs::on_chip, [&](const List& list) {
      List leaves, flat;
      for (const Tensor& t : list) leaves.push_back(t.detach().clone().requires_grad_());
      g(leaves).sum().backward();
      for (const Tensor& t : leaves) flat.push_back(t.grad().flatten());
      return tt::cat(flat, 0);
    }, given);
  };
  check_gradients_of("gradients of conv2d", [](const List& l) { return tt::tanh(tt::conv2d(l[0], l[1], l[2], {.stride = {2, 1}, .padding = {1, 2}})); },
                     {tt::randn({2, 3, 11, 9}, 13), tt::randn({4, 3, 3, 3}, 14), tt::randn({4}, 15)});
  check_gradients_of("gradients of attention", [](const List& l) {
    const auto heads = [](const Tensor& t) { return t.reshape({1, 13, 4, 10}).permute({0, 2, 1, 3}); };
    return tt::matmul(tt::softmax(tt::matmul(heads(l[0]), heads(l[1]).transpose(-1, -2)) / 3.0, -1), heads(l[1]));
  }, {tt::randn({13, 40}, 16), tt::randn({13, 40}, 17)});
  check_gradients_of("gradients of pads, slices and the largest", [](const List& l) {
    return tt::pad(l[0], {1, 2, 3, 4}) * tt::amax(tt::pad(l[0], {2, 1, 4, 3}), 1, true);
  }, {tt::randn({7, 9}, 18)});
  const auto second = tt::grad([](const Tensor& a) { return tt::grad([](const Tensor& b) { return tt::tanh(b * b).sum(); })(a).sum(); });
  require(same_bits(second(x), second(x.to(npu))), "second derivatives");
  Tensor leaf = x.to(npu);
  leaf.requires_grad_();
  (leaf.to(tt::DType::f64).exp().sum()).backward();  // through what only the CPU can
  require(same_bits(leaf.grad(), (x.to(tt::DType::f64).exp()).to(tt::DType::f32)), "a gradient through a fallback");
}

// ---- the digits network

template <class Kind>
struct Mlp {
  tt::leaf<Kind, float, pixels, 32> w1;
  tt::leaf<Kind, float, 32> b1;
  tt::leaf<Kind, float, 32, classes> w2;
  tt::leaf<Kind, float, classes> b2;
};
using Model = Mlp<tt::tensors>;

// [training]
constexpr auto loss = [](const auto& model, const auto& images, const auto& labels) {
  const auto h = tt::tanh(tt::matmul(images, model.w1) + model.b1);
  return tt::cross_entropy(tt::matmul(h, model.w2) + model.b2, labels);
};
constexpr auto sgd_step = [](auto& model, auto& velocity, const auto& images, const auto& labels, const auto& rate) {
  auto [value, gradient] = tt::value_and_grad(loss)(model, images, labels);
  const auto update = [&](auto& w, auto& v, auto& g) {
    v = 0.9f * v + g;
    w -= rate * v;
  };
  tt::for_each_member(update, model, velocity, gradient);
  return value;
};
// [/training]

constexpr int batch = 64;
struct Batches {
  std::vector<Tensor> images, labels;
  explicit Batches(const Digits& all) {
    for (int first = 0; first + batch <= all.count(); first += batch) {
      Tensor x = tt::empty({batch, pixels}), y = tt::empty({batch}, {.dtype = tt::DType::i64});
      float* ink = x.data_ptr<float>();
      std::int64_t* label = y.data_ptr<std::int64_t>();
      for (int k = 0; k < batch; ++k) {
        for (int p = 0; p < pixels; ++p) *ink++ = static_cast<float>(all.image_at(first + k)[p]) / digits::darkest;
        *label++ = all.label_at(first + k);
      }
      images.push_back(x);
      labels.push_back(y);
    }
  }
};
Model first_weights() {
  Model m{tt::rand({pixels, 32}, 1), tt::zeros({32}), tt::rand({32, classes}, 2), tt::zeros({classes})};
  m.w1 = (m.w1 * 2 - 1) * 0.125f;
  m.w2 = (m.w2 * 2 - 1) * 0.17f;
  return m;
}

struct Run {
  const char* path;
  std::vector<float> losses;
  Work work;  ///< of the last step
};
template <class Step>
Run train(const char* path, const Step& step, tt::Device device, const Batches& data, int epochs) {
  Model model = first_weights(), velocity;
  tt::for_each_member([&](Tensor& w, Tensor& v) {
    w = w.to(device);
    v = tt::zeros_like(w);
  }, model, velocity);
  Run run{path, {}, {}};
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (std::size_t k = 0; k < data.images.size(); ++k) {
      const Work before = so_far(device);
      const float rate = 0.1f * (1 - static_cast<float>(epoch) / static_cast<float>(epochs));
      const Tensor value = step(model, velocity, data.images[k].to(device), data.labels[k].to(device), tt::tensor(rate));
      run.losses.push_back(value.item<float>());
      run.work = since(before, device);
    }
  return run;
}

bool train_digits(tt::Device npu, const std::string& file, int epochs) {
  const Batches data(digits::read_digits(file));
  // [runs]
  const auto compiled = tt::compile(sgd_step, {.name = "sgd_step"});
  const std::vector<Run> runs = {train("cpu, eager", sgd_step, {}, data, epochs), train("npu, eager", sgd_step, npu, data, epochs),
                                 train("npu, compiled", compiled, npu, data, epochs)};
  // [/runs]
  std::printf("  %d steps of %d digits   first loss   last loss   copies in, out   native ops   assembled runs, kernels   on the CPU\n",
              static_cast<int>(runs[0].losses.size()), batch);
  for (const Run& r : runs) {
    std::printf("  %-22s   %10.7f  %10.7f   %9lld, %-3lld   %10lld   %14lld, %-7lld   %10lld\n", r.path, static_cast<double>(r.losses.front()),
                static_cast<double>(r.losses.back()), static_cast<long long>(r.work.in), static_cast<long long>(r.work.out),
                static_cast<long long>(r.work.native), static_cast<long long>(r.work.runs), static_cast<long long>(r.work.kernels), r.work.fallbacks);
    require(r.losses == runs[0].losses, std::string(r.path) + ": other losses than the CPU's");
  }
  std::printf("  losses are the CPU's bit for bit; what stands behind them is of one step\n\n");
  require(runs[0].losses.back() < 0.5f * runs[0].losses.front(), "nothing was learnt");
  require(runs[1].work.native > 0 && runs[2].work.runs > 0 && runs[2].work.fallbacks == 0, "a step did not run where it should");
  require(std::string(compiled.explain()).find("npu: ") != std::string::npos, "explain() does not say what the device ran");
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const int epochs = count == 3 && std::strcmp(arguments[1], "--epochs") == 0 ? std::atoi(arguments[2]) : 3;
  try {
    const tt::Device npu = npu::attach();
    check_ops(npu);
    check_uses(npu);
    check_more_devices();
    check_compiled(npu);
    check_streams(npu);
    check_gradients(npu);
    train_digits(npu, std::string(TT_EXAMPLES_DIR) + "/data/digits.csv", epochs);

    npu::Chip& chip = npu::Chip::get();
    chip.queue.synchronize();
    std::printf("  in all: %lld copies to the chip (%lld bytes), %lld from it (%lld), %lld on it; %lld commands\n",
                static_cast<long long>(chip.arena.copies.to_device), static_cast<long long>(chip.arena.copies.bytes_in),
                static_cast<long long>(chip.arena.copies.from_device), static_cast<long long>(chip.arena.copies.bytes_out),
                static_cast<long long>(chip.arena.copies.inside), static_cast<long long>(chip.queue.commands()));
    std::printf("  native ops %lld; %lld programs assembled, %lld graphs refused; %lld runs of %lld kernels\n", static_cast<long long>(chip.counts.native),
                static_cast<long long>(chip.counts.programs), static_cast<long long>(chip.counts.refused), static_cast<long long>(chip.counts.runs),
                static_cast<long long>(chip.counts.kernels));
    std::printf("  left to the CPU:");
    for (const tt::CpuFallback& f : tt::cpu_fallbacks(npu)) std::printf(" %s %lld", f.name, f.calls);
    std::printf("\n  memory in use at the end: %lld of %lld bytes, at most %lld\n", static_cast<long long>(chip.arena.stats().allocated),
                static_cast<long long>(chip.arena.stats().reserved), static_cast<long long>(chip.arena.stats().peak));
    const std::string& text = chip.longest_listing;
    std::printf("  the longest kernel, %zu instructions, begins:\n%.*s  ...\n", chip.longest, static_cast<int>(text.find('\n', 400)) + 1, text.c_str());
    require(chip.arena.stats().allocated == 0, "memory of the chip was not given back");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "new_backend: %s\n", error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
