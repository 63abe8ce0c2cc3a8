// libcudnn for machines without a GPU: memory is the host's, convolutions are computed at once, in double and from the last
// term to the first, so that results are seen to be a library's. Sizes, strides, types, groups and algorithms are checked
// as the documentation states them; what is wrong stops the program.
//   FAKE_CUDNN_NO_ALGORITHM   no convolution has an algorithm
//   FAKE_CUDNN_FAILS          convolutions fail
#define FAKE_NAME "fake cuDNN"
#include "fake_library.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using Result = int;
constexpr Result success = 0, execution_failed = 5000, not_supported = 3000;
constexpr int f32 = 0, f64 = 1;
constexpr std::size_t workspace_bytes = 4096;

struct Tensor {
  int type = -1;
  std::int64_t extent[4] = {}, stride[4] = {};
};
struct Filter {
  int type = -1;
  std::int64_t extent[4] = {};  // out, in of a group, rows, columns
};
struct Convolution {
  int stride[2] = {}, dilation[2] = {}, type = -1, groups = 1, math = 0;
};
struct Activation {
  int mode = -1, nan = -1;
};
struct Algorithm {
  int algorithm;
  Result state;
  float time;
  std::size_t workspace;
  int deterministic, math;
  int reserved[3];
};
struct State {
  void* stream = nullptr;
};

/// A number of the sizes, by which an algorithm is known again.
int code_of(const Tensor& x, const Filter& w, const Convolution& c, const Tensor& y) {
  std::int64_t code = c.groups + 7 * c.math;
  for (int i = 0; i < 4; ++i) code = code * 31 + x.extent[i] + 3 * x.stride[i] + 5 * w.extent[i] + 11 * y.extent[i] + 13 * y.stride[i];
  return static_cast<int>(code & 0xffff);
}
void check(const Tensor& x, const Filter& w, const Convolution& c, const Tensor& y) {
  require(x.type == w.type && x.type == y.type && x.type == c.type && (x.type == f32 || x.type == f64), "different types");
  require(x.extent[0] == y.extent[0], "a result of another number of images");
  require(c.groups >= 1 && x.extent[1] == w.extent[1] * c.groups, "channels that do not agree");
  require(w.extent[0] == y.extent[1] && w.extent[0] % c.groups == 0, "results that do not agree");
  for (int k = 0; k < 2; ++k) {
    require(c.stride[k] >= 1 && c.dilation[k] >= 1, "a stride or dilation of nothing");
    const std::int64_t reach = (w.extent[2 + k] - 1) * c.dilation[k] + 1;
    require(x.extent[2 + k] >= reach, "windows that do not fit");
    require((x.extent[2 + k] - reach) / c.stride[k] + 1 == y.extent[2 + k], "a result of another number of windows");
  }
}
template <class T>
T& at(const Tensor& t, void* p, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return static_cast<T*>(p)[n * t.stride[0] + c * t.stride[1] + h * t.stride[2] + w * t.stride[3]];
}
template <class F>
void each(const Tensor& t, const F& f) {
  for (std::int64_t n = 0; n < t.extent[0]; ++n)
    for (std::int64_t c = 0; c < t.extent[1]; ++c)
      for (std::int64_t h = 0; h < t.extent[2]; ++h)
        for (std::int64_t w = 0; w < t.extent[3]; ++w) f(n, c, h, w);
}
template <class T>
void convolve(const Tensor& x, void* images, const Filter& w, const void* weights, const Convolution& o, const Tensor& y, void* results) {
  const std::int64_t in = w.extent[1], rows = w.extent[2], columns = w.extent[3], each_group = y.extent[1] / o.groups;
  each(y, [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t v) {
    double sum = 0;
    for (std::int64_t k = in * rows * columns; k-- > 0;) {
      const std::int64_t i = k / (rows * columns), p = k / columns % rows, q = k % columns;
      sum += static_cast<double>(static_cast<const T*>(weights)[c * in * rows * columns + k]) *
             static_cast<double>(at<T>(x, images, n, c / each_group * in + i, h * o.stride[0] + p * o.dilation[0], v * o.stride[1] + q * o.dilation[1]));
    }
    at<T>(y, results, n, c, h, v) = static_cast<T>(sum);
  });
}
template <class F>
void with_type(int type, const F& f) {
  if (type == f64) f(double{});
  else f(float{});
}
void require_factor(const void* p, int type, double value) {
  with_type(type, [&](auto zero) { require(*static_cast<const decltype(zero)*>(p) == static_cast<decltype(zero)>(value), "a wrong factor"); });
}
void add_bias(const Tensor& b, const void* bias, const Tensor& y, void* to) {
  require(b.type == y.type && b.extent[1] == y.extent[1] && b.extent[0] == 1 && b.extent[2] == 1 && b.extent[3] == 1, "a bias of another shape");
  count("with bias");
  with_type(y.type, [&](auto zero) {
    using T = decltype(zero);
    each(y, [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) { at<T>(y, to, n, c, h, w) += static_cast<const T*>(bias)[c * b.stride[1]]; });
  });
}
void apply_relu(const Activation& a, const Tensor& y, void* to) {
  require(a.mode == 1 && a.nan == 1, "another activation than relu that keeps NaN");
  count("with relu");
  with_type(y.type, [&](auto zero) {
    using T = decltype(zero);
    each(y, [&](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
      T& e = at<T>(y, to, n, c, h, w);
      if (e <= 0) e = 0;
    });
  });
}
Result run(void* handle, const Tensor& x, const void* images, const Filter& w, const void* weights, const Convolution& c, int algorithm,
           void* workspace, std::size_t bytes, const Tensor& y, void* results) {
  require(handle, "no handle");
  check(x, w, c, y);
  require(algorithm == code_of(x, w, c, y), "an algorithm of another convolution");
  require(workspace && bytes >= workspace_bytes, "too little room to work in");
  std::memset(workspace, 0xa5, bytes);
  if (std::getenv("FAKE_CUDNN_FAILS")) return execution_failed;
  count("convolutions");
  count("by TF32", x.type == f32 && c.math == 0);
  count("of groups", c.groups > 1);
  count("dense", x.stride[3] == 1 && x.stride[2] == x.extent[3] && x.stride[1] == x.extent[2] * x.extent[3]);
  with_type(x.type, [&](auto zero) { convolve<decltype(zero)>(x, const_cast<void*>(images), w, weights, c, y, results); });
  return success;
}

}  // namespace

