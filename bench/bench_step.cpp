// A training step of a small network, 64-32-10 on 64 digits, against the same by hand with xsimd and in Eigen.
// Before anything is timed, all of them train from the same weights: their losses must agree within 1e-4, or
// the program ends with 1.
#include "step.hpp"  // xsimd first, with its warnings off

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "measure.hpp"
#include "peers/step_eigen.hpp"
#include "peers/step_hand.hpp"

namespace {

using bench::batch, bench::classes, bench::hidden, bench::pixels;

struct Data {
  bench::Images images;
  bench::Labels labels;
  bench::Model weights;

  Data() {
    bench::fill({images.data(), batch * pixels}, 0, 1, 1);
    for (int i = 0; i < batch; ++i) labels(i) = i * 7 % classes;
    bench::fill({weights.w1.data(), pixels * hidden}, -0.125f, 0.125f, 2);
    bench::fill({weights.w2.data(), hidden * classes}, -0.18f, 0.18f, 3);
  }
};
const Data& data() {
  static const auto kept = std::make_unique<Data>();
  return *kept;
}

struct Fused {
  bench::Model model = data().weights, velocity;
  float step(float rate) { return bench::step(model, velocity, data().images, data().labels, rate); }
};

struct ByHand {
  peers::step_hand::Parameters p{}, v{};
  peers::step_hand::Workspace w{};

  ByHand() {
    const bench::Model& from = data().weights;
    for (int i = 0; i < pixels; ++i)
      for (int j = 0; j < hidden; ++j) p.w1[i][j] = from.w1(i, j);
    for (int i = 0; i < hidden; ++i)
      for (int j = 0; j < classes; ++j) p.w2[i][j] = from.w2(i, j);
    std::fill(p.b2 + classes, p.b2 + peers::step_hand::padded, -1e30f);
  }
  float step(float rate) {
    return peers::step_hand::step(p, v, w, data().images.data(), data().labels.data(), rate);
  }
};

#if TT_BENCH_STEP_EIGEN
struct InEigen {
  peers::step_eigen::Parameters p, v;
  peers::step_eigen::Workspace w;
  peers::step_eigen::Matrix<batch, pixels> images;

  InEigen() {
    const bench::Model& from = data().weights;
    std::copy(data().images.begin(), data().images.end(), images.data());
    std::copy(from.w1.begin(), from.w1.end(), p.w1.data());
    std::copy(from.w2.begin(), from.w2.end(), p.w2.data());
    p.b1.setZero();
    p.b2.setZero();
    v.w1.setZero();
    v.b1.setZero();
    v.w2.setZero();
    v.b2.setZero();
  }
  float step(float rate) {
    return peers::step_eigen::step(p, v, w, images, data().labels.data(), rate);
  }
};
#endif

/// The largest difference between the losses of 200 steps.
template <class Peer>
double difference() {
  const auto ours = std::make_unique<Fused>();
  const auto theirs = std::make_unique<Peer>();
  double worst = 0;
  float last = 0;
  for (int i = 0; i < 200; ++i) {
    last = ours->step(0.1f);
    const double d = std::abs(static_cast<double>(last) - static_cast<double>(theirs->step(0.1f)));
    worst = std::isnan(d) ? 1 : std::max(worst, d);
  }
  return last < 1 ? worst : 1;  // 2.3 to begin with
}
bool agrees(const char* name, double d) {
  std::fprintf(stderr, "losses of 200 steps: %s differs by at most %.2g\n", name, d);
  return d < 1e-4;
}

/// Times steps of rate 0, so that every one does the same work.
template <class Contender>
void time(const char* contender) {
  benchmark::RegisterBenchmark(bench::row("training step", "64-32-10", contender).c_str(),
                               [](benchmark::State& state) {
    const auto c = std::make_unique<Contender>();
    for (int i = 0; i < 20; ++i) c->step(0.1f);
    for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(c->step(0));
  });
}

}  // namespace

int main(int count, char** arguments) {
  bool fine = agrees("hand_xsimd", difference<ByHand>());
#if TT_BENCH_STEP_EIGEN
  fine = agrees("eigen", difference<InEigen>()) && fine;
#endif
  if (!fine) return 1;
  time<Fused>("tt");
  time<ByHand>("hand_xsimd");
#if TT_BENCH_STEP_EIGEN
  time<InEigen>("eigen");
#endif
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
