// Learns to read handwritten digits: 64 pixels, 32 hidden units, 10 classes. The whole training
// step (model, loss, all gradients, SGD with momentum) is one plan of a few fused kernels, made by
// the compiler. The same text then trains eagerly and compiled at run time, with the same losses to the
// last bit, and on a CUDA device if there is one. Prints a table, writes digits_out/digits.svg, the weights to weights.npz and .npy files and the graph
// of the step to graph.dot, as graph.svg too where Graphviz is installed.
//   digits --epochs 40
// Ends with 1 if fewer than 95 % of unseen digits are read right, if a static step takes memory from
// the heap, or if the paths differ.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>
#include <tt/io/parameters.hpp>
#include <tt/tt.hpp>

#include "../common/graph_picture.hpp"
#include "../common/random.hpp"
#include "../common/training.hpp"
#include "allocations.hpp"
#include "csv.hpp"
#include "options.hpp"
#include "picture.hpp"

namespace {

using digits::Digits, digits::classes, digits::pixels;
using examples::Random, examples::median;
constexpr int hidden = 32, batch = 64;

// ---- the model and its training step

template <class Kind>
struct Mlp {
  tt::leaf<Kind, float, pixels, hidden> w1;
  tt::leaf<Kind, float, hidden> b1;
  tt::leaf<Kind, float, hidden, classes> w2;
  tt::leaf<Kind, float, classes> b2;
};

constexpr auto logits = [](auto model, auto images) {
  auto h = tt::tanh(tt::matmul(images, model.w1) + model.b1);
  return tt::matmul(h, model.w2) + model.b2;
};

constexpr auto loss = [](auto model, auto images, auto labels) {
  return tt::cross_entropy(logits(model, images), labels);
};

constexpr auto sgd_step = [](auto& model, auto& velocity, auto images, auto labels, auto rate) {
  auto [value, gradient] = tt::value_and_grad(loss)(model, images, labels);
  const auto update = [&](auto& w, auto& v, auto& g) {
    v = 0.9f * v + g;
    w -= rate * v;
  };
  tt::for_each_member(update, model, velocity, gradient);
  return value;
};

constexpr auto most_likely = [](auto model, auto images) {
  return tt::argmax<1>(logits(model, images));
};

constexpr auto step = tt::fuse(sgd_step);
constexpr auto predict = tt::fuse(most_likely);

using Model = Mlp<tt::arrays>;
using Images = tt::Array<float, batch, pixels>;
using Labels = tt::Array<std::int64_t, batch>;

constexpr int kernels = tt::kernels<Model, Model, Images, Labels, float>(step);
static_assert(kernels <= 12);
using Step = decltype(step)::ProgramFor<Model, Model, Images, Labels, float>;
constexpr std::int64_t arena = tt::Compiled<Step>::plan.arena;

// ---- weights and digits

/// Uniform within 1 / sqrt(fan_in); biases begin at zero.
Model first_weights(Random& random) {
  Model model;
  const auto fill = [&](auto& w) {
    const double bound = 1 / std::sqrt(static_cast<double>(w.extent(0)));
    for (float& x : w) x = static_cast<float>((2 * random() - 1) * bound);
  };
  fill(model.w1);
  fill(model.w2);
  return model;
}

/// Writes the images of the given numbers one after the other; ink is 1, paper 0.
void copy_images(float* out, const Digits& from, std::span<const int> which) {
  const auto unit = [](int ink) { return static_cast<float>(ink) / digits::darkest; };
  for (const int k : which) out = std::transform(from.image_at(k), from.image_at(k + 1), out, unit);
}

/// Unseen digits, and how they are read.
struct Test {
  Digits unseen;
  tt::Array<float, tt::dyn, pixels> images;

