// unfold, a view of a Tensor's sliding windows, and the host kernel of pixel_shuffle. (Other ops on images: functional/image_ops.hpp.)
//   tt::Tensor y = tt::conv2d(x, w, b, {.stride = 2, .padding = 1});   tt::max_pool2d(y, {.kernel_size = 2});   prices.unfold(0, 5, 1);
#pragma once
#include "tt/dispatch/views.hpp"
#include "tt/functional/image_ops.hpp"
#include "tt/functional/network.hpp"

namespace tt {
namespace detail {

TT_INLINE void record_unfold(Graph& g, const Operator&, std::span<const int> in, const Attributes& a, int* out);
TT_INLINE void unfold_kernel(Call& c, void*);
inline Operator& unfold_operator() {
  static Operator& op = define_view("unfold", "int dim, int size, int step", &record_unfold, &unfold_kernel, [](Call& c) {
    const std::int64_t* a = c.attrs().value.data();
    c.result[0] = c[0].unfold(saturated<int>(a[0]), a[1], a[2], c.at);
  });
  return op;
}

template <int Axis, std::int64_t Size, std::int64_t Step>
struct TensorFunction<UnfoldFn<Axis, Size, Step>> {
  static Tensor run(SourceLine at, const Tensor& x) { return x.unfold(Axis, Size, Step, at); }
};

TT_INLINE void move_pixels(Call& c, std::int64_t factor, bool up);
/// pixel_shuffle and its inverse on the host: a permuted view, made contiguous; rows of consecutive elements are copied whole.
template <bool Up>
struct HostKernel<PixelShuffle<Up>> {
  using Options = typename PixelShuffle<Up>::Options;
  static void run(Call& c, const Options& o) { move_pixels(c, o.factor(), Up); }
  static void derivative(const DerivativeStep& s, const Options& o) {
    s.out[0] = call_with<PixelShuffle<!Up>>(s.at, {o.factor()}, s.gradient[0]);
  }
};

}  // namespace detail
}  // namespace tt

#if TT_DEFINES(dispatch)
#include "tt/dispatch/image_ops_inl.hpp"
#endif
