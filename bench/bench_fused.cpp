// Fused elementwise functions, reductions along rows and small arrays, from L1 to memory, against
// hand-written xsimd loops, Eigen and xtensor. Counter `ulp`: the largest error of the first
// elements against double arithmetic on the same inputs.
//   bench_fused --benchmark_filter=tanh
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <tt/tt.hpp>

#include "measure.hpp"
#include "peers/eigen.hpp"
#include "peers/hand.hpp"
#include "peers/xtensor.hpp"

namespace {

using bench::Size;
using benchmark::State;
namespace hand = peers::hand;
namespace hand_xsimd = peers::hand_xsimd;

// ---- the functions, as a user of tt writes them

using Vector = tt::Array<float, tt::dyn>;
inline constexpr int cols = 256;
using Rows = tt::Array<float, tt::dyn, cols>;
using Row = tt::Array<float, cols>;

inline constexpr auto chain = tt::op([](auto a, auto b, auto c) {
  const auto u = a * b + c;
  const auto l = log(1 + exp(0.5 * u));
  const auto q = (b + l) / (1 + exp(-(l * l)));
  return where(u > 0, q, 0.1 * q);
});
inline constexpr auto gate = [](auto x, auto w, auto b) {
  const auto u = w * x + b;
  return u * tt::sigmoid(u);
};
inline constexpr auto gate_sum = [](auto x, auto w, auto b) { return tt::sum(gate(x, w, b)); };
inline constexpr auto gate_and_gradients =
    tt::fuse([](auto x, auto w, auto b, auto& y, auto& dx, auto& dw, auto& db) {
      y = gate(x, w, b);
      const auto [gx, gw, gb] = tt::grad<0, 1, 2>(gate_sum)(x, w, b);
      dx = gx;
      dw = gw;
      db = gb;
    });
inline constexpr auto layer_norm = tt::fuse([](auto x, auto scale, auto shift, auto& y) {
  const auto c = x - tt::mean_keepdim<1>(x);
  y = c * tt::rsqrt(tt::mean_keepdim<1>(c * c) + 1e-5) * scale + shift;
});

// ---- the same in double

using Exact = std::vector<double>;

double chain_exactly(double a, double b, double c) {
  const double u = a * b + c, l = std::log1p(std::exp(0.5 * u));
  const double q = (b + l) / (1 + std::exp(-l * l));
  return u > 0 ? q : 0.1 * q;
}
double sigmoid_exactly(double u) { return 1 / (1 + std::exp(-u)); }

// ---- inputs and results of every size, made when first used and kept

struct Elementwise {
  Vector a, b, c, y;
  std::int64_t n;

  /// a and c have either sign, the same one, so that a b + c does not cancel.
  explicit Elementwise(std::int64_t count) : a(count), b(count), c(count), y(count), n(count) {
    bench::fill(a, -1.5f, 1.5f, 1);
    bench::fill(b, 0.05f, 1.5f, 2);
    bench::fill(c, 0.01f, 1.0f, 3);
    for (std::int64_t i = 0; i < n; ++i)
      if (a(i) < 0) c(i) = -c(i);
  }
  template <class F>
  Exact exact(const F& f) const {
    Exact e(static_cast<std::size_t>(std::min(n, bench::compared)));
    for (std::size_t i = 0; i < e.size(); ++i) {
      const auto k = static_cast<std::int64_t>(i);
      e[i] = f(static_cast<double>(a(k)), static_cast<double>(b(k)), static_cast<double>(c(k)));
    }
    return e;
  }
};
struct ByRow {
  Rows x, y;
  Row scale, shift;
  std::int64_t rows;

  explicit ByRow(std::int64_t count) : x(count / cols), y(count / cols), rows(count / cols) {
    bench::fill(x, -4, 4, 1);
    bench::fill(scale, 0.5f, 1.5f, 2);
    bench::fill(shift, -1, 1, 3);
  }
  /// f fills one row of doubles.
  template <class F>
  Exact exact(const F& f) const {
    Exact e(static_cast<std::size_t>(std::min(rows * cols, bench::compared)));
    for (std::size_t r = 0; r < e.size() / cols; ++r) {
      Exact row(x.data() + r * cols, x.data() + (r + 1) * cols);
      f(row);
      std::copy(row.begin(), row.end(), e.begin() + static_cast<std::ptrdiff_t>(r * cols));
    }
    return e;
  }
};
template <std::int64_t N>
struct Gate {
  tt::Array<float, N> x, w, b, y, dx, dw, db;
  static constexpr std::int64_t n = N;