  explicit Test(Digits d) : unseen(std::move(d)), images(unseen.count()) {
    copy_images(images.data(), unseen, examples::first_numbers(unseen.count()));
  }
  std::vector<int> read_by(const Model& model) const {
    const tt::Array<std::int64_t, tt::dyn> read = predict(model, images);
    return {read.begin(), read.end()};
  }
  int right_in(const std::vector<int>& read) const {
    int right = 0;
    for (int k = 0; k < unseen.count(); ++k) right += read.data()[k] == unseen.label_at(k);
    return right;
  }
  double percent(int right) const { return 100.0 * right / unseen.count(); }
};

// ---- training

struct Run {
  const char* path = "";
  int kernels = 0;                   ///< of a step; eager: kernels dispatched
  Model model;
  digits::History history;
  std::vector<double> microseconds;  ///< of every step
  long allocations = 0;              ///< in all steps but the first, which takes the arena
  // Of the compiled paths:
  std::vector<double> timeline;      ///< of every step, also those of a long run
  std::int64_t interpreted = 0;      ///< the first of these, before the compiled kernels came
  std::int64_t fallbacks = 0, compiler_milliseconds = 0;
};

void show_progress(const digits::History& h, int epochs) {
  char text[100];
  std::snprintf(text, sizeof text, "epoch %d of %d   loss %.4f   test accuracy %.1f %%", h.epochs(), epochs, h.loss.back(), h.accuracy.back());
  examples::show_progress(h.epochs(), epochs, text);
}

/// The step compiled with the program.
struct StaticPath {
  static constexpr const char* name = "static";
  Model& model;
  Model velocity{};
  float step(Images& images, Labels& labels, float rate) { return ::step(model, velocity, images, labels, rate); }
  int kernels() const { return ::kernels; }
};
/// The same text on Tensors, which share the elements of the Arrays: op by op with the tape ...
struct TensorPath {
  Mlp<tt::tensors> model, velocity;
  explicit TensorPath(Model& m) {
    tt::for_each_member([](tt::Tensor& t, tt::Tensor& v, auto& a) {
      t = tt::as_tensor(a);
      v = tt::zeros_like(t);
    }, model, velocity, m);
  }
};
struct EagerPath : TensorPath {
  static constexpr const char* name = "eager";
  std::int64_t dispatched = 0;
  using TensorPath::TensorPath;
  float step(Images& images, Labels& labels, float rate) {
    const std::int64_t before = tt::Dispatcher::dispatches();
    const tt::Tensor value = sgd_step(model, velocity, tt::as_tensor(images), tt::as_tensor(labels), tt::tensor(rate));
    dispatched = tt::Dispatcher::dispatches() - before;
    return value.item<float>();
  }
  int kernels() const { return static_cast<int>(dispatched); }
};
template <class F>
double microseconds_of(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}
/// ... and captured once, then run as fused kernels: interpreted at first, compiled ones as soon as the
/// compiler in the background has made them.
struct CompiledPath : TensorPath {
  static constexpr const char* name = "compiled";
  decltype(tt::compile(sgd_step)) compiled = tt::compile(sgd_step, {.name = "sgd_step"});
  using TensorPath::TensorPath;
  float step(Images& images, Labels& labels, float rate) {
    return compiled(model, velocity, tt::as_tensor(images), tt::as_tensor(labels), tt::tensor(rate)).template item<float>();
  }
  int kernels() const { return compiled.kernels(); }
};
/// Goes on with a step that changes no weights until the compiled kernels have come, or will not, and ten times as long.
void run_on(CompiledPath& path, Images& images, Labels& labels, std::vector<double>& microseconds) {
  const auto some = [&](std::size_t steps) {
    for (std::size_t k = 0; k < steps; ++k) microseconds.push_back(microseconds_of([&] { (void)path.step(images, labels, 0); }));
  };
  while (path.compiled.calls().tier1 == 0) {
    const bool over = tt::CodeCache::get().wait(0);
    some(20);
    if (over && path.compiled.calls().tier1 == 0) return;
  }
  some(10 * static_cast<std::size_t>(path.compiled.calls().tier0));
}
/// The same again, when the compiled kernels are there.
struct WarmPath : CompiledPath {
  static constexpr const char* name = "warm";
  explicit WarmPath(Model& m) : CompiledPath(m) { tt::CodeCache::get().wait(); }
};

/// The compiled path with everything on a device but the digits of a step, which are brought there. The
/// numbers are the CPU's to the last bit, or within the ulp that the device's functions are off.
struct CudaPath : CompiledPath {
  static constexpr const char* name = "cuda";
  Model& on_host;
  std::int64_t launched = 0;
  explicit CudaPath(Model& m) : CompiledPath(m), on_host(m) {
    tt::for_each_member([](tt::Tensor& t, tt::Tensor& v) {
      t = t.cuda();
      v = v.cuda();
    }, model, velocity);
  }
  float step(Images& images, Labels& labels, float rate) {
    const std::int64_t before = tt::cuda::launches();
    const tt::Tensor value = compiled(model, velocity, tt::as_tensor(images).cuda(), tt::as_tensor(labels).cuda(), tt::tensor(rate));
    launched = tt::cuda::launches() - before;
    return value.item<float>();
  }
  int kernels() const { return static_cast<int>(launched); }
  void bring_back() {
    tt::for_each_member([](tt::Tensor& t, auto& a) { tt::as_tensor(a).copy_(t); }, model, on_host);
  }
};

template <class Path>
Run train(const Digits& seen, const Test& test, int epochs, Random random) {
  Run run{.path = Path::name, .model = first_weights(random), .history = {}, .microseconds = {}, .timeline = {}};
  [[maybe_unused]] const std::int64_t compiler_before = tt::CodeCache::get().counters().milliseconds;
  Path path{run.model};
  constexpr bool quiet = !std::is_same_v<Path, StaticPath>;
  Images images;
  Labels labels;
  std::vector<int> order = examples::first_numbers(seen.count());
  const int steps = seen.count() / batch;  // what is left over waits for the next shuffle
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const float rate = 0.1f * (1 - static_cast<float>(epoch) / static_cast<float>(epochs));
    double sum = 0;
    examples::shuffle(order, random);
    for (int k = 0; k < steps; ++k) {
      const std::span<const int> chosen(order.data() + k * batch, batch);
      copy_images(images.data(), seen, chosen);
      std::transform(chosen.begin(), chosen.end(), labels.begin(),
                     [&](int digit) { return seen.label_at(digit); });

      const long allocations = digits::allocations_of_thread;
      float value = 0;
      const double took = microseconds_of([&] { value = path.step(images, labels, rate); });
      if (!run.microseconds.empty()) run.allocations += digits::allocations_of_thread - allocations;
      run.microseconds.push_back(took);
      run.history.step_loss.push_back(value);
      sum += value;
    }
    run.history.loss.push_back(sum / steps);
    if constexpr (requires { path.bring_back(); }) path.bring_back();
    run.history.accuracy.push_back(test.percent(test.right_in(test.read_by(run.model))));
    if (!quiet) show_progress(run.history, epochs);
  }
  run.kernels = path.kernels();
  if constexpr (std::is_base_of_v<CompiledPath, Path>) {
    run.timeline = run.microseconds;
    if constexpr (std::is_same_v<CompiledPath, Path>) run_on(path, images, labels, run.timeline);
    run.interpreted = path.compiled.calls().tier0;
    run.fallbacks = path.compiled.fallbacks();
    run.compiler_milliseconds = tt::CodeCache::get().counters().milliseconds - compiler_before;
  }
  return run;
}

