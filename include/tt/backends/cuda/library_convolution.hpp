// A kernel that is a product of weights and windows, computed by cuDNN as the convolution it is; its bias goes with the
// channels. What the convolution looks like is read off the kernel's accesses: any reading with the same places in memory
// is the same convolution, so where axes were made one (a window of 1 x 1, a single row) the simplest is taken.
#pragma once
#include "tt/backends/cuda/cudnn.hpp"
#include "tt/backends/cuda/library_kernel.hpp"
#include "tt/backends/cuda/library_settings.hpp"

namespace tt::cuda {

/// A convolution without margins: images (images, groups * in, height, width), weights (out, in, rows, columns), dense.
struct ConvDescription {
  enum Axis : int { n, c, h, w };
  DType dtype = DType::f32;
  std::int64_t images = 1, groups = 1, in = 1, out = 1, height = 1, width = 1, rows = 1, columns = 1, out_height = 1, out_width = 1;
  std::int64_t stride[2] = {1, 1}, dilation[2] = {1, 1};
  std::int64_t x_stride[4] = {}, y_stride[4] = {};  ///< of (n, c, h, w)
  detail::OperandPlace x, weights, y, bias;
  bool relu = false;
  bool leaves_sums = false;       ///< y lies dense in the memory it works in, and nothing follows
  const char* refused = nullptr;  ///< why it is not for the library; the rest is then unfinished
};
template <class AnyPlan>
constexpr ConvDescription describe_convolution(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols);

class LibraryConvolution final : public LibraryKernel {
 public:
  /// Null if the library does not take it, and then `refused` says why.
  TT_INLINE static std::shared_ptr<const LibraryConvolution> make(Device& device, const ConvDescription& p, const ConvSettings& settings,
                                                                  Text& refused);
  LibraryConvolution() : LibraryKernel(LibraryWork::convolution) {}
  TT_INLINE ~LibraryConvolution() override;

 private:
  ConvDescription p_;
  CudnnAlgorithm algorithm_;
  Handle x_ = nullptr, weights_ = nullptr, y_ = nullptr, bias_ = nullptr, convolution_ = nullptr, relu_ = nullptr;
  std::size_t workspace() const override { return algorithm_.workspace; }
  TT_INLINE bool compute(Device& device, const std::uint64_t* operand, DevicePointer sums, DevicePointer workspace) const override;
};

namespace detail {

/// Extents and strides of the axes that an index is made of, innermost first; none of one element.
class IndexAxes {
 public:
  struct Axis {
    std::int64_t extent, stride;
  };
  constexpr IndexAxes() = default;
  /// Terms [begin, begin + count) of an access, for an index below n. Places that no term counts are axes of stride 0.
  constexpr IndexAxes(const Access& a, int begin, int count, std::int64_t n, const SymbolValues& symbols) {
    std::int64_t covered = 1;
    for (int i = 0; i < count; ++i) {
      const Term& t = a.term[begin + i];
      const std::int64_t divisor = t.divisor.value(symbols), modulus = t.modulus.value(symbols);
      if (covered == 0 || divisor % covered != 0) {
        regular_ = false;
        return;
      }
      if (divisor < n) add(divisor / covered, 0);
      const std::int64_t extent = modulus != 0 ? modulus : divisor < n ? n / divisor : 1;
      add(extent, t.stride.value(symbols));
      covered = divisor * extent;
    }
    if (covered < n) add(n / covered, 0);
  }
  constexpr IndexAxes(std::int64_t n, std::int64_t stride) { add(n, stride); }
  /// False: the terms overlap.
  constexpr bool is_regular() const { return regular_; }
  constexpr int size() const { return axes_.size(); }
  constexpr const Axis& operator[](int i) const { return axes_[i]; }
  constexpr Axis take_last() {
    const Axis last = axes_[axes_.size() - 1];
    axes_.resize(axes_.size() - 1);
    return last;
  }
  /// The farthest place.
  constexpr std::int64_t reach() const {
    std::int64_t r = 0;
    for (const Axis& a : axes_) r += (a.extent - 1) * a.stride;
    return r;
  }
  /// The strides of an index that has these extents, innermost first (0 of one element); false if it is made of others.
  constexpr bool divide(const std::int64_t* extents, int count, std::int64_t* strides) const {
    int at = 0;
    std::int64_t taken = 1;  // of axis `at`
    for (int i = 0; i < count; ++i) {
      strides[i] = 0;
      for (std::int64_t span = 1; span < extents[i];) {
        if (at == axes_.size()) return false;
        const Axis& a = axes_[at];
        if (span == 1) strides[i] = a.stride * taken;
        else if (a.stride * taken != strides[i] * span) return false;
        const std::int64_t wanted = extents[i] / span, left = a.extent / taken;
        if (extents[i] % span != 0 || (wanted < left ? left % wanted : wanted % left) != 0) return false;
        const std::int64_t some = wanted < left ? wanted : left;
        span *= some;
        taken *= some;
        if (taken == a.extent) {
          ++at;
          taken = 1;
        }
      }
    }
    return at == axes_.size();
  }

