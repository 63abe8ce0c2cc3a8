// Kernels of the host for histograms: the number of elements in each bin, and the edges of bins. Declared, with their meaning, in
// dispatch/reduction_functions.hpp.
#pragma once
#include <cmath>

#include "tt/dispatch/row_ops_inl.hpp"

namespace tt {
namespace detail {

/// The number of elements in each of `bins` equal parts from min to max.
template <class = void>
struct Histc {
  struct Options {
    std::int64_t bins = 100;
    double min = 0, max = 0;
  };
  static constexpr OpInfo info{.name = "_histc", .arguments = "input"};
  static Sym like(const Sym& x, const Options& o) { return symbol_like(x, x.dtype(), {o.bins}); }
  static void kernel(Call& c, const Options& o) {
    if (!(1 <= o.bins && o.bins <= INT32_MAX)) TT_THROW(Error(Text("tt::histc: ") << o.bins << " bins. From 1 to 2^31 - 1?" << c.at));
    if (c[0].is_meta()) return static_cast<void>(c.result[0] = Tensor(c[0].dtype(), Shape{o.bins}, {DeviceType::meta, 0}));
    const Tensor x = convert(c[0], DType::f64, c.at).contiguous(c.at);
    const double* const v = x.data_ptr<double>();
    double low = o.min, high = o.max;
    if (low == high && x.impl().numel > 0) {
      low = c[0].amin({}, false, c.at).item<double>(c.at);  // NaN, if there is one
      high = c[0].amax({}, false, c.at).item<double>(c.at);
    }
    if (low == high) low -= 1, high += 1;
    if (!(low < high) || !std::isfinite(high - low)) TT_THROW(Error(Text("tt::histc: there are no bins between these bounds.") << c.at));
    const Tensor out = tt::zeros({o.bins + 1}, {DType::i64});  // the last: elements in no bin
    auto* const count = out.data_ptr<std::int64_t>();
    constexpr std::int64_t together = 256;
    double place[together];
    for (std::int64_t k = 0; k < x.impl().numel; k += together) {
      const std::int64_t n = std::min(together, x.impl().numel - k);
      for (std::int64_t j = 0; j < n; ++j) place[j] = (v[k + j] - low) / (high - low) * static_cast<double>(o.bins);
      for (std::int64_t j = 0; j < n; ++j) {
        const double e = v[k + j];
        const bool inside = e >= low && e <= high;
        const auto bin = inside ? static_cast<std::int64_t>(place[j]) : o.bins;
        ++count[bin - (inside && bin == o.bins)];
      }
    }
    c.result[0] = convert(out.slice(0, 0, o.bins, 1, c.at), c[0].dtype(), c.at);
  }
};

/// The edges of bins of equal width, between min and max or, with `from_data`, between the least and the greatest element; equal bounds are
/// moved apart by 0.5 on either side.
template <bool OfPoints>
struct BinEdges {
  struct Options {
    std::int64_t bins = 100;
    double min = 0, max = 0;
    bool from_data = false;
  };
  static constexpr OpInfo info{.name = OfPoints ? "_bin_edges_of_points" : "_bin_edges", .arguments = "input"};
  static Sym like(const Sym& x, const Options& o) { return symbol_like(x, x.dtype(), {o.bins + 1}); }
  static void kernel(Call& c, const Options& o) {
    constexpr const char* op = OfPoints ? "tt::histogramdd" : "tt::histogram";
    if (!(1 <= o.bins && o.bins <= INT32_MAX)) TT_THROW(Error(Text(op) << ": " << o.bins << " bins. From 1 to 2^31 - 1?" << c.at));
    if (c[0].is_meta()) return static_cast<void>(c.result[0] = Tensor(c[0].dtype(), Shape{o.bins + 1}, {DeviceType::meta, 0}));
    double low = o.min, high = o.max;
    if (o.from_data) {
      const bool empty = c[0].impl().numel == 0;
      low = empty ? 0 : c[0].amin({}, false, c.at).item<double>(c.at);  // NaN, if there is one
      high = empty ? 1 : c[0].amax({}, false, c.at).item<double>(c.at);
    }
    if (!std::isfinite(low) || !std::isfinite(high) || low > high) TT_THROW(Error(Text(op) << ": there are no bins between these bounds." << c.at));
    if (low == high) low -= 0.5, high += 0.5;
    c.result[0] = linspace(low, high, o.bins + 1, TensorOptions{.dtype = c[0].dtype()}, c.at);
  }
};

}  // namespace detail
}  // namespace tt