// ---- the program

std::string facts(double percent, int test_count, double microseconds, long allocations) {
  char text[200];
  std::snprintf(text, sizeof text,
                "%d-%d-%d tanh network, %d test digits read %.1f %% right. A step over %d digits: "
                "%d kernels, %.0f µs, %ld allocations.",
                pixels, hidden, classes, test_count, percent, batch, kernels, microseconds,
                allocations);
  return text;
}

void print_table(const Run& run, double percent, int right, int count, double microseconds) {
  const double steps = static_cast<double>(run.microseconds.size());
  const double allocations = static_cast<double>(run.allocations) / std::max(steps - 1, 1.0);
  std::printf("\n");
  std::printf("  loss                       %9.4f     mean of the last epoch\n",
              run.history.loss.back());
  std::printf("  test accuracy              %9.1f %%   %d of %d unseen digits\n", percent, right,
              count);
  std::printf("  time per step              %9.1f us  median of %.0f steps of %d digits\n",
              microseconds, steps, batch);
  std::printf("  kernels per step           %9d     known at compile time\n", kernels);
  std::printf("  heap allocations per step  %9.3g     after the first, which takes the arena\n",
              allocations);
  std::printf("  arena                      %9lld B   known at compile time\n\n",
              static_cast<long long>(arena));
}