  explicit Gate(std::int64_t) {
    bench::fill(x, -1.5f, 1.5f, 1);
    bench::fill(w, 0.05f, 1.5f, 2);
    bench::fill(b, 0.01f, 1.0f, 3);
    for (std::int64_t i = 0; i < N; ++i)
      if (x(i) < 0) b(i) = -b(i);
  }
};

template <class D>
D& data(std::int64_t n) {
  static std::map<std::int64_t, std::unique_ptr<D>> kept;
  std::unique_ptr<D>& d = kept[n];
  if (!d) d = std::make_unique<D>(n);
  return *d;
}

constexpr std::int64_t bytes(std::int64_t elements, int operands) {
  return elements * operands * static_cast<std::int64_t>(sizeof(float));
}
template <class F>
void add(const std::string& op, const Size& size, const char* contender, F run) {
  benchmark::RegisterBenchmark(bench::row(op, size.name, contender).c_str(), run);
}

#if TT_BENCH_EIGEN
namespace eigen = peers::eigen;
eigen::In in(const Vector& v) { return {v.data(), v.size()}; }
eigen::Out out(Vector& v) { return {v.data(), v.size()}; }
template <std::int64_t N>
eigen::In in(const tt::Array<float, N>& v) { return {v.data(), N}; }
template <std::int64_t N>
eigen::Out out(tt::Array<float, N>& v) { return {v.data(), N}; }
#endif
#if TT_BENCH_XTENSOR
namespace xtensor = peers::xtensor;
template <class A>
xtensor::V copy(const A& a) {
  xtensor::V v(std::array<std::size_t, 1>{static_cast<std::size_t>(a.size())});
  std::copy(a.begin(), a.end(), v.data());
  return v;
}
xtensor::M matrix(std::int64_t rows, std::int64_t columns) {
  return xtensor::M(std::array<std::size_t, 2>{static_cast<std::size_t>(rows),
                                               static_cast<std::size_t>(columns)});
}
xtensor::M copy_rows(const Rows& a) {
  xtensor::M m = matrix(a.extent(0), cols);
  std::copy(a.begin(), a.end(), m.data());
  return m;
}
#endif

// ---- what memory gives

void bandwidth(const Size& size) {
  const std::int64_t n = size.elements;
  add("stream", size, "copy", [n](State& state) {
    auto& d = data<Elementwise>(n);
    bench::repeat(state, bytes(n, 2), [&] {
      std::memcpy(d.y.data(), d.a.data(), static_cast<std::size_t>(n) * sizeof(float));
    });
  });
  add("stream", size, "triad", [n](State& state) {
    auto& d = data<Elementwise>(n);
    bench::repeat(state, bytes(n, 3), [&] { hand::triad(d.a.data(), d.b.data(), d.y.data(), n); });
  });
}

// ---- elementwise functions of three operands

/// One row of an elementwise op; `work` fills d.y.
template <class Work, class Reference>
void elementwise(const std::string& op, const Size& size, const char* contender, Work work,
                 Reference exactly, int operands = 4) {
  add(op, size, contender, [=, n = size.elements](State& state) {
    auto& d = data<Elementwise>(n);
    bench::repeat(state, bytes(n, operands), [&] { work(d); });
    state.counters["ulp"] = bench::max_ulp(d.exact(exactly), d.y.data());
  });
}
/// The same for xtensor, which works in containers of its own.
template <class Prepare, class Reference>
void elementwise_elsewhere(const std::string& op, const Size& size, const char* contender,
                           Prepare prepare, Reference exactly, int operands = 4) {
  add(op, size, contender, [=, n = size.elements](State& state) {
    auto& d = data<Elementwise>(n);
    auto [work, result] = prepare(d);
    bench::repeat(state, bytes(n, operands), work);
    state.counters["ulp"] = bench::max_ulp(d.exact(exactly), result());
  });
}

#if TT_BENCH_XTENSOR
struct XtensorVectors {
  xtensor::V a, b, c, y, u, l;
  explicit XtensorVectors(const Elementwise& d, bool temporaries = false)
      : a(copy(d.a)), b(copy(d.b)), c(copy(d.c)), y(copy(d.y)) {
    if (temporaries) {
      u = copy(d.y);
      l = copy(d.y);
    }
  }
};
#endif

void triad(const Size& size) {
  const auto exactly = [](double a, double, double c) { return a * 2.5 + c; };
  elementwise("a*2.5+b", size, "tt", [](Elementwise& d) { d.y = d.a * 2.5f + d.c; }, exactly, 3);
  elementwise("a*2.5+b", size, "hand", [](Elementwise& d) {
    hand::triad(d.a.data(), d.c.data(), d.y.data(), d.n);
  }, exactly, 3);
  elementwise("a*2.5+b", size, "hand_xsimd", [](Elementwise& d) {
    hand_xsimd::triad(d.a.data(), d.c.data(), d.y.data(), d.n);
  }, exactly, 3);
#if TT_BENCH_EIGEN
  elementwise("a*2.5+b", size, "eigen", [](Elementwise& d) {
    eigen::triad(in(d.a), in(d.c), out(d.y));
  }, exactly, 3);
#endif
#if TT_BENCH_XTENSOR
  elementwise_elsewhere("a*2.5+b", size, "xtensor", [](Elementwise& d) {
    auto v = std::make_shared<XtensorVectors>(d);
    return std::pair{[v] { xtensor::triad(v->a, v->c, v->y); }, [v] { return v->y.data(); }};
  }, exactly, 3);
#endif
}

void tanh_of_sum(const Size& size) {
  const std::string op = "tanh(a*b+c)";
  const auto exactly = [](double a, double b, double c) { return std::tanh(a * b + c); };
  elementwise(op, size, "tt", [](Elementwise& d) { d.y = tt::tanh(d.a * d.b + d.c); }, exactly);
  elementwise(op, size, "hand", [](Elementwise& d) {
    hand::tanh_of_sum(d.a.data(), d.b.data(), d.c.data(), d.y.data(), d.n);
  }, exactly);
  elementwise(op, size, "hand_xsimd", [](Elementwise& d) {
    hand_xsimd::tanh_of_sum(d.a.data(), d.b.data(), d.c.data(), d.y.data(), d.n);
  }, exactly);
#if TT_BENCH_EIGEN
  elementwise(op, size, "eigen", [](Elementwise& d) {
    eigen::tanh_of_sum(in(d.a), in(d.b), in(d.c), out(d.y));
  }, exactly);
#endif
#if TT_BENCH_XTENSOR
  elementwise_elsewhere(op, size, "xtensor", [](Elementwise& d) {
    auto v = std::make_shared<XtensorVectors>(d);
    return std::pair{[v] { xtensor::tanh_of_sum(v->a, v->b, v->c, v->y); },
                     [v] { return v->y.data(); }};
  }, exactly);
#endif
}

void chain_of_15(const Size& size) {
  const std::string op = "chain of 15";
  elementwise(op, size, "tt", [](Elementwise& d) { d.y = chain(d.a, d.b, d.c); }, chain_exactly);
  elementwise(op, size, "hand", [](Elementwise& d) {
    hand::chain(d.a.data(), d.b.data(), d.c.data(), d.y.data(), d.n);
  }, chain_exactly);
  elementwise(op, size, "hand_xsimd", [](Elementwise& d) {
    hand_xsimd::chain(d.a.data(), d.b.data(), d.c.data(), d.y.data(), d.n);
  }, chain_exactly);
#if TT_BENCH_EIGEN
  elementwise_elsewhere(op, size, "eigen", [](Elementwise& d) {
    auto u = std::make_shared<Vector>(d.n), l = std::make_shared<Vector>(d.n);
    return std::pair{[&d, u, l] {
                       eigen::chain(in(d.a), in(d.b), in(d.c), out(d.y), out(*u), out(*l));
                     },
                     [&d] { return d.y.data(); }};
  }, chain_exactly);
#endif
#if TT_BENCH_XTENSOR
  elementwise_elsewhere(op, size, "xtensor", [](Elementwise& d) {
    auto v = std::make_shared<XtensorVectors>(d, true);
    return std::pair{[v] { xtensor::chain(v->a, v->b, v->c, v->y, v->u, v->l); },
                     [v] { return v->y.data(); }};
  }, chain_exactly);
#endif
}

// ---- value and three gradients in one kernel

template <std::int64_t N>
double gate_error(const Gate<N>& d, const float* y, const float* dx, const float* dw,
                  const float* db) {
  Exact e[4];
  for (std::int64_t i = 0; i < std::min(N, bench::compared); ++i) {
    const double x = d.x(i), w = d.w(i), u = w * x + static_cast<double>(d.b(i));
    const double s = sigmoid_exactly(u), du = s + u * s * (1 - s);
    e[0].push_back(u * s);
    e[1].push_back(du * w);
    e[2].push_back(du * x);
    e[3].push_back(du);
  }
  double worst = 0;
  const float* got[] = {y, dx, dw, db};
  for (int k = 0; k < 4; ++k)  // the derivative has a zero at -1.28: there its error is absolute
    worst = std::max(worst, bench::max_ulp(e[k], got[k], k ? 0.25 : 0));
  return worst;
}
template <std::int64_t N, class Work>
void gate_row(const Size& size, const char* contender, Work work) {
  add("gate + 3 gradients", size, contender, [=](State& state) {
    auto& d = data<Gate<N>>(N);
    bench::repeat(state, bytes(N, 7), [&] { work(d); });
    state.counters["ulp"] = gate_error(d, d.y.data(), d.dx.data(), d.dw.data(), d.db.data());
  });
}
template <std::int64_t N>
void gates(const Size& size) {
  using D = Gate<N>;
  gate_row<N>(size, "tt", [](D& d) { gate_and_gradients(d.x, d.w, d.b, d.y, d.dx, d.dw, d.db); });
  gate_row<N>(size, "hand", [](D& d) {
    hand::gate(d.x.data(), d.w.data(), d.b.data(), d.y.data(), d.dx.data(), d.dw.data(),
               d.db.data(), N);
  });
  gate_row<N>(size, "hand_xsimd", [](D& d) {
    hand_xsimd::gate(d.x.data(), d.w.data(), d.b.data(), d.y.data(), d.dx.data(), d.dw.data(),
                     d.db.data(), N);
  });
#if TT_BENCH_EIGEN
  add("gate + 3 gradients", size, "eigen", [](State& state) {
    auto& d = data<D>(N);
    Vector u(N), s(N);
    bench::repeat(state, bytes(N, 7), [&] {
      eigen::gate(in(d.x), in(d.w), in(d.b), out(d.y), out(d.dx), out(d.dw), out(d.db), out(u),
                  out(s));
    });
    state.counters["ulp"] = gate_error(d, d.y.data(), d.dx.data(), d.dw.data(), d.db.data());
  });
#endif
#if TT_BENCH_XTENSOR
  add("gate + 3 gradients", size, "xtensor", [](State& state) {
    auto& d = data<D>(N);
    xtensor::V x = copy(d.x), w = copy(d.w), b = copy(d.b);
    xtensor::V y = x, dx = x, dw = x, db = x, u = x, s = x;
    bench::repeat(state, bytes(N, 7), [&] { xtensor::gate(x, w, b, y, dx, dw, db, u, s); });
    state.counters["ulp"] = gate_error(d, y.data(), dx.data(), dw.data(), db.data());
  });
#endif
}

// ---- a sum

template <class Work>
void sum_row(const Size& size, const char* contender, Work work) {
  add("sum(a*b+c)", size, contender, [=, n = size.elements](State& state) {
    auto& d = data<Elementwise>(n);
    float total = 0;
    float* seen = &total;  // DoNotOptimize(total) itself returns garbage with g++ 12
    benchmark::DoNotOptimize(seen);
    bench::repeat(state, bytes(n, 3), [&] { total = work(d); });
    double exact = 0, magnitude = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double term = static_cast<double>(d.a(i)) * static_cast<double>(d.b(i)) +
                          static_cast<double>(d.c(i));
      exact += term;
      magnitude += std::abs(term);
    }
    // The terms cancel: in ulp of the sum of their magnitudes.
    state.counters["ulp"] = bench::max_ulp({&exact, 1}, &total, magnitude);
  });
}
void sums(const Size& size) {
  sum_row(size, "tt", [](Elementwise& d) {
    static tt::Array<float> s;
    s = tt::sum(d.a * d.b + d.c);
    return s.item();
  });
  sum_row(size, "hand", [](Elementwise& d) {
    return hand::sum_of_products(d.a.data(), d.b.data(), d.c.data(), d.n);
  });
  sum_row(size, "hand_xsimd", [](Elementwise& d) {
    return hand_xsimd::sum_of_products(d.a.data(), d.b.data(), d.c.data(), d.n);
  });
#if TT_BENCH_EIGEN
  sum_row(size, "eigen", [](Elementwise& d) {
    return eigen::sum_of_products(in(d.a), in(d.b), in(d.c));
  });
#endif
#if TT_BENCH_XTENSOR
  add("sum(a*b+c)", size, "xtensor", [n = size.elements](State& state) {
    const XtensorVectors v(data<Elementwise>(n));
    float total = 0;
    float* seen = &total;
    benchmark::DoNotOptimize(seen);
    bench::repeat(state, bytes(n, 3), [&] { total = xtensor::sum_of_products(v.a, v.b, v.c); });
  });
#endif
}