 private:
  Vec<Axis> axes_;
  bool regular_ = true;
  constexpr void add(std::int64_t extent, std::int64_t stride) {
    if (extent > 1) axes_.push_back({extent, stride});
  }
};

/// The greatest one.
constexpr std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// One direction of images: windows of `taps` elements and `out` of them, `tap` and `step` apart in memory (if more than one).
struct ConvDirection {
  std::int64_t taps = 1, tap = 0, out = 1, step = 0;
  constexpr void taps_of(const IndexAxes::Axis& a) { taps = a.extent, tap = a.stride; }
  constexpr void out_of(const IndexAxes::Axis& a) { out = a.extent, step = a.stride; }
  /// In elements of the image that lie `apart`.
  constexpr std::int64_t dilation(std::int64_t apart) const { return taps > 1 ? tap / apart : 1; }
  constexpr std::int64_t stride(std::int64_t apart) const { return out > 1 ? step / apart : 1; }
  constexpr std::int64_t reach(std::int64_t apart) const { return (taps - 1) * dilation(apart); }
  constexpr std::int64_t needed(std::int64_t apart) const { return reach(apart) + (out - 1) * stride(apart) + 1; }
  /// As many as there are in memory, if there are as many windows then; else as many as are read.
  constexpr std::int64_t extent(std::int64_t there, std::int64_t apart) const {
    return there > reach(apart) && (there - reach(apart) - 1) / stride(apart) + 1 == out ? there : needed(apart);
  }
};

}  // namespace detail

template <class AnyPlan>
constexpr ConvDescription describe_convolution(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols) {
  using detail::IndexAxes;
  ConvDescription p;
  const auto value = [&](Extent e) { return e.value(symbols); };
  const auto refuse = [&](const char* why) {
    p.refused = why;
    return p;
  };
  p.dtype = k.dtype;
  const std::int64_t batch = value(k.batch), rows = value(k.rows), places = value(k.cols), inner = value(k.inner);
  if (!is_floating(k.dtype)) return refuse("integers");
  if (batch == 0 || rows == 0) return refuse("no elements");

  // weights: those of the groups one behind the other, the same for all images
  const Access &weights = plan.accesses[k.a], &images = plan.accesses[k.b], &windows = plan.accesses[k.windows];
  const IndexAxes weight_axes(weights, 0, weights.term_count, batch, symbols);
  const std::int64_t one = rows * inner;
  if (weight_axes.size() > 0 && weight_axes[0].stride == one) p.groups = weight_axes[0].extent;
  p.images = batch / p.groups;
  const std::int64_t of_batch[] = {p.groups, p.images}, of_rows[] = {p.groups * rows, p.images};
  std::int64_t apart[2];
  if ((inner > 1 && value(k.a_inner) != 1) || (rows > 1 && value(k.a_row) != inner) || !weight_axes.is_regular() ||
      !weight_axes.divide(of_batch, 2, apart) || apart[1] != 0)
    return refuse("weights that do not lie dense");
  p.out = p.groups * rows;
  p.weights = {weights.buffer, weights.offset.value(symbols)};

  // windows: which of their axes are rows, columns and channels
  IndexAxes taps(windows, 0, windows.term_count, inner, symbols);
  IndexAxes out(windows, windows.term_count, windows.column_terms, places, symbols);
  const auto is_bias = [&](const Access& a) {
    std::int64_t strides[2];
    const IndexAxes axes(a, 0, a.term_count, batch * rows, symbols);
    return a.column == Extent(0) && a.column_terms == 0 && !detail::is_single(plan, k, a.buffer) && axes.is_regular() && axes.divide(of_rows, 2, strides) &&
           (p.out == 1 || strides[0] == 1) && strides[1] == 0;
  };
  const detail::EpilogueReader epilogue(plan, k, is_bias);
  p.leaves_sums = !epilogue.is_known();
  IndexAxes stored(places, 1), results(batch * rows, places);
  if (!p.leaves_sums) {
    const Access& y = plan.accesses[epilogue.store];
    stored = y.column_terms == 0 ? IndexAxes(places, y.column.value(symbols)) : IndexAxes(y, y.term_count, y.column_terms, places, symbols);
    results = IndexAxes(y, 0, y.term_count, batch * rows, symbols);
    p.y = {y.buffer, y.offset.value(symbols)};
    p.relu = epilogue.applies_relu();
    if (epilogue.adds_bias()) p.bias = {plan.accesses[epilogue.bias].buffer, plan.accesses[epilogue.bias].offset.value(symbols)};
  }
  const IndexAxes images_axes(images, 0, images.term_count, batch, symbols);
  if (!taps.is_regular() || !out.is_regular() || !stored.is_regular() || !images_axes.is_regular() || !images_axes.divide(of_batch, 2, apart))
    return refuse("images that lie unevenly");
  detail::ConvDirection down, across;
  std::int64_t channel = p.groups > 1 ? apart[0] : 0;
  if (taps.size() > 0 && taps[taps.size() - 1].stride > out.reach()) {
    const IndexAxes::Axis c = taps.take_last();
    p.in = c.extent;
    channel = c.stride;
  }
  if (taps.size() > 2 || out.size() > 2) return refuse("windows of more than two axes");
  if (out.size() == 1 && stored.size() == 2 && out[0].extent % stored[0].extent == 0) {  // windows of one element
    across.out_of({stored[0].extent, out[0].stride});
    down.out_of({out[0].extent / stored[0].extent, out[0].stride * stored[0].extent});
  } else if (out.size() == 2) {
    across.out_of(out[0]);
    down.out_of(out[1]);
  } else if (out.size() == 1) {
    (taps.size() == 2 && out[0].stride >= taps[1].stride ? down : across).out_of(out[0]);
  }
  if (taps.size() == 2) {
    across.taps_of(taps[0]);
    down.taps_of(taps[1]);
  } else if (taps.size() == 1) {
    (across.out > 1 && down.out > 1 && taps[0].stride > (across.out - 1) * across.step ? down : across).taps_of(taps[0]);
  }
  const bool same_steps = across.out > 1 && down.out > 1 && down.step % across.step == 0 && down.step / across.step >= across.needed(1);
  const std::int64_t row = down.taps > 1 && down.out > 1 ? detail::common_divisor(down.tap, down.step)
                           : down.taps > 1               ? down.tap
                           : down.out > 1                ? (same_steps ? down.step / across.step : down.step)
                                                         : across.needed(1);
  p.width = across.needed(1);
  p.rows = down.taps;
  p.columns = across.taps;
  p.out_height = down.out;
  p.out_width = across.out;
  p.stride[0] = down.stride(row);
  p.stride[1] = across.stride(1);
  p.dilation[0] = down.dilation(row);
  p.dilation[1] = across.dilation(1);
  if (channel == 0) channel = down.needed(row) * row;
  p.height = down.needed(row);
  if (p.groups > 1 && p.in > 1 && apart[0] != p.in * channel) return refuse("groups that lie apart");
  p.x = {images.buffer, images.offset.value(symbols)};
  const std::int64_t all = p.groups * p.in * channel, x_stride[] = {p.images > 1 ? apart[1] : all, channel, row, 1};
  if ((p.height > 1 && p.width > row) || (p.groups * p.in > 1 && (p.height - 1) * row + p.width > channel)) return refuse("rows that overlap");
  // images as they lie dense, if what no window reads is memory of theirs: libraries know these best
  const std::int64_t wide = across.extent(row, 1), high = channel % row == 0 ? down.extent(channel / row, row) : 0;
  const std::int64_t end = p.x.offset + (p.images - 1) * x_stride[0] + (p.groups * p.in - 1) * channel + (high - 1) * row + wide;
  if (wide == row && high * row == channel && end <= value(plan.buffers[plan.bindings[k.first_binding + p.x.operand]].size)) {
    p.width = wide;
    p.height = high;
  }
  for (int i = 0; i < 4; ++i) p.x_stride[i] = x_stride[i];

  // the result
  const std::int64_t of_places[] = {p.out_width, p.out_height};
  std::int64_t of_row[2], of_place[2];
  if (!results.is_regular() || !results.divide(of_rows, 2, of_row) || !stored.divide(of_places, 2, of_place))
    return refuse("its result does not lie as images do");
  const std::int64_t w = p.out_width > 1 ? of_place[0] : 1, h = p.out_height > 1 ? of_place[1] : w * p.out_width,
                     c = p.out > 1 ? of_row[0] : h * p.out_height, y_stride[] = {p.images > 1 ? of_row[1] : c * p.out, c, h, w};
  for (int i = 0; i < 4; ++i) p.y_stride[i] = y_stride[i];

  constexpr std::int64_t most = std::int64_t{1} << 31;
  for (int i = 0; i < 4; ++i)
    if (p.x_stride[i] < 1 || p.y_stride[i] < 1 || p.x_stride[i] >= most || p.y_stride[i] >= most) return refuse("too large for the library");
  if (p.images * p.x_stride[0] >= most || p.images * p.y_stride[0] >= most || p.out * inner >= most) return refuse("too large for the library");
  for (const int operand : {p.x.operand, p.weights.operand})
    if (detail::is_single(plan, k, operand)) return refuse("a single element");
  return p;
}

#if !defined(TT_COMPILED) || defined(TT_BUILD)
TT_INLINE std::shared_ptr<const LibraryConvolution> LibraryConvolution::make(Device& device, const ConvDescription& p, const ConvSettings& settings,
                                                                             Text& refused) {
  const auto refuse = [&](const Text& why) {
    refused = why;
    return nullptr;
  };
  if (p.refused) return refuse(Text(p.refused));
  const double work = static_cast<double>(p.images * p.out) * static_cast<double>(p.out_height * p.out_width) * static_cast<double>(p.in * p.rows * p.columns);
  if (work < static_cast<double>(settings.smallest)) return refuse(Text("fewer multiply-adds than ") << settings.smallest);
  const Cudnn& dnn = Cudnn::get();
  if (!dnn.why_not().empty()) return refuse(dnn.why_not());
  const Cudnn::Session session(dnn, device);
  if (!session.handle()) return refuse(Text("cudnnCreate failed"));

  auto made = std::make_shared<LibraryConvolution>();
  LibraryConvolution& m = *made;
  m.p_ = p;
  if (p.leaves_sums) m.leave_sums(p.images * p.y_stride[0], p.dtype);
  const Cudnn::Type type = p.dtype == DType::f64 ? Cudnn::f64 : Cudnn::f32;
  const auto whole = [](std::int64_t i) { return static_cast<int>(i); };
  bool taken = true;
  const auto tell = [&](Result r) { taken = taken && r == success; };
  const auto tensor = [&](Handle& to, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, const std::int64_t* stride) {
    tell(dnn.create_tensor(&to));
    tell(dnn.set_tensor(to, type, whole(n), whole(c), whole(h), whole(w), whole(stride[0]), whole(stride[1]), whole(stride[2]), whole(stride[3])));
  };
  tensor(m.x_, p.images, p.groups * p.in, p.height, p.width, p.x_stride);
  tensor(m.y_, p.images, p.out, p.out_height, p.out_width, p.y_stride);
  const std::int64_t of_bias[] = {p.out, 1, 1, 1};
  if (p.bias.operand >= 0) tensor(m.bias_, 1, p.out, 1, 1, of_bias);
  tell(dnn.create_filter(&m.weights_));
  tell(dnn.set_filter(m.weights_, type, Cudnn::nchw, whole(p.out), whole(p.in), whole(p.rows), whole(p.columns)));
  tell(dnn.create_convolution(&m.convolution_));
  tell(dnn.set_convolution(m.convolution_, 0, 0, whole(p.stride[0]), whole(p.stride[1]), whole(p.dilation[0]), whole(p.dilation[1]),
                           Cudnn::cross_correlation, type));
  tell(dnn.set_groups(m.convolution_, whole(p.groups)));
  tell(dnn.set_math(m.convolution_, settings.allow_tf32 ? Cudnn::any_math : Cudnn::fma_math));
  if (p.relu) {
    tell(dnn.create_activation(&m.relu_));
    tell(dnn.set_activation(m.relu_, Cudnn::relu, Cudnn::propagate_nan, 0));
  }
  if (!taken) return refuse(Text("the library does not take its description"));
  constexpr int most = 8;
  constexpr std::size_t most_workspace = std::size_t{256} << 20;
  CudnnAlgorithm found[most];
  int count = 0;
  if (dnn.find_algorithms(session.handle(), m.x_, m.weights_, m.convolution_, m.y_, most, &count, found) != success) count = 0;
  for (int i = 0; i < count; ++i)  // the one that it takes to be the fastest comes first
    if (found[i].state == success && found[i].is_deterministic == 1 && found[i].workspace <= most_workspace) {
      m.algorithm_ = found[i];
      return made;
    }
  return refuse(Text("the library has no algorithm for it"));
}

TT_INLINE LibraryConvolution::~LibraryConvolution() {
  const Cudnn& dnn = Cudnn::get();
  for (const Handle tensor : {x_, y_, bias_})
    if (tensor) dnn.destroy_tensor(tensor);
  if (weights_) dnn.destroy_filter(weights_);
  if (convolution_) dnn.destroy_convolution(convolution_);
  if (relu_) dnn.destroy_activation(relu_);
}

TT_INLINE bool LibraryConvolution::compute(Device& device, const std::uint64_t* operand, DevicePointer sums, DevicePointer workspace) const {
  const std::uint64_t x = p_.x.address(operand, p_.dtype), weights = p_.weights.address(operand, p_.dtype), y = p_.y.address(operand, p_.dtype, sums),
                      bias = p_.bias.address(operand, p_.dtype);
  if ((x | weights | y | bias) % alignment != 0) return false;
  using detail::pointer;
  const Cudnn& dnn = Cudnn::get();
  const Cudnn::Session session(dnn, device);
  const Handle h = session.handle();
  const void *const one = detail::one_of(p_.dtype), *const zero = detail::zero_of(p_.dtype);
  // The fused call may not be there for an algorithm that is there for a convolution alone.
  if (bias && relu_ &&
      dnn.convolve_bias_activate(h, one, x_, pointer(x), weights_, pointer(weights), convolution_, algorithm_.algorithm, pointer(workspace),
                                 algorithm_.workspace, zero, y_, pointer(y), bias_, pointer(bias), relu_, y_, pointer(y)) == success)
    return true;
  dnn.check(dnn.convolve(h, one, x_, pointer(x), weights_, pointer(weights), convolution_, algorithm_.algorithm, pointer(workspace),
                         algorithm_.workspace, zero, y_, pointer(y)),
            "cudnnConvolutionForward");
  if (bias) dnn.check(dnn.add(h, one, bias_, pointer(bias), one, y_, pointer(y)), "cudnnAddTensor");
  if (relu_) dnn.check(dnn.activate(h, relu_, one, y_, pointer(y), zero, y_, pointer(y)), "cudnnActivationForward");
  return true;
}
#endif

}  // namespace tt::cuda