/// The largest difference between the losses of two runs; NaN if there is one.
double difference(const Run& a, const Run& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.history.step_loss.size(); ++k) {
    const double d = std::abs(static_cast<double>(a.history.step_loss.data()[k] - b.history.step_loss.data()[k]));
    if (d > largest || std::isnan(d)) largest = d;
  }
  return largest;
}

/// The paths side by side: what they compute must be the same, what it costs is not.
void print_paths(std::span<const Run> runs) {
  std::printf("  path        loss        difference   accuracy   us a step   kernels   allocations   in the background   fallbacks\n");
  for (const Run& run : runs) {
    std::printf("  %-10s  %-10.7f  %-10.3g   %5.1f %%    %8.1f   %7d   %8.3g", run.path, run.history.loss.back(), difference(run, runs[0]),
                run.history.accuracy.back(), median(run.microseconds), run.kernels,
                static_cast<double>(run.allocations) / std::max(static_cast<double>(run.microseconds.size()) - 1, 1.0));
    if (run.timeline.empty()) std::printf("      %-20s%s\n", "-", "-");
    else std::printf("      %4lld ms compiling    %lld\n", static_cast<long long>(run.compiler_milliseconds), static_cast<long long>(run.fallbacks));
  }
  std::printf("  us: the median of a step; allocations: of a step on the heap, after the first.\n");
  if (!tt::cuda::is_available()) std::printf("  CUDA: skipped: %s\n", tt::cuda::unavailable_reason().c_str());
  std::printf("\n");
}

/// When the compiled kernels replaced the interpreter: one character for a number of steps.
void print_timeline(const Run& run) {
  constexpr std::int64_t width = 60;
  const auto steps = static_cast<std::int64_t>(run.timeline.size()), first = run.interpreted;
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return begin < end ? median({run.timeline.begin() + begin, run.timeline.begin() + end}) : 0.0;
  };
  std::printf("  %-8s  step by step ", run.path);
  for (std::int64_t k = 0; k < width; ++k) std::putchar(k * steps / width < first ? '0' : '1');
  std::printf("\n            tier 0 for %lld steps (median %.1f us), tier 1 for %lld (median %.1f us)\n", static_cast<long long>(first),
              part(0, first), static_cast<long long>(steps - first), part(first, steps));
}

/// The digits in an order given by the seed: four fifths to learn from, one to test with.
std::pair<Digits, Digits> split(const Digits& all, Random& random) {
  std::vector<int> order = examples::first_numbers(all.count());
  examples::shuffle(order, random);
  const std::size_t seen = order.size() * 4 / 5;
  return {all.select(std::span(order).first(seen)), all.select(std::span(order).subspan(seen))};
}