// ---- rows

template <class Work, class Reference>
void by_row(const std::string& op, const Size& size, const char* contender, Work work,
            Reference exactly, double floor) {
  add(op, size, contender, [=, n = size.elements](State& state) {
    auto& d = data<ByRow>(n);
    bench::repeat(state, bytes(n, 2), [&] { work(d); });
    state.counters["ulp"] = bench::max_ulp(d.exact([&](Exact& r) { exactly(d, r); }), d.y.data(), floor);
  });
}
#if TT_BENCH_XTENSOR
template <class Work, class Reference>
void by_row_xtensor(const std::string& op, const Size& size, Work work, Reference exactly,
                    double floor) {
  add(op, size, "xtensor", [=, n = size.elements](State& state) {
    auto& d = data<ByRow>(n);
    const xtensor::M x = copy_rows(d.x);
    const xtensor::V scale = copy(d.scale), shift = copy(d.shift);
    xtensor::M y = x, one_a_row = matrix(d.rows, 1);
    bench::repeat(state, bytes(n, 2), [&] { work(x, scale, shift, y, one_a_row); });
    state.counters["ulp"] = bench::max_ulp(d.exact([&](Exact& r) { exactly(d, r); }), y.data(), floor);
  });
}
#endif

void softmax(const Size& size) {
  const std::string op = "softmax rows";
  const auto exactly = [](const ByRow&, Exact& r) {
    const double top = *std::max_element(r.begin(), r.end());
    double total = 0;
    for (double& v : r) total += v = std::exp(v - top);
    for (double& v : r) v /= total;
  };
  by_row(op, size, "tt", [](ByRow& d) { d.y = tt::softmax<1>(d.x); }, exactly, 0);
  by_row(op, size, "hand", [](ByRow& d) {
    hand::softmax<false>(d.x.data(), d.y.data(), d.rows, cols);
  }, exactly, 0);
  by_row(op, size, "hand_reciprocal", [](ByRow& d) {
    hand::softmax<true>(d.x.data(), d.y.data(), d.rows, cols);
  }, exactly, 0);
  by_row(op, size, "hand_xsimd", [](ByRow& d) {
    hand_xsimd::softmax<true>(d.x.data(), d.y.data(), d.rows, cols);
  }, exactly, 0);
#if TT_BENCH_EIGEN
  by_row(op, size, "eigen", [](ByRow& d) {
    eigen::softmax<cols>(d.x.data(), d.y.data(), d.rows);
  }, exactly, 0);
#endif
#if TT_BENCH_XTENSOR
  by_row_xtensor(op, size, [](auto& x, auto&, auto&, auto& y, auto& m) {
    xtensor::softmax(x, y, m);
  }, exactly, 0);
#endif
}