extern "C" {

/// For tests: "convolutions", "by TF32", "with bias", "with relu", "of groups", of "dense" images; descriptors "alive".
long fake_cudnn_count(const char* what) { return counted(what); }

Result cudnnCreate(void** h) {
  *h = new State;
  return success;
}
Result cudnnSetStream(void* h, void* stream) {
  static_cast<State*>(h)->stream = stream;
  return success;
}
const char* cudnnGetErrorString(Result r) { return r == execution_failed ? "CUDNN_STATUS_EXECUTION_FAILED" : "CUDNN_STATUS"; }
Result cudnnCreateTensorDescriptor(void** t) { return create<Tensor>(t); }
Result cudnnDestroyTensorDescriptor(void* t) { return destroy<Tensor>(t); }
Result cudnnSetTensor4dDescriptorEx(void* p, int type, int n, int c, int h, int w, int ns, int cs, int hs, int ws) {
  require(n > 0 && c > 0 && h > 0 && w > 0 && ns > 0 && cs > 0 && hs > 0 && ws > 0, "a tensor of nothing");
  require((h == 1 || hs >= (w - 1) * ws + 1) && (c == 1 || cs >= (h - 1) * hs + (w - 1) * ws + 1) &&
              (n == 1 || ns >= (c - 1) * cs + (h - 1) * hs + (w - 1) * ws + 1),
          "strides that overlap");
  *static_cast<Tensor*>(p) = {type, {n, c, h, w}, {ns, cs, hs, ws}};
  return success;
}
Result cudnnCreateFilterDescriptor(void** f) { return create<Filter>(f); }
Result cudnnDestroyFilterDescriptor(void* f) { return destroy<Filter>(f); }
Result cudnnSetFilter4dDescriptor(void* p, int type, int format, int k, int c, int h, int w) {
  require(format == 0 && k > 0 && c > 0 && h > 0 && w > 0, "a filter of nothing");
  *static_cast<Filter*>(p) = {type, {k, c, h, w}};
  return success;
}
Result cudnnCreateConvolutionDescriptor(void** c) { return create<Convolution>(c); }
Result cudnnDestroyConvolutionDescriptor(void* c) { return destroy<Convolution>(c); }
Result cudnnSetConvolution2dDescriptor(void* p, int pad_h, int pad_w, int u, int v, int dh, int dw, int mode, int type) {
  require(pad_h == 0 && pad_w == 0 && mode == 1, "margins, or a convolution that turns its weights round");
  auto& c = *static_cast<Convolution*>(p);
  c.stride[0] = u, c.stride[1] = v, c.dilation[0] = dh, c.dilation[1] = dw, c.type = type;
  return success;
}
Result cudnnSetConvolutionGroupCount(void* p, int groups) {
  static_cast<Convolution*>(p)->groups = groups;
  return success;
}
Result cudnnSetConvolutionMathType(void* p, int math) {
  require(math == 0 || math == 3, "an unknown kind of arithmetic");
  static_cast<Convolution*>(p)->math = math;
  return success;
}
Result cudnnCreateActivationDescriptor(void** a) { return create<Activation>(a); }
Result cudnnDestroyActivationDescriptor(void* a) { return destroy<Activation>(a); }
Result cudnnSetActivationDescriptor(void* p, int mode, int nan, double) {
  *static_cast<Activation*>(p) = {mode, nan};
  return success;
}
Result cudnnGetConvolutionForwardAlgorithm_v7(void* h, void* x, void* w, void* c, void* y, int most, int* found, Algorithm* to) {
  require(h && most >= 3, "no handle, or no room for algorithms");
  *found = 0;
  if (std::getenv("FAKE_CUDNN_NO_ALGORITHM")) return not_supported;
  check(*static_cast<Tensor*>(x), *static_cast<Filter*>(w), *static_cast<Convolution*>(c), *static_cast<Tensor*>(y));
  const int code = code_of(*static_cast<Tensor*>(x), *static_cast<Filter*>(w), *static_cast<Convolution*>(c), *static_cast<Tensor*>(y));
  to[0] = {-1, not_supported, 0, 0, 1, 0, {}};         // fails
  to[1] = {-2, success, 0, workspace_bytes, 0, 0, {}};  // gives another result each time
  to[2] = {code, success, 0, workspace_bytes, 1, 0, {}};
  *found = 3;
  return success;
}
Result cudnnConvolutionForward(void* h, const void* alpha, void* xl, const void* x, void* wl, const void* w, void* c, int algorithm, void* workspace,
                               std::size_t bytes, const void* beta, void* yl, void* y) {
  require_factor(alpha, static_cast<Tensor*>(xl)->type, 1);
  require_factor(beta, static_cast<Tensor*>(xl)->type, 0);
  return run(h, *static_cast<Tensor*>(xl), x, *static_cast<Filter*>(wl), w, *static_cast<Convolution*>(c), algorithm, workspace, bytes,
             *static_cast<Tensor*>(yl), y);
}
Result cudnnConvolutionBiasActivationForward(void* h, const void* alpha, void* xl, const void* x, void* wl, const void* w, void* c, int algorithm,
                                             void* workspace, std::size_t bytes, const void* beta, void* zl, const void* z, void* bl, const void* b,
                                             void* activation, void* yl, void* y) {
  require(b != y, "a bias in the result's memory");
  require(zl && z, "what is added must be described, also if it counts nothing");
  const Result r = cudnnConvolutionForward(h, alpha, xl, x, wl, w, c, algorithm, workspace, bytes, beta, yl, y);
  if (r != success) return r;
  count("fused");
  add_bias(*static_cast<Tensor*>(bl), b, *static_cast<Tensor*>(yl), y);
  apply_relu(*static_cast<Activation*>(activation), *static_cast<Tensor*>(yl), y);
  return success;
}
Result cudnnAddTensor(void* h, const void* alpha, void* al, const void* a, const void* beta, void* cl, void* c) {
  require(h && a != c, "no handle, or a bias in the result's memory");
  require_factor(alpha, static_cast<Tensor*>(cl)->type, 1);
  require_factor(beta, static_cast<Tensor*>(cl)->type, 1);
  add_bias(*static_cast<Tensor*>(al), a, *static_cast<Tensor*>(cl), c);
  return success;
}
Result cudnnActivationForward(void* h, void* activation, const void* alpha, void* xl, const void* x, const void* beta, void* yl, void* y) {
  require(h && x == y && xl == yl, "an activation elsewhere");
  require_factor(alpha, static_cast<Tensor*>(yl)->type, 1);
  require_factor(beta, static_cast<Tensor*>(yl)->type, 0);
  apply_relu(*static_cast<Activation*>(activation), *static_cast<Tensor*>(yl), y);
  return success;
}

}