int run_example(const digits::Options& options) {
  Random random{options.seed};
  auto [seen, unseen] = split(digits::read_digits(options.data.string()), random);
  if (seen.count() < batch)
    throw std::runtime_error(options.data.string() + ": four fifths of its digits, " +
                             std::to_string(seen.count()) + ", do not fill a batch of " +
                             std::to_string(batch));
  std::filesystem::create_directories(options.out);
  const Test test(std::move(unseen));

  if (options.explain) {
    const std::string text = tt::explain<Model, Model, Images, Labels, float>(step);
    std::printf("%s\n", text.c_str());
  }
  const Run run = train<StaticPath>(seen, test, options.epochs, random);
  const std::string weights = (options.out / "weights.npz").string();
  tt::save(weights.c_str(), run.model);  // all of them in one file, and each in one of its own:
  tt::named_parameters(run.model, [&](auto name, const auto& a) {
    tt::save_npy((options.out / (std::string(name.c_str()) + ".npy")).c_str(), a);
  });

  const std::vector<int> read = test.read_by(run.model);
  const int right = test.right_in(read), count = test.unseen.count();
  const double percent = test.percent(right), microseconds = median(run.microseconds);
  const std::string picture = (options.out / "digits.svg").string();
  digits::draw_picture(picture, run.history, test.unseen, read,
                       facts(percent, count, microseconds, run.allocations));
  print_table(run, percent, right, count, microseconds);
  std::printf("  wrote %s, %s, and each of the weights as .npy\n", picture.c_str(), weights.c_str());
  const bool drawn =
      examples::draw_graph(options.out, "graph", tt::graph<Model, Model, Images, Labels, float>(step));
  std::printf("  wrote the graph of a step: %s%s\n", (options.out / (drawn ? "graph.svg" : "graph.dot")).c_str(),
              drawn ? "" : "; SKIPPED graph.svg: no dot (Graphviz) that runs");

  std::vector<Run> runs = {run, train<EagerPath>(seen, test, options.epochs, random),
                           train<CompiledPath>(seen, test, options.epochs, random),
                           train<WarmPath>(seen, test, options.epochs, random)};
  if (tt::cuda::is_available()) runs.push_back(train<CudaPath>(seen, test, options.epochs, random));
  std::printf("\n");
  print_paths(runs);
  print_timeline(runs[2]);
  print_timeline(runs[3]);
  const tt::CodeCache::Counters made = tt::CodeCache::get().counters();
  const bool compiler_works = made.compiled + made.memory_hits + made.disk_hits > 0;
  if (!compiler_works) std::printf("  tier 1: SKIPPED: %s\n", tt::CodeCache::get().last_failure().c_str());
  std::printf("\n");

  Model reloaded;
  tt::load(weights.c_str(), reloaded);

  bool fine = true;
  const auto require = [&](bool holds, const char* otherwise) {
    if (!holds) std::fprintf(stderr, "digits: %s\n", otherwise);
    fine = fine && holds;
  };
  require(percent >= 95, "fewer than 95 % of unseen digits are read right");
  require(run.allocations == 0, "a step takes memory from the heap");
  require(runs[2].fallbacks == 0, "a part of the compiled step ran op by op");
  require(!compiler_works || runs[2].interpreted * 10 <= static_cast<std::int64_t>(runs[2].timeline.size()),
          "in a long run fewer than 90 % of the steps ran compiled");
  for (const Run& other : runs) {
    if (other.path == std::string_view(CudaPath::name))
      require(difference(other, run) < 1e-3, "the device gives other losses");
    else require(other.history.step_loss == run.history.step_loss, "the paths give other losses");
  }
  require(test.read_by(reloaded) == read, "reloaded weights give other answers");
  tt::named_parameters(reloaded, [&]<class A>(auto name, const A& a) {
    const A alone = tt::load_npy<A>((options.out / (std::string(name.c_str()) + ".npy")).c_str());
    require(std::equal(a.begin(), a.end(), alone.begin()), "a .npy file holds other weights than the .npz file");
  });
  return fine ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const digits::Options options = digits::read_options(count, arguments);
    if (!options.help) return run_example(options);
    std::fputs(digits::usage, stdout);
    return 0;
  } catch (const digits::BadOption& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
}