template <std::int64_t N>
void layer_norms(const Size& size) {
  const std::string op = "layernorm rows";
  using Static = tt::Array<float, N / cols, cols>;
  struct Pair {
    Static x, y;
    explicit Pair(std::int64_t) {}
  };
  const auto exactly = [](const ByRow& d, Exact& r) {
    double mean = 0, variance = 0;
    for (double v : r) mean += v / cols;
    for (double v : r) variance += (v - mean) * (v - mean) / cols;
    for (int i = 0; i < cols; ++i) {
      const auto k = static_cast<std::size_t>(i);
      r[k] = (r[k] - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(d.scale(i)) +
             static_cast<double>(d.shift(i));
    }
  };
  constexpr double floor = 1;  // the sum may cancel
  add(op, size, "tt", [=](State& state) {
    auto& d = data<ByRow>(N);
    auto& s = data<Pair>(N);
    s.x.assign({d.x.data(), static_cast<std::size_t>(N)});
    bench::repeat(state, bytes(N, 2), [&] { layer_norm(s.x, d.scale, d.shift, s.y); });
    state.counters["ulp"] =
        bench::max_ulp(d.exact([&](Exact& r) { exactly(d, r); }), s.y.data(), floor);
  });
  by_row(op, size, "hand", [](ByRow& d) {
    hand::layer_norm(d.x.data(), d.scale.data(), d.shift.data(), d.y.data(), d.rows, cols);
  }, exactly, floor);
  by_row(op, size, "hand_xsimd", [](ByRow& d) {
    hand_xsimd::layer_norm(d.x.data(), d.scale.data(), d.shift.data(), d.y.data(), d.rows, cols);
  }, exactly, floor);
#if TT_BENCH_EIGEN
  by_row(op, size, "eigen", [](ByRow& d) {
    eigen::layer_norm<cols>(d.x.data(), d.scale.data(), d.shift.data(), d.y.data(), d.rows);
  }, exactly, floor);
#endif
#if TT_BENCH_XTENSOR
  by_row_xtensor(op, size, [](auto& x, auto& scale, auto& shift, auto& y, auto& m) {
    xtensor::layer_norm(x, scale, shift, y, m);
  }, exactly, floor);
#endif
}

void row_affine(const Size& size) {
  const std::string op = "a*row+row";
  const auto exactly = [](const ByRow& d, Exact& r) {
    for (int i = 0; i < cols; ++i) {
      const auto k = static_cast<std::size_t>(i);
      r[k] = r[k] * static_cast<double>(d.scale(i)) + static_cast<double>(d.shift(i));
    }
  };
  constexpr double floor = 1;  // the sum may cancel
  by_row(op, size, "tt", [](ByRow& d) { d.y = d.x * d.scale + d.shift; }, exactly, floor);
  by_row(op, size, "hand", [](ByRow& d) {
    hand::row_affine(d.x.data(), d.scale.data(), d.shift.data(), d.y.data(), d.rows, cols);
  }, exactly, floor);
  by_row(op, size, "hand_xsimd", [](ByRow& d) {
    hand_xsimd::row_affine(d.x.data(), d.scale.data(), d.shift.data(), d.y.data(), d.rows, cols);
  }, exactly, floor);
#if TT_BENCH_EIGEN
  by_row(op, size, "eigen", [](ByRow& d) {
    eigen::row_affine<cols>(d.x.data(), d.scale.data(), d.shift.data(), d.y.data(), d.rows);
  }, exactly, floor);
#endif
#if TT_BENCH_XTENSOR
  by_row_xtensor(op, size, [](auto& x, auto& scale, auto& shift, auto& y, auto&) {
    xtensor::row_affine(x, scale, shift, y);
  }, exactly, floor);
#endif
}

// ---- small arrays

template <int N, class Make, class Work>
void small_row(const std::string& op, const char* contender, Make make, Work work, bool sigmoid) {
  const std::string shape = std::to_string(N) + 'x' + std::to_string(N);
  add(op, {shape.c_str(), N * N}, contender, [=](State& state) {
    auto a = make(), b = make(), y = make();
    bench::fill({a.data(), N * N}, 0.05f, 1.5f, 1);
    bench::fill({b.data(), N * N}, 0.05f, 1.5f, 2);
    auto *seen_a = &a, *seen_b = &b, *seen_y = &y;  // so that memory clobbers reach them
    benchmark::DoNotOptimize(seen_a);
    benchmark::DoNotOptimize(seen_b);
    benchmark::DoNotOptimize(seen_y);
    bench::repeat(state, bytes(N * N, sigmoid ? 2 : 3), [&] { work(a, b, y); });
    Exact e;
    for (int i = 0; i < N * N; ++i)
      e.push_back(sigmoid ? sigmoid_exactly(static_cast<double>(a.data()[i]))
                          : static_cast<double>(a.data()[i]) * 2.5 + static_cast<double>(b.data()[i]));
    state.counters["ulp"] = bench::max_ulp(e, y.data());
  });
}
template <int N>
void small() {
  using S = tt::Array<float, N, N>;
  const auto make = [] { return S(); };
  const std::string affine = "small a*2.5+b", sigmoid = "small sigmoid";
  small_row<N>(affine, "tt", make, [](S& a, S& b, S& y) { y = a * 2.5f + b; }, false);
  small_row<N>(affine, "hand", make, [](S& a, S& b, S& y) {
    hand::small_affine<N * N>(a.data(), b.data(), y.data());
  }, false);
  small_row<N>(affine, "hand_xsimd", make, [](S& a, S& b, S& y) {
    hand_xsimd::small_affine<N * N>(a.data(), b.data(), y.data());
  }, false);
  small_row<N>(sigmoid, "tt", make, [](S& a, S&, S& y) { y = tt::sigmoid(a); }, true);
  small_row<N>(sigmoid, "hand", make, [](S& a, S&, S& y) {
    hand::small_sigmoid<N * N>(a.data(), y.data());
  }, true);
  small_row<N>(sigmoid, "hand_xsimd", make, [](S& a, S&, S& y) {
    hand_xsimd::small_sigmoid<N * N>(a.data(), y.data());
  }, true);
#if TT_BENCH_EIGEN
  using E = eigen::Small<N>;
  const auto make_eigen = [] { return E(); };
  small_row<N>(affine, "eigen", make_eigen, [](E& a, E& b, E& y) { y = a * 2.5f + b; }, false);
  small_row<N>(sigmoid, "eigen", make_eigen, [](E& a, E&, E& y) { y = a.logistic(); }, true);
#endif
#if TT_BENCH_XTENSOR
  using X = xtensor::Small<static_cast<std::size_t>(N)>;
  const auto make_xtensor = [] { return X(); };
  small_row<N>(affine, "xtensor", make_xtensor, [](X& a, X& b, X& y) {
    xt::noalias(y) = a * 2.5f + b;
  }, false);
  small_row<N>(sigmoid, "xtensor", make_xtensor, [](X& a, X&, X& y) {
    xt::noalias(y) = 1.0f / (1.0f + xt::exp(-a));
  }, true);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  for (const Size& size : bench::sizes) {
    bandwidth(size);
    triad(size);
    tanh_of_sum(size);
    chain_of_15(size);
    sums(size);
    softmax(size);
    row_affine(size);
  }
  gates<bench::in_l1>(bench::sizes[0]);
  gates<bench::in_l2>(bench::sizes[1]);
  gates<bench::in_l3>(bench::sizes[2]);
  gates<bench::in_memory>(bench::sizes[3]);
  layer_norms<bench::in_l1>(bench::sizes[0]);
  layer_norms<bench::in_l2>(bench::sizes[1]);
  layer_norms<bench::in_l3>(bench::sizes[2]);
  layer_norms<bench::in_memory>(bench::sizes[3]);
  small<4>();
  small<16>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
