// A kernel that multiplies weights and windows, computed by cuDNN as a convolution; its bias is one value a channel. The description of
// the convolution is derived from the kernel's accesses: any description with the same memory offsets is the same convolution, so where
// axes were merged (a window of 1 x 1, a single row) the simplest one is chosen.
#pragma once
#include "tt/backends/cuda/cudnn.hpp"
#include "tt/backends/cuda/library_kernel.hpp"

namespace tt::cuda {

/// A convolution without margins: images (images, groups * in, height, width), dense weights (out, in, rows, columns).
struct ConvDescription {
  enum Axis : int { n, c, h, w };
  DType dtype = DType::f32;
  std::int64_t images = 1, groups = 1, in = 1, out = 1, height = 1, width = 1, rows = 1, columns = 1, out_height = 1, out_width = 1;
  std::int64_t stride[2] = {1, 1}, dilation[2] = {1, 1};
  std::int64_t x_stride[4] = {}, y_stride[4] = {};  ///< of (n, c, h, w)
  detail::OperandPlace x, weights, y, bias;
  bool relu = false;
  bool leaves_sums = false;       ///< y is dense in the work memory, and no epilogue is applied
  const char* refused = nullptr;  ///< why the library cannot compute it; the other members are then unfinished
  constexpr double multiply_adds() const {
    return static_cast<double>(images * out) * static_cast<double>(out_height * out_width) * static_cast<double>(in * rows * columns);
  }
};
template <class AnyPlan>
constexpr ConvDescription describe_convolution(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols);

class LibraryConvolution final : public LibraryKernel {
 public:
  /// Null if the library does not support it; then `refused` says why.
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

/// Extents and strides of the axes that an index is composed of, innermost first; without axes of one element.
class IndexAxes {
 public:
  struct Axis {
    std::int64_t extent, stride;
  };
  constexpr IndexAxes() = default;
  /// For an index below n, composed by these terms. Parts of the index that no term uses are axes of stride 0.
  constexpr IndexAxes(const Term* terms, int count, std::int64_t n, const SymbolValues& symbols) {
    std::int64_t covered = 1;
    for (int i = 0; i < count; ++i) {
      const Term& t = terms[i];
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
  /// False if the terms overlap.
  constexpr bool is_regular() const { return regular_; }
  constexpr int size() const { return axes_.size(); }
  constexpr const Axis& operator[](int i) const { return axes_[i]; }
  constexpr Axis take_last() {
    const Axis last = axes_[axes_.size() - 1];
    axes_.resize(axes_.size() - 1);
    return last;
  }
  /// The greatest offset.
  constexpr std::int64_t reach() const {
    std::int64_t r = 0;
    for (const Axis& a : axes_) r += (a.extent - 1) * a.stride;
    return r;
  }
  /// The strides of an index with these extents, innermost first (0 for one element); false if its axes do not divide that way.
  constexpr bool divide(const std::int64_t* extents, int count, std::int64_t* strides) const {
    int at = 0;
    std::int64_t taken = 1;  // elements of axis `at` that are used up
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

/// The greatest common divisor.
constexpr std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
  while (b != 0) {
    const std::int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// One direction of images: windows of `taps` elements, `tap` apart in memory, and `out` windows, `step` apart (if more than one).
struct ConvDirection {
  std::int64_t taps = 1, tap = 0, out = 1, step = 0;
  constexpr void taps_of(const IndexAxes::Axis& a) { taps = a.extent, tap = a.stride; }
  constexpr void out_of(const IndexAxes::Axis& a) { out = a.extent, step = a.stride; }
  /// The following are in image elements, which are `apart` elements of memory apart.
  constexpr std::int64_t dilation(std::int64_t apart) const { return taps > 1 ? tap / apart : 1; }
  constexpr std::int64_t stride(std::int64_t apart) const { return out > 1 ? step / apart : 1; }
  constexpr std::int64_t reach(std::int64_t apart) const { return (taps - 1) * dilation(apart); }
  constexpr std::int64_t needed(std::int64_t apart) const { return reach(apart) + (out - 1) * stride(apart) + 1; }
  /// The image's extent: all elements in memory, if that gives the same number of windows; else only those that windows read.
  constexpr std::int64_t extent(std::int64_t there, std::int64_t apart) const {
    return there > reach(apart) && (there - reach(apart) - 1) / stride(apart) + 1 == out ? there : needed(apart);
  }
};

/// Derives a description from a kernel, step by step; each step returns false if the library cannot compute the kernel.
template <class AnyPlan>
class ConvReader {
 public:
  constexpr ConvReader(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols)
      : plan_(plan), k_(k), symbols_(symbols), batch_(value(k.batch)), rows_(value(k.rows)), places_(value(k.cols)), inner_(value(k.inner)) {}
  constexpr ConvDescription read() {
    p_.dtype = k_.dtype;
    const bool whole = accepts() && weights() && epilogue() && windows() && images() && result() && fits();
    (void)whole;  // else p_.refused says why
    return p_;
  }

 private:
  const AnyPlan& plan_;
  const Kernel& k_;
  const SymbolValues& symbols_;
  const std::int64_t batch_, rows_, places_, inner_;
  ConvDescription p_;
  IndexAxes stored_, results_;          ///< of the result: its pixels, its channels and images
  ConvDirection down_, across_;
  std::int64_t apart_[2] = {};          ///< strides of groups and images in memory
  std::int64_t channel_ = 0;            ///< stride of channels in memory; 0: there is one channel

  constexpr std::int64_t value(Extent e) const { return e.value(symbols_); }
  constexpr bool refuse(const char* why) {
    p_.refused = why;
    return false;
  }
  constexpr const Access& access(int number) const { return plan_.accesses[number]; }
  constexpr OperandPlace place(const Access& a) const { return {a.buffer, value(a.offset)}; }
  constexpr IndexAxes row_axes(const Access& a, std::int64_t n) const { return {plan_.terms.begin() + a.first_term, a.term_count, n, symbols_}; }
  constexpr IndexAxes column_axes(const Access& a, std::int64_t n) const { return {plan_.terms.begin() + a.first_term + a.term_count, a.column_terms, n, symbols_}; }
  /// The strides of groups and images in an index over the kernel's matrices.
  constexpr bool divide_batch(const IndexAxes& axes, std::int64_t* strides) const {
    const std::int64_t extents[] = {p_.groups, p_.images};
    return axes.is_regular() && axes.divide(extents, 2, strides);
  }
  /// The strides of channels and images in an index over the kernel's rows.
  constexpr bool divide_rows(const IndexAxes& axes, std::int64_t* strides) const {
    const std::int64_t extents[] = {p_.out, p_.images};
    return axes.is_regular() && axes.divide(extents, 2, strides);
  }

  constexpr bool accepts() {
    if (!is_floating(k_.dtype)) return refuse("integers");
    return (batch_ > 0 && rows_ > 0) || refuse("no elements");
  }
  /// The weights of the groups must be contiguous, and the same for all images.
  constexpr bool weights() {
    const IndexAxes axes = row_axes(access(k_.a), batch_);
    if (axes.size() > 0 && axes[0].stride == rows_ * inner_) p_.groups = axes[0].extent;
    p_.images = batch_ / p_.groups;
    p_.out = p_.groups * rows_;
    p_.weights = place(access(k_.a));
    std::int64_t strides[2];
    const bool dense = (inner_ == 1 || value(k_.a_inner) == 1) && (rows_ == 1 || value(k_.a_row) == inner_);
    return (dense && divide_batch(axes, strides) && strides[1] == 0) || refuse("weights that do not lie dense");
  }
  constexpr bool is_bias(const Access& a) const {
    std::int64_t strides[2];
    return a.column == Extent(0) && a.column_terms == 0 && !is_single(plan_, k_, a.buffer) && divide_rows(row_axes(a, batch_ * rows_), strides) &&
           (p_.out == 1 || strides[0] == 1) && strides[1] == 0;
  }
  constexpr bool epilogue() {
    const EpilogueReader epilogue(plan_, k_, [&](const Access& a) { return is_bias(a); });
    p_.leaves_sums = !epilogue.is_known();
    if (p_.leaves_sums) {
      stored_ = IndexAxes(places_, 1);
      results_ = IndexAxes(batch_ * rows_, places_);
      return true;
    }
    const Access& y = access(epilogue.store);
    stored_ = y.column_terms == 0 ? IndexAxes(places_, value(y.column)) : column_axes(y, places_);
    results_ = row_axes(y, batch_ * rows_);
    p_.y = place(y);
    p_.relu = epilogue.applies_relu();
    if (epilogue.adds_bias()) p_.bias = place(access(epilogue.bias));
    return true;
  }
  /// Decides which axes of the windows are rows, columns and channels.
  constexpr bool windows() {
    IndexAxes taps = row_axes(access(k_.windows), inner_);
    const IndexAxes out = column_axes(access(k_.windows), places_);
    if (!taps.is_regular() || !out.is_regular() || !stored_.is_regular() || !divide_batch(row_axes(access(k_.b), batch_), apart_))
      return refuse("images that lie unevenly");
    channel_ = p_.groups > 1 ? apart_[0] : 0;
    if (taps.size() > 0 && taps[taps.size() - 1].stride > out.reach()) {
      const IndexAxes::Axis c = taps.take_last();
      p_.in = c.extent;
      channel_ = c.stride;
    }
    if (taps.size() > 2 || out.size() > 2) return refuse("windows of more than two axes");
    if (out.size() == 1 && stored_.size() == 2 && out[0].extent % stored_[0].extent == 0) {  // windows of one element
      across_.out_of({stored_[0].extent, out[0].stride});
      down_.out_of({out[0].extent / stored_[0].extent, out[0].stride * stored_[0].extent});
    } else if (out.size() == 2) {
      across_.out_of(out[0]);
      down_.out_of(out[1]);
    } else if (out.size() == 1) {
      (taps.size() == 2 && out[0].stride >= taps[1].stride ? down_ : across_).out_of(out[0]);
    }
    if (taps.size() == 2) {
      across_.taps_of(taps[0]);
      down_.taps_of(taps[1]);
    } else if (taps.size() == 1) {
      (across_.out > 1 && down_.out > 1 && taps[0].stride > (across_.out - 1) * across_.step ? down_ : across_).taps_of(taps[0]);
    }
    return true;
  }
  /// The distance of rows in memory, of which only multiples are known.
  constexpr std::int64_t row_stride() const {
    if (down_.taps > 1) return down_.out > 1 ? common_divisor(down_.tap, down_.step) : down_.tap;
    if (down_.out == 1) return across_.needed(1);
    const bool same_steps = across_.out > 1 && down_.step % across_.step == 0 && down_.step / across_.step >= across_.needed(1);
    return same_steps ? down_.step / across_.step : down_.step;
  }
  constexpr bool images() {
    const std::int64_t row = row_stride(), channels = p_.groups * p_.in;
    p_.x = place(access(k_.b));
    p_.rows = down_.taps;
    p_.columns = across_.taps;
    p_.out_height = down_.out;
    p_.out_width = across_.out;
    p_.stride[0] = down_.stride(row);
    p_.stride[1] = across_.stride(1);
    p_.dilation[0] = down_.dilation(row);
    p_.dilation[1] = across_.dilation(1);
    p_.height = down_.needed(row);
    p_.width = across_.needed(1);
    if (channel_ == 0) channel_ = p_.height * row;
    if (p_.groups > 1 && p_.in > 1 && apart_[0] != p_.in * channel_) return refuse("groups that lie apart");
    if ((p_.height > 1 && p_.width > row) || (channels > 1 && (p_.height - 1) * row + p_.width > channel_)) return refuse("rows that overlap");
    p_.x_stride[ConvDescription::n] = p_.images > 1 ? apart_[1] : channels * channel_;
    p_.x_stride[ConvDescription::c] = channel_;
    p_.x_stride[ConvDescription::h] = row;
    p_.x_stride[ConvDescription::w] = 1;
    // describe the images as packed if the elements that no window reads are inside the allocation: libraries are fastest there
    const std::int64_t wide = across_.extent(row, 1), high = channel_ % row == 0 ? down_.extent(channel_ / row, row) : 0;
    const std::int64_t end = p_.x.offset + (p_.images - 1) * p_.x_stride[ConvDescription::n] + (channels - 1) * channel_ + (high - 1) * row + wide;
    if (wide == row && high * row == channel_ && end <= value(plan_.buffers[plan_.bindings[k_.first_binding + p_.x.operand]].size)) {
      p_.width = wide;
      p_.height = high;
    }
    return true;
  }
  constexpr bool result() {
    const std::int64_t extents[] = {p_.out_width, p_.out_height};
    std::int64_t of_row[2], of_place[2];
    if (!divide_rows(results_, of_row) || !stored_.divide(extents, 2, of_place)) return refuse("its result does not lie as images do");
    std::int64_t* const y = p_.y_stride;
    y[ConvDescription::w] = p_.out_width > 1 ? of_place[0] : 1;
    y[ConvDescription::h] = p_.out_height > 1 ? of_place[1] : y[ConvDescription::w] * p_.out_width;
    y[ConvDescription::c] = p_.out > 1 ? of_row[0] : y[ConvDescription::h] * p_.out_height;
    y[ConvDescription::n] = p_.images > 1 ? of_row[1] : y[ConvDescription::c] * p_.out;
    return true;
  }
  constexpr bool fits() {
    bool small = p_.out * inner_ < most_elements;
    for (const std::int64_t* stride : {p_.x_stride, p_.y_stride}) {
      for (int i = 0; i < 4; ++i) small = small && stride[i] > 0 && stride[i] < most_elements;
      small = small && p_.images * stride[ConvDescription::n] < most_elements;
    }
    if (!small) return refuse("too large for the library");
    return !(is_single(plan_, k_, p_.x.operand) || is_single(plan_, k_, p_.weights.operand)) || refuse("a single element");
  }
};

}  // namespace detail

template <class AnyPlan>
constexpr ConvDescription describe_convolution(const AnyPlan& plan, const Kernel& k, const SymbolValues& symbols) {
  return detail::ConvReader<AnyPlan>(plan, k, symbols).read();
}

#if TT_DEFINES(cuda)
TT_INLINE std::shared_ptr<const LibraryConvolution> LibraryConvolution::make(Device& device, const ConvDescription& p, const ConvSettings& settings,
                                                                             Text& refused) {
  const auto refuse = [&](const Text& why) {
    refused = why;
    return nullptr;
  };
  if (const Text why = detail::why_own_tiles<Cudnn>(p, settings); !why.empty()) return refuse(why);
  const Cudnn& dnn = Cudnn::get();
  const Cudnn::Session session(dnn, device);
  if (!session.handle()) return refuse("cudnnCreate failed");

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
  if (!taken) return refuse("the library does not take its description");
  constexpr int most = 8;
  constexpr std::size_t most_workspace = std::size_t{256} << 20;
  CudnnAlgorithm found[most];
  int count = 0;
  if (dnn.find_algorithms(session.handle(), m.x_, m.weights_, m.convolution_, m.y_, most, &count, found) != success) count = 0;
  for (int i = 0; i < count; ++i)  // in the order that the library expects, fastest first
    if (found[i].state == success && found[i].is_deterministic == 1 && found[i].workspace <= most_workspace) {
      m.algorithm_ = found[i];
      return made;
    }
  return refuse("the library has no algorithm for it");
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
  // An algorithm may support a plain convolution, but not the fused call.
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
